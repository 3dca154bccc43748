/* The result of a build, and builds that fail. */
#include "build/service.h"

#include "build/internal.h"
#include "build/support.h"
#include "status.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(build, .timeout = 120);

Test(build, J19_a_source_becomes_a_binary)
{
	struct build_bench bench;
	struct built built;
	struct build_service_counters counters;

	bench_open(&bench);
	bench_build(&bench, "#build log all is well\nfill_u32\n", &built);
	cr_assert_eq(built.status, 0, "%s", built.text);
	cr_assert_gt(built.binary_bytes, 0);
	cr_assert_str_eq(built.log, "all is well");
	cr_assert(!built.from_cache);
	build_service_counters(bench.service, &counters);
	cr_assert_eq(counters.builds, 1);
	cr_assert_eq(counters.cache_hits, 0);
	built_free(&built);
	bench_close(&bench);
}

Test(build, a_second_build_comes_from_the_cache)
{
	struct build_bench bench;
	struct built first, second;
	struct build_service_counters counters;

	bench_open(&bench);
	bench_build(&bench, "#build log words\nfill_u32\n", &first);
	bench_build(&bench, "#build log words\nfill_u32\n", &second);
	cr_assert(second.from_cache);
	cr_assert_eq(second.status, 0);
	cr_assert_eq(second.binary_bytes, first.binary_bytes);
	cr_assert_arr_eq(second.binary, first.binary, first.binary_bytes);
	cr_assert_str_eq(second.log, "words");
	built_free(&second);

	/* This also works in another process, later. */
	bench_reopen(&bench);
	bench_build(&bench, "#build log words\nfill_u32\n", &second);
	cr_assert(second.from_cache);
	build_service_counters(bench.service, &counters);
	cr_assert_eq(counters.builds, 0);
	cr_assert_eq(counters.cache_hits, 1);
	built_free(&first);
	built_free(&second);
	bench_close(&bench);
}

Test(build, M6_a_failing_build_returns_its_log_and_is_not_kept)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	for (int i = 0; i < 2; i++) {
		bench_build(&bench, "fill_u32\nno such thing\n", &built);
		cr_assert_eq(built.status, STATUS_BUILD);
		cr_assert_not_null(strstr(built.log, "line 2"), "%s", built.log);
		cr_assert(!built.from_cache);
		built_free(&built);
	}
	bench_close(&bench);
}

Test(build, without_a_cache_everything_is_built)
{
	struct build_bench bench;
	struct build_service *service = NULL;
	struct built built;

	cr_assert_eq(build_service_fork(&service), 0);
	bench_open_with(&bench, service, false);
	for (int i = 0; i < 2; i++) {
		bench_build(&bench, "fill_u32\n", &built);
		cr_assert_eq(built.status, 0);
		cr_assert(!built.from_cache);
		built_free(&built);
	}
	bench_close(&bench);
}

/* Builds with an option that the engine sends. The fake backend refuses each option. */
static int32_t build_with_late_option(const char *const *given)
{
	const char *late[] = {"fake:library=hostile.so", NULL};
	struct build_bench bench;
	struct build_service *service = NULL;
	struct built built;

	cr_assert_eq(build_service_fork_gated(NULL, given, &service), 0);
	cr_assert_eq(build_service_set_options(service, late), 0);
	bench_open_with(&bench, service, false);
	bench_build(&bench, "fill_u32\n", &built);
	int32_t status = built.status;
	built_free(&built);
	bench_close(&bench);
	return status;
}

Test(build, options_that_the_helper_was_forked_with_are_not_replaced)
{
	const char *none[] = {NULL};

	cr_assert_neq(build_with_late_option(NULL), STATUS_SUCCESS);
	cr_assert_eq(build_with_late_option(none), STATUS_SUCCESS);
}

Test(build, a_spawned_helper_builds_too)
{
	struct build_bench bench;
	struct build_service *service = NULL;
	struct built built;

	cr_assert_eq(build_service_spawn(BUILD_HELPER_PROGRAM, environ, &service), 0);
	bench_open_with(&bench, service, true);
	bench_build(&bench, "fill_u32\n", &built);
	cr_assert_eq(built.status, 0, "%s", built.text);
	built_free(&built);
	bench_close(&bench);
	cr_assert_eq(build_service_spawn("/nonexistent/program", environ, &service), -ENOENT);
}

