/* Builds that hang, crash or use too much memory. */
#include "build/support.h"

#include "sanitized.h"
#include "status.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(build_limits, .timeout = 120);

Test(build_limits, an_endless_build_is_stopped)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	bench_submit(&bench, "#build print still here\n#build hang\n", 100000000, 0, &built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "longer than 100 ms"), "%s", built.text);
	cr_assert_str_eq(built.log, "still here");
	built_free(&built);
	bench_build(&bench, "fill_u32\n", &built);
	cr_assert_eq(built.status, 0, "%s", built.text);
	built_free(&built);
	bench_close(&bench);
}

/* Processes that the compiler has started end with it. */
Test(build_limits, the_tools_of_a_stopped_build_are_stopped_too)
{
	struct build_bench bench;
	struct built built;
	char path[128], source[256];

	bench_open(&bench);
	int fifo = bench_fifo(&bench, "alive", true, path, sizeof(path));
	(void)snprintf(source, sizeof(source), "#build fork %s\n#build hang\n", path);
	bench_submit(&bench, source, 2000000000, 0, &built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	bench_wait_hangup(fifo);
	built_free(&built);
	bench_close(&bench);
	(void)close(fifo);
}

Test(build_limits, the_tools_of_a_finished_build_are_stopped_too)
{
	struct build_bench bench;
	struct built built;
	char path[128], source[256];

	bench_open(&bench);
	int fifo = bench_fifo(&bench, "alive", true, path, sizeof(path));
	(void)snprintf(source, sizeof(source), "#build fork %s\nfill_u32\n", path);
	bench_build(&bench, source, &built);
	cr_assert_eq(built.status, 0, "%s", built.text);
	bench_wait_hangup(fifo);
	built_free(&built);
	bench_close(&bench);
	(void)close(fifo);
}

Test(build_limits, a_crash_of_the_compiler_is_a_failed_build)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	bench_build(&bench, "#build print about to crash\n#build crash\n", &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "the compiler crashed (signal 11)"), "%s",
			   built.text);
	cr_assert_str_eq(built.log, "about to crash");
	cr_assert_eq(built.binary_bytes, 0);
	built_free(&built);
	bench_close(&bench);
}

Test(build_limits, a_compiler_that_ends_early_is_a_failed_build)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	bench_build(&bench, "#build exit 3\n", &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "exit status 3"), "%s", built.text);
	built_free(&built);
	bench_build(&bench, "#build exit 0\n", &built);
	cr_assert_eq(built.status, STATUS_BUILD, "ending well is not a result");
	built_free(&built);
	bench_close(&bench);
}

#if !SANITIZED
/* An instrumented process has terabytes of shadow memory. There the limit does not exist, and so
 * this test does not either. */
Test(build_limits, memory_is_limited)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	bench_submit(&bench, "#build eat\n", 0, 96u << 20, &built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "96 MiB of memory"), "%s", built.text);
	cr_assert_not_null(strstr(built.log, "out of memory"), "%s", built.log);
	built_free(&built);
	bench_close(&bench);
}
#endif
