/* What an engine may start once its devices are open, tried inside of it. The double of NVIDIA's
 * driver is code in the engine's process, as a subverted driver would be. */
#include "processes/fake_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_cuda_filter, .timeout = 240);

#define ONLY_GPUS "[limits]\ndevices = cuda:*\n"

static struct fake_service fake = FAKE_SERVICE_INIT;
static struct child worker;

static const char *const ways[] = {"fork", "clone", "vfork", "execve", "execveat", "posix_spawn"};

enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* Returns the engine, whose devices are open. */
static pid_t cuda_filter_begin(const char *configuration)
{
	fake_service_start(&fake, "", configuration, false);
	fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
	fault_worker_run(&worker, "work 1");
	return processes_engine(fake.service);
}

static void cuda_filter_end(void)
{
	fault_worker_run(&worker, "work 2");
	fault_worker_finish(&worker);
	fake_service_end(&fake);
}

static void teardown_filter(void)
{
	fake_service_end(&fake);
}

/* Returns the errno, or 0 if the call was permitted. */
static int try_in(pid_t engine, const char *way)
{
	char line[64];
	(void)snprintf(line, sizeof(line), "try %s", way);
	return (int)fake_service_say(&fake, engine, line);
}

static bool is_strict(void *engine)
{
	return try_in(*(pid_t *)engine, "clone") == EPERM;
}

static void must_be_shown_as(const char *name)
{
	json_t *status = private_service_status(fake.service);
	const json_t *tenant = json_array_get(json_object_get(status, "tenants"), 0);
	const char *shown = json_string_value(json_object_get(tenant, "filter"));
	cr_expect_str_eq(shown ? shown : "", name);
	json_decref(status);
}

static bool is_logged(void *unused)
{
	(void)unused;
	return private_service_has_logged(fake.service, "set 'filter = basic' in [isolation]");
}

/* The filter is set in the turn after the device was opened. */
Test(processes_cuda_filter, an_engine_with_gpus_only_can_start_no_process, .fini = teardown_filter)
{
	pid_t engine = cuda_filter_begin(ONLY_GPUS);
	cr_assert(wait_until(is_strict, &engine, SOON), "it can start processes");
	cr_expect(!private_service_has_logged(fake.service, "filter = basic"));
	for (unsigned i = 0; i < WAYS; i++)
		cr_expect_eq(try_in(engine, ways[i]), EPERM, "%s: %s", ways[i],
			     strerror(try_in(engine, ways[i])));
	cr_expect_eq(try_in(engine, "thread"), 0, "no threads");
	cr_expect(wait_until(is_logged, NULL, SOON), "the log does not name the setting");
	must_be_shown_as("strict");
	cuda_filter_end();
}

static void expect_basic(pid_t engine)
{
	cr_expect_eq(try_in(engine, "fork"), 0);
	cr_expect_eq(try_in(engine, "clone"), 0);
	cr_expect_eq(try_in(engine, "execve"), ENOENT);
	cr_expect_eq(try_in(engine, "posix_spawn"), 0);
	cr_expect(!private_service_has_logged(fake.service, "filter = basic"));
}

Test(processes_cuda_filter, the_operator_can_leave_processes_to_drivers, .fini = teardown_filter)
{
	pid_t engine = cuda_filter_begin(ONLY_GPUS "[isolation]\nfilter = basic\n");
	expect_basic(engine);
	must_be_shown_as("basic-setting");
	cuda_filter_end();
}

/* The kernel's answer looks like the one of a kernel without filters. The filter is set in a turn
 * after the device was opened, so some orders may succeed. */
Test(processes_cuda_filter, an_engine_whose_filter_is_refused_ends_and_its_client_gets_the_cause,
     .fini = teardown_filter)
{
	char line[LINE_BYTES] = "";
	const char *const none[] = {NULL};
	fake_service_start(&fake, "refuse_filters\n", ONLY_GPUS, false);
	worker_start_with(&worker, NULL, fake.service->endpoint, "fault", none);
	for (unsigned i = 0; !strstr(line, "cannot forbid processes: Invalid argument"); i++) {
		cr_assert_lt(i, 1000, "it goes on without the filter");
		cr_assert_eq(child_read_line(&worker, line, sizeof(line), SOON), 1);
		bool is_good = strncmp(line, "ready", 5) == 0 || strncmp(line, "ok", 2) == 0;
		cr_assert(is_good || strstr(line, "cannot forbid processes"), "%s", line);
		if (is_good)
			cr_assert_eq(child_say(&worker, "work 1"), 0);
	}
	fault_worker_finish(&worker);
	fake_service_end(&fake);
}