/* The helper finds the device by its key. If it does not, the error lists the devices. */
Test(build, an_unknown_device_is_an_error)
{
	struct build_bench bench;
	struct built built = {.calls = 0};

	bench_open(&bench);
	bench_submit(&bench, "fill_u32\n", 0, 0, &built);
	struct build_work *work = list_entry(bench.service->works.next, struct build_work, link);
	((char *)(uintptr_t)work->request.device_key)[0] ^= 1;
	bench_wait(&bench, &built);
	cr_assert_neq(built.status, 0);
	cr_assert_not_null(strstr(built.text, "does not find the device gake"), "%s", built.text);
	cr_assert_not_null(strstr(built.text, "it finds "), "%s", built.text);
	cr_assert_not_null(strstr(built.text, ": fake"), "%s", built.text);
	built_free(&built);
	bench_close(&bench);
}

Test(build, identical_builds_in_flight_are_one)
{
	struct build_bench bench;
	struct built first, second, third;
	char fifo[128], source[512];

	bench_open(&bench);
	(void)bench_fifo(&bench, "gate", false, fifo, sizeof(fifo));
	(void)snprintf(source, sizeof(source), "#build touch %s/count\n#build wait %s\nfill_u32\n",
		       bench.directory, fifo);
	bench_submit(&bench, source, 0, 0, &first);
	bench_submit(&bench, source, 0, 0, &second);
	bench_submit(&bench, source, 0, 0, &third);
	(void)uv_run(&bench.loop, UV_RUN_NOWAIT); /* sent now */
	build_job_cancel(second.job);             /* the others still need it */
	int gate =
		open(fifo, O_WRONLY | O_CLOEXEC); /* waits until the build has come to this point */
	cr_assert_geq(gate, 0);
	(void)close(gate);
	bench_wait(&bench, &first);
	bench_wait(&bench, &third);
	cr_assert_eq(first.status, 0);
	cr_assert_eq(third.status, 0);
	cr_assert_eq(second.calls, 0);
	cr_assert_eq(bench_file_bytes(&bench, "count"), 1);
	built_free(&first);
	built_free(&third);
	bench_close(&bench);
}

/* There are more than may run at one time. The others wait, and all of them finish. */
Test(build, more_builds_than_places_wait_for_their_turn)
{
	enum { BUILDS = 12 };
	struct build_bench bench;
	struct built built[BUILDS];
	char fifos[BUILDS][128], source[512];

	bench_open(&bench);
	for (int i = 0; i < BUILDS; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "gate%d", i);
		(void)bench_fifo(&bench, name, false, fifos[i], sizeof(fifos[i]));
		(void)snprintf(source, sizeof(source),
			       "#build touch %s/started\n#build wait %s\nfill_u32\n",
			       bench.directory, fifos[i]);
		bench_submit(&bench, source, 0, 0, &built[i]);
	}
	(void)uv_run(&bench.loop, UV_RUN_NOWAIT);
	for (int i = 0; i < BUILDS; i++) {
		int gate = open(fifos[i], O_WRONLY | O_CLOEXEC);
		cr_assert_geq(gate, 0);
		(void)close(gate);
		cr_assert_leq(bench_file_bytes(&bench, "started"),
			      (size_t)i + bench.service->running_max);
		bench_wait(&bench, &built[i]);
		cr_assert_eq(built[i].status, 0, "%s", built[i].text);
		built_free(&built[i]);
	}
	cr_assert_eq(bench_file_bytes(&bench, "started"), BUILDS);
	bench_close(&bench);
}

