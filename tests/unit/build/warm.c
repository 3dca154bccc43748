/* Builds that are forks of a warm process keep all limits, and go on without that process. */
#include "build/support.h"

#include "clock.h"
#include "sanitized.h"
#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(build_warm, .timeout = 120);

enum { BUILDS_MAX = 2000 };

/* Builds a source that was not built before. Returns the parent's number, negative for a helper. */
static long parent_of_next_build(struct build_bench *bench)
{
	static unsigned number;
	struct built built;
	char source[64];

	(void)snprintf(source, sizeof(source), "#build parent\n# %u\nfill_u32\n", number++);
	bench_build(bench, source, &built);
	cr_assert_eq(built.status, 0, "%s", built.text);
	long parent = strtol(built.log + strlen("warm "), NULL, 10);
	bool is_warm = strncmp(built.log, "warm ", strlen("warm ")) == 0;
	built_free(&built);
	return is_warm ? parent : -parent;
}

/* Builds until there is a warm process, and returns its number. */
static pid_t build_until_warm(struct build_bench *bench)
{
	long parent = 0;
	for (int i = 0; i < BUILDS_MAX && parent <= 0; i++)
		parent = parent_of_next_build(bench);
	cr_assert_gt(parent, 0, "no build was a fork of a warm process");
	return (pid_t)parent;
}

Test(build_warm, later_builds_are_forks_of_one_process)
{
	struct build_bench bench;

	bench_open(&bench);
	pid_t warm = build_until_warm(&bench);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(parent_of_next_build(&bench), warm);
	bench_close(&bench);
}

Test(build_warm, an_endless_build_is_stopped_with_its_tools)
{
	struct build_bench bench;
	struct built built;
	char path[128], source[256];

	bench_open(&bench);
	pid_t warm = build_until_warm(&bench);
	int fifo = bench_fifo(&bench, "alive", true, path, sizeof(path));
	(void)snprintf(source, sizeof(source), "#build fork %s\n#build hang\n", path);
	bench_submit(&bench, source, 200000000, 0, &built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "longer than 200 ms"), "%s", built.text);
	bench_wait_hangup(fifo);
	built_free(&built);
	cr_assert_eq(parent_of_next_build(&bench), warm);
	bench_close(&bench);
	(void)close(fifo);
}

Test(build_warm, a_crash_is_a_failed_build_and_the_process_stays)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	pid_t warm = build_until_warm(&bench);
	bench_build(&bench, "#build print about to crash\n#build crash\n", &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "the compiler crashed (signal 11)"), "%s",
			   built.text);
	cr_assert_str_eq(built.log, "about to crash");
	built_free(&built);
	cr_assert_eq(parent_of_next_build(&bench), warm);
	bench_close(&bench);
}

#if !SANITIZED
Test(build_warm, memory_is_limited)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	(void)build_until_warm(&bench);
	bench_submit(&bench, "#build eat\n", 0, 96u << 20, &built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "96 MiB of memory"), "%s", built.text);
	built_free(&built);
	bench_close(&bench);
}
#endif

/* What a build writes goes to its own folder, and goes with that. */
Test(build_warm, each_build_has_a_folder_of_its_own)
{
	struct build_bench bench;
	struct built built;
	char pattern[128];
	glob_t found;

	bench_open(&bench);
	(void)build_until_warm(&bench);
	bench_build(&bench, "#build keep result\nfill_u32\n", &built);
	cr_assert_eq(built.status, 0, "%s", built.text);
	cr_assert_str_eq(built.log, "");
	built_free(&built);
	(void)snprintf(pattern, sizeof(pattern), "%s/sycld-*", bench.cache);
	cr_assert_eq(glob(pattern, 0, NULL, &found), GLOB_NOMATCH, "a folder is left");
	bench_close(&bench);
}

/* A build that kills the process ends with it, or is done once more. Later ones are children of the
 * helper again. */
Test(build_warm, builds_go_on_when_the_process_is_killed)
{
	struct build_bench bench;
	struct built built;
	char source[64];

	bench_open(&bench);
	(void)snprintf(source, sizeof(source), "#build kill %d\nfill_u32\n",
		       (int)build_until_warm(&bench));
	bench_build(&bench, source, &built);
	cr_assert(built.status == STATUS_SUCCESS || strstr(built.text, "signal 9"), "%s",
		  built.text);
	built_free(&built);
	for (int i = 0; i < 4; i++)
		cr_assert_lt(parent_of_next_build(&bench), 0);
	bench_close(&bench);
}

Test(build_warm, the_process_ends_with_the_service)
{
	const uint64_t deadline = clock_now_ns() + 60000000000u;
	struct build_bench bench;

	bench_open(&bench);
	pid_t warm = build_until_warm(&bench);
	bench_close(&bench);
	while (kill(warm, 0) == 0)
		cr_assert_lt(clock_now_ns(), deadline, "the warm process is still there");
	cr_assert_eq(errno, ESRCH);
}
