/* What native code of a kernel on the CPU device may call in an engine. */
#include "processes/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(processes_filter, .timeout = 240);

/* The calls that start processes. */
static bool call_starts_process(const char *name)
{
	static const char *const names[] = {"fork", "vfork", "clone", "execve", "execveat"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Only of version 3 it is known what it needs. */
static bool has_pocl_3(const struct private_service *service)
{
	json_t *status = private_service_status(service);
	char *text = json_dumps(status, 0);
	bool has = text && strstr(text, "Portable Computing") && strstr(text, ": \"3.");
	free(text);
	json_decref(status);
	return has;
}

static void must_be_shown_as(const struct private_service *service, const char *name)
{
	json_t *status = private_service_status(service);
	const json_t *tenant = json_array_get(json_object_get(status, "tenants"), 0);
	const char *shown = json_string_value(json_object_get(tenant, "filter"));
	cr_expect_str_eq(shown ? shown : "", name);
	json_decref(status);
}

/* Runs the hostile kernel. Returns the number of calls that were permitted. */
static unsigned try_calls(const struct private_service *service, bool processes_are_refused)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES], name[64] = "";
	unsigned count = 0, permitted = 0;
	long result = 0;
	worker_start(&worker, service, "calls", NULL, NULL);
	while (strcmp(name, "perf_event_open") != 0) { /* the last one */
		cr_assert_eq(child_read_line(&worker, line, sizeof(line), SOON), 1);
		if (strcmp(line, "none") == 0)
			cr_skip_test("SKIPPED: there is no such kernel for this processor");
		cr_assert(strncmp(line, "FAIL", 4) != 0, "%s", line);
		const char *number = strrchr(line, ' ');
		if (strncmp(line, "call ", 5) != 0 || !number)
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)(number - line - 5), line + 5);
		result = strtol(number, NULL, 10);
		count++;
		if (SANITIZED && strcmp(name, "ptrace") == 0)
			continue; /* the leak checker needs it */
		if (processes_are_refused || !call_starts_process(name))
			cr_expect(result == -EPERM ||
					  (!strcmp(name, "clone3") && result == -ENOSYS),
				  "%s", line);
		else
			permitted += result != -EPERM;
	}
	cr_expect_eq(count, 16u);
	worker_finish(&worker);
	return permitted;
}

static struct private_service *begin_filter(const char *configuration, const char *sizes)
{
	(void)setenv("POCL_WORK_GROUP_SPECIALIZATION", sizes, 1);
	struct private_service *service = processes_service(configuration, false);
	worker_mix_once(service, 1);
	if (!has_pocl_3(service)) {
		(void)private_service_free(service);
		cr_skip_test("SKIPPED: PoCL 3 is not installed");
	}
	return service;
}

static void run_worker(const struct private_service *service, const char *name)
{
	struct child worker = CHILD_INIT;
	worker_start(&worker, service, name, NULL, NULL);
	worker_finish(&worker);
}

/* PoCL compiles and links a kernel for each size. The build helper runs the linker. */
Test(processes_filter, a_kernel_may_start_no_process_though_pocl_links_it_for_each_size)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = begin_filter("", "1");
	pid_t engine = processes_engine(service), children[4];
	must_be_shown_as(service, "strict");
	(void)try_calls(service, true);
	run_worker(service, "sizes");
	cr_expect_eq(processes_engine(service), engine);
	cr_expect_eq(process_children(engine, children, 4), 1, "only the build helper");
	cr_expect(!private_service_has_logged(service, "filter = basic"));
}

/* The build helper starts compilers, so no code of a source may run there. */
Test(processes_filter, what_was_compiled_is_not_loaded_into_the_build_helper)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = begin_filter("", "1");
	run_worker(service, "loads");
}

Test(processes_filter, a_kernel_may_start_processes_and_nothing_else_under_the_basic_filter)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = begin_filter("[isolation]\nfilter = basic\n", "1");
	cr_expect_eq(try_calls(service, false), 5u);
	must_be_shown_as(service, "basic-setting");
}

Test(processes_filter, a_kernel_may_start_no_process_under_the_full_filter)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = begin_filter("[isolation]\nfilter = full\n", "1");
	must_be_shown_as(service, "strict");
	(void)try_calls(service, true);
	/* Kernels that were not launched before, with sizes of groups and without. */
	worker_mix_once(service, 2);
	cr_expect(!private_service_has_logged(service, "filter = basic"));
}