Test(build, a_cancelled_build_ends_and_frees_its_place)
{
	struct build_bench bench;
	struct built built[8];
	char path[128], source[256];

	bench_open(&bench);
	int fifo = bench_fifo(&bench, "alive", true, path, sizeof(path));
	(void)snprintf(source, sizeof(source), "#build fork %s\n#build hang\n", path);
	for (int i = 0; i < 8; i++) {
		bench_submit(&bench, source, 0, 0, &built[i]);
		source[strlen(source) - 1] = '\0';
		(void)strcat(source, " \n"); /* each is a separate build */
	}
	(void)uv_run(&bench.loop, UV_RUN_NOWAIT);
	for (int i = 0; i < 8; i++)
		build_job_cancel(built[i].job);
	struct built after;
	bench_build(&bench, "fill_u32\n", &after);
	cr_assert_eq(after.status, 0);
	for (int i = 0; i < 8; i++)
		cr_assert_eq(built[i].calls, 0);
	built_free(&after);
	bench_close(&bench);
	(void)close(fifo);
}

Test(build, a_killed_helper_fails_its_builds_and_says_so)
{
	struct build_bench bench;
	struct built kept, running, after;
	char path[128], source[256];

	bench_open(&bench);
	bench_build(&bench, "fill_u32\n", &kept);
	cr_assert_eq(kept.status, 0);
	built_free(&kept);

	int fifo = bench_fifo(&bench, "alive", true, path, sizeof(path));
	(void)snprintf(source, sizeof(source), "#build wait %s\n", path);
	bench_submit(&bench, source, 0, 0, &running);
	(void)uv_run(&bench.loop, UV_RUN_NOWAIT);
	cr_assert_eq(kill(bench.service->helper, SIGKILL), 0);
	bench_wait(&bench, &running);
	cr_assert_eq(running.status, STATUS_RUNTIME);
	cr_assert_not_null(strstr(running.text, "helper"), "%s", running.text);

	bench_build(&bench, "copy_u32\n", &after);
	cr_assert_eq(after.status, STATUS_RUNTIME);
	cr_assert_not_null(strstr(after.text, "helper has ended"), "%s", after.text);
	built_free(&after);
	bench_build(&bench, "fill_u32\n", &after);
	cr_assert(after.from_cache, "%s", after.text);
	built_free(&running);
	built_free(&after);
	bench_close(&bench);
	(void)close(fifo);
}

/* Helper, compiler and its tools end with the engine, however that ends. */
Test(build, N5_a_killed_engine_takes_its_builds_along)
{
	struct build_bench bench;
	char path[128], source[256];
	struct build_service *none = NULL;

	cr_assert_eq(build_service_fork(&none), 0);
	bench_open_with(&bench, none, false);
	int fifo = bench_fifo(&bench, "alive", true, path, sizeof(path));
	(void)snprintf(source, sizeof(source),
		       "#build fork %s\n#build touch %s/started\n#build hang\n", path,
		       bench.directory);
	int ready[2];
	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t engine = fork();
	if (engine == 0) {
		struct build_bench inner;
		struct built built;
		struct build_service *service = NULL;
		cr_assert_eq(build_service_fork(&service), 0);
		bench_open_with(&inner, service, false);
		bench_submit(&inner, source, 0, 0, &built);
		(void)uv_run(&inner.loop, UV_RUN_NOWAIT);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	char byte;
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	bench_wait_file(&bench, "started");
	cr_assert_eq(kill(engine, SIGKILL), 0);
	cr_assert_eq(waitpid(engine, NULL, 0), engine);
	bench_wait_hangup(fifo);
	bench_close(&bench);
	(void)close(fifo);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

Test(build, freeing_the_service_stops_what_runs)
{
	struct build_bench bench;
	struct built built;
	char path[128], source[256];

	bench_open(&bench);
	int fifo = bench_fifo(&bench, "alive", true, path, sizeof(path));
	(void)snprintf(source, sizeof(source),
		       "#build fork %s\n#build touch %s/started\n#build hang\n", path,
		       bench.directory);
	bench_submit(&bench, source, 0, 0, &built);
	(void)uv_run(&bench.loop, UV_RUN_NOWAIT);
	bench_wait_file(&bench, "started");
	bench_close(&bench);
	bench_wait_hangup(fifo);
	cr_assert_eq(built.calls, 0);
	(void)close(fifo);
}
