/* Builds that fail, builds that do not end, and builds that use too much memory. */
#include "processes/common.h"

#include <string.h>

TestSuite(processes_builds, .timeout = 240);

Test(processes_builds, a_kernel_that_does_not_compile_returns_the_compilers_words)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&worker, service, "build-fails", NULL, NULL);
	worker_expect(&worker, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_BUILD"), "%s", line);
	worker_expect(&worker, "log ", line);
	cr_expect_str_eq(line, "log names the mistake");
	worker_finish(&worker);
}

struct helpers {
	pid_t engine;
	int before;
};

static int count_descendants(pid_t pid)
{
	pid_t pids[32];
	int count = process_children(pid, pids, 32), sum = count;
	for (int i = 0; i < count && i < 32; i++)
		sum += count_descendants(pids[i]);
	return sum;
}

static bool building(void *context)
{
	const struct helpers *helpers = context;
	return count_descendants(helpers->engine) > helpers->before;
}

static bool not_building(void *context)
{
	return !building(context);
}

/* Starts the build that does not end and waits until a process works on it. */
static struct helpers start_endless_build(const struct private_service *service,
					  struct child *worker)
{
	char line[LINE_BYTES];
	worker_mix_once(service, 1);
	struct helpers helpers = {.engine = processes_engine(service)};
	helpers.before = count_descendants(helpers.engine);
	worker_start(worker, service, "build-endless", NULL, NULL);
	worker_expect(worker, "ready", line);
	cr_assert(wait_until(building, &helpers, SOON), "no build began");
	return helpers;
}

Test(processes_builds, a_build_that_does_not_end_is_stopped_while_others_go_on)
{
	/* The others' builds are in the cache already, because on a busy machine they could also
	 * reach the limit. */
	struct private_service *unlimited = processes_service(NULL, false);
	worker_mix_once(unlimited, 1);
	unlimited = private_service_free(unlimited);
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[limits]\nbuild_seconds = 5\n", false);
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	struct helpers helpers = start_endless_build(service, &worker);
	worker_mix_once(service, 2);
	worker_expect(&worker, "result ", line);
	cr_log_info("%s", line);
	cr_expect(strstr(line, "SYCL_ERROR_BUILD"), "%s", line);
	worker_finish(&worker);
	cr_assert(wait_until(not_building, &helpers, SOON), "the compiler goes on");
	worker_mix_once(service, 3);
}

Test(processes_builds, N4_a_build_that_does_not_end_is_stopped_with_its_client)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child worker = CHILD_INIT;
	struct helpers helpers = start_endless_build(service, &worker);
	child_end(&worker);
	cr_assert(wait_until(not_building, &helpers, SOON), "the build outlives its client");
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	worker_mix_once(service, 2);
}

/*
 * The build ends at its limit of memory, long before its limit of time. No other client is
 * affected. The engine is no larger than before, because another process used the memory.
 */
Test(processes_builds, N4_N6_a_build_that_eats_memory_ends_at_its_limit_and_harms_its_session_alone)
{
	if (SANITIZED)
		cr_skip_test(
			"a sanitizer's memory counts as the compiler's: no limit is set there, and it would eat all there is");
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(
		"[limits]\nbuild_seconds = 3600\nbuild_memory_bytes = 536870912\n", false);
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_mix_once(service, 1);
	struct footprint base = footprint_take(processes_engine(service));
	worker_start(&worker, service, "build-eats", NULL, NULL);
	worker_expect(&worker, "ready", line);
	worker_mix_once(service, 2);
	worker_expect(&worker, "result ", line);
	cr_log_info("%s", line);
	cr_expect(strstr(line, "SYCL_ERROR_BUILD"), "%s", line);
	worker_finish(&worker);
	cr_assert_eq(processes_engine(service), base.pid, "the engine did not survive");
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	worker_mix_once(service, 3);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	footprint_expect(&base);
}
