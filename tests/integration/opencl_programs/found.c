/*
 * How OpenCL's loader finds the driver, as it is installed, and what happens where no service is
 * and in engines. The programs here have services that they start themselves.
 */
#include "opencl_programs/common.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(opencl_found, .timeout = 280);

#define OURS  "platform sycld: Portable Computing Language, devices 1"
#define PLAIN "platform Portable Computing Language, devices 1"

struct seen {
	int ours, plain, others;
};

/* Reads what `list` prints, up to its end. */
static struct seen read_list(struct child *program)
{
	struct seen seen = {0};
	char text[ANSWER_BYTES];
	cr_assert_geq(child_read_all(program, text, sizeof(text), SOON), 0);
	int status = child_wait(program, SOON);
	cr_assert_eq(status, 0, "it ended with status %d: %s", status, text);
	child_end(program);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strcmp(line, OURS) == 0)
			seen.ours++;
		else if (strcmp(line, PLAIN) == 0)
			seen.plain++;
		else if (strcmp(line, "ok") != 0) {
			cr_log_warn("%s", line);
			seen.others++;
		}
	}
	return seen;
}

static bool is_service(pid_t pid)
{
	char path[64], name[64] = "";
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool is = fgets(name, sizeof(name), file) && strcmp(name, "sycld\n") == 0;
	(void)fclose(file);
	return is;
}

/* A driver in an engine would start one more service, which the first one inherits. */
static void expect_one_service(const struct vendors *vendors)
{
	enum { CHILDREN_MAX = 16 };
	pid_t children[CHILDREN_MAX], service = vendors_service(vendors);
	cr_assert_gt(service, 0, "the service does not answer");
	int count = process_children(service, children, CHILDREN_MAX);
	cr_expect_gt(count, 0, "the service has no engine");
	for (int i = 0; i < count && i < CHILDREN_MAX; i++)
		cr_expect_not(is_service(children[i]), "an engine has started a service");
}

static void expect_both(struct child *program, const struct vendors *vendors)
{
	struct seen seen = read_list(program);
	cr_expect(seen.ours == 1 && seen.plain == 1 && seen.others == 0,
		  "platforms of the service: %d, of PoCL: %d, other lines: %d", seen.ours,
		  seen.plain, seen.others);
	expect_one_service(vendors);
}

/* The engine's loader gets the same variable, and would load the driver again. */
Test(opencl_found, a_service_that_the_driver_starts_does_not_load_the_driver_again)
{
	static const char *const list[] = {"list", NULL}, *const work[] = {"work", NULL};
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child program;
	char folder[160], runtime[160];
	vendors_make(&vendors);
	(void)snprintf(folder, sizeof(folder), "OCL_ICD_VENDORS=%s", vendors.both);
	(void)snprintf(runtime, sizeof(runtime), "XDG_RUNTIME_DIR=%s", vendors.directory);
	const char *const environment[] = {folder, runtime, "SYCLD_ENDPOINT", NULL};
	program_start(&program, environment, list);
	expect_both(&program, &vendors);
	program_start(&program, environment, work);
	program_expect(&program, "ready");
	program_finish(&program);
}

/* A program that shall have no other platform. Its service's engine finds the drivers of the
 * machine. */
Test(opencl_found, a_program_with_this_driver_alone_starts_a_service_that_has_devices)
{
	static const char *const list[] = {"list", NULL};
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child program;
	char file[160], runtime[160];
	if (access("/etc/OpenCL/vendors", F_OK) != 0)
		cr_skip_test("SKIPPED: this machine has no /etc/OpenCL/vendors");
	vendors_make(&vendors);
	(void)snprintf(file, sizeof(file), "OCL_ICD_VENDORS=%s/sycld.icd", vendors.through);
	(void)snprintf(runtime, sizeof(runtime), "XDG_RUNTIME_DIR=%s", vendors.directory);
	const char *const environment[] = {file, runtime, "SYCLD_ENDPOINT", NULL};
	program_start(&program, environment, list);
	struct seen seen = read_list(&program);
	cr_expect(seen.ours == 1 && seen.plain == 0 && seen.others == 0,
		  "platforms of the service: %d, of PoCL: %d, other lines: %d", seen.ours,
		  seen.plain, seen.others);
	expect_one_service(&vendors);
}

/* In a mount namespace of its own, where the files lie as an installation puts them. */
Test(opencl_found, the_driver_is_there_for_the_whole_machine)
{
	static const char script[] = "mount --bind \"$1\" /etc/OpenCL/vendors && exec \"$2\" list";
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child program = CHILD_INIT;
	char runtime[160], path[4096];
	if (geteuid() != 0 || access("/etc/OpenCL/vendors", F_OK) != 0 ||
	    system("unshare --mount true 2>/dev/null") != 0)
		cr_skip_test("SKIPPED: needs root, a mount namespace and /etc/OpenCL/vendors");
	vendors_make(&vendors);
	cr_assert_eq(build_path("tests", "opencl_program", path, sizeof(path)), 0);
	(void)snprintf(runtime, sizeof(runtime), "XDG_RUNTIME_DIR=%s", vendors.directory);
	const char *const environment[] = {runtime, "OCL_ICD_VENDORS", "SYCLD_ENDPOINT", NULL};
	const char *const argv[] = {"/usr/bin/unshare",
				    "--mount",
				    "--propagation",
				    "private",
				    "/bin/sh",
				    "-c",
				    script,
				    "sh",
				    vendors.both,
				    path,
				    NULL};
	cr_assert_eq(child_start(argv, environment, &program), 0);
	expect_both(&program, &vendors);
}

Test(opencl_found, without_a_service_other_platforms_are_there_and_nothing_is_said)
{
	static const char *const list[] = {"list", NULL};
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child program;
	char folder[160];
	vendors_make(&vendors);
	(void)snprintf(folder, sizeof(folder), "OCL_ICD_VENDORS=%s", vendors.both);
	const char *const environment[] = {folder, "SYCLD_ENDPOINT=unix:/nowhere/session.sock",
					   NULL};
	program_start(&program, environment, list);
	struct seen seen = read_list(&program);
	cr_expect(seen.ours == 0 && seen.plain == 1 && seen.others == 0,
		  "platforms of the service: %d, of PoCL: %d, other lines: %d", seen.ours,
		  seen.plain, seen.others);
}

/* Here the engine's loader is the program's. */
Test(opencl_found, an_engine_inside_a_program_does_not_load_the_driver)
{
	static const char *const embedded[] = {"embedded", NULL};
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child program;
	char folder[160], runtime[160];
	vendors_make(&vendors);
	(void)snprintf(folder, sizeof(folder), "OCL_ICD_VENDORS=%s", vendors.both);
	(void)snprintf(runtime, sizeof(runtime), "XDG_RUNTIME_DIR=%s", vendors.directory);
	const char *const environment[] = {folder, runtime, "SYCLD_ENDPOINT", NULL};
	program_start(&program, environment, embedded);
	struct seen seen = read_list(&program);
	cr_expect(seen.ours == 0 && seen.plain == 1 && seen.others == 0,
		  "platforms of the service: %d, of PoCL: %d, other lines: %d", seen.ours,
		  seen.plain, seen.others);
	/* It has started no service either. */
	(void)snprintf(runtime, sizeof(runtime), "%s/sycld/session.sock", vendors.directory);
	cr_expect_neq(access(runtime, F_OK), 0, "a service runs");
}
