#include "opencl_programs/common.h"

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STATUS_BYTES = 1 << 18 };

static void vendors_write(const char *folder, const char *name, const char *line)
{
	char path[PATH_MAX];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "we");
	cr_assert(file && fprintf(file, "%s\n", line) > 0 && fclose(file) == 0);
}

/* The drivers that this test's own loader has, but the one under test. */
static void vendors_copy_others(const char *folder)
{
	const char *from = getenv("OCL_ICD_VENDORS");
	char pattern[PATH_MAX], line[LINE_BYTES], name[32];
	glob_t found;
	(void)snprintf(pattern, sizeof(pattern), "%s/*.icd", from ? from : "/etc/OpenCL/vendors");
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0, "no driver in %s", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *file = fopen(found.gl_pathv[i], "re");
		cr_assert(file && fgets(line, sizeof(line), file));
		(void)fclose(file);
		line[strcspn(line, "\n")] = '\0';
		(void)snprintf(name, sizeof(name), "%zu.icd", i);
		if (!strstr(line, "libsyclcl"))
			vendors_write(folder, name, line);
	}
	globfree(&found);
}

/* Copies the driver, and the library that it looks for beside itself. */
static void vendors_copy_driver(const struct vendors *vendors, char driver_out[PATH_MAX])
{
	char library[PATH_MAX], copy[PATH_MAX];
	(void)snprintf(driver_out, PATH_MAX, "%s/libsyclcl.so.0", vendors->directory);
	processes_copy(SYCLCL_LIBRARY, driver_out);
	cr_assert_eq(build_path("lib", "libsyclclient.so.0", library, sizeof(library)), 0);
	(void)snprintf(copy, sizeof(copy), "%s/libsyclclient.so.0", vendors->directory);
	processes_copy(library, copy);
}

void vendors_make(struct vendors *vendors)
{
	char driver[PATH_MAX];
	(void)snprintf(vendors->directory, sizeof(vendors->directory), "/tmp/sycld-vendors.XXXXXX");
	cr_assert(mkdtemp(vendors->directory) && chmod(vendors->directory, 0755) == 0);
	(void)snprintf(vendors->through, sizeof(vendors->through), "%s/through",
		       vendors->directory);
	(void)snprintf(vendors->both, sizeof(vendors->both), "%s/both", vendors->directory);
	cr_assert(mkdir(vendors->through, 0755) == 0 && mkdir(vendors->both, 0755) == 0);
	vendors_copy_driver(vendors, driver);
	vendors_write(vendors->through, "sycld.icd", driver);
	vendors_write(vendors->both, "sycld.icd", driver);
	vendors_copy_others(vendors->both);
}

pid_t vendors_service(const struct vendors *vendors)
{
	static char answer[STATUS_BYTES];
	char program[PATH_MAX], runtime[96];
	struct child child = CHILD_INIT;
	(void)snprintf(runtime, sizeof(runtime), "%s/sycld", vendors->directory);
	const char *const argv[] = {program, "--runtime-dir", runtime, "status", "--json", NULL};
	if (build_path("bin", "syclctl", program, sizeof(program)) < 0 ||
	    child_start(argv, NULL, &child) < 0)
		return 0;
	ssize_t bytes = child_read_all(&child, answer, sizeof(answer), SOON);
	child_end(&child);
	json_t *status = bytes > 0 ? json_loads(answer, 0, NULL) : NULL;
	json_int_t pid =
		json_integer_value(json_object_get(json_object_get(status, "service"), "pid"));
	json_decref(status);
	return (pid_t)pid;
}

static void vendors_end_service(const struct vendors *vendors)
{
	pid_t pid = vendors_service(vendors);
	if (pid > 0 && kill(pid, SIGTERM) == 0)
		cr_expect(wait_until(processes_gone, &pid, SOON));
}

static int vendors_remove_entry(const char *path, const struct stat *facts, int kind,
				struct FTW *where)
{
	(void)facts;
	(void)kind;
	(void)where;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void vendors_remove(struct vendors *vendors)
{
	vendors_end_service(vendors);
	(void)nftw(vendors->directory, vendors_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void program_start(struct child *program, const char *const *environment, const char *const *words)
{
	char path[PATH_MAX];
	cr_assert_eq(build_path("tests", "opencl_program", path, sizeof(path)), 0);
	const char *argv[WORKER_ARGUMENTS_MAX] = {path};
	for (size_t count = 1; *words && count < WORKER_ARGUMENTS_MAX - 1; words++)
		argv[count++] = *words;
	*program = (struct child)CHILD_INIT;
	int r = child_start(argv, environment, program);
	cr_assert_eq(r, 0, "%s does not start: %s", path, strerror(-r));
}

void program_start_at(struct child *program, const struct private_service *service,
		      const struct vendors *vendors, const char *const *words)
{
	char endpoint[160], folder[160];
	(void)snprintf(endpoint, sizeof(endpoint), "SYCLD_ENDPOINT=%s", service->endpoint);
	(void)snprintf(folder, sizeof(folder), "OCL_ICD_VENDORS=%s", vendors->through);
	const char *const environment[] = {endpoint, folder, NULL};
	program_start(program, environment, words);
}

void program_expect(struct child *program, const char *start_of_line)
{
	char line[LINE_BYTES];
	cr_assert_eq(child_read_line(program, line, sizeof(line), SOON), 1, "no line '%s'",
		     start_of_line);
	cr_assert_eq(strncmp(line, start_of_line, strlen(start_of_line)), 0, "'%s' instead of '%s'",
		     line, start_of_line);
}

void program_finish(struct child *program)
{
	cr_assert_eq(child_say(program, "go"), 0);
	program_expect(program, "ok");
	cr_assert_eq(child_wait(program, SOON), 0);
	child_end(program);
}

int program_expect_failure(struct child *program)
{
	static const char start[] = "failed ";
	char line[LINE_BYTES], *end = NULL;
	cr_assert_eq(child_read_line(program, line, sizeof(line), SOON), 1, "it says nothing");
	const char *number = strrchr(line, ' ');
	cr_assert(number && strncmp(line, start, strlen(start)) == 0, "'%s' is no failure", line);
	long code = strtol(number, &end, 10);
	cr_assert(end != number && *end == '\0' && code < 0, "'%s' has no code", line);
	cr_assert_eq(child_wait(program, SOON), FAILED);
	child_end(program);
	return (int)code;
}
