/* Engines that end with SIGKILL or with a fault of a kernel: which sessions get which error, and
 * which are not affected. */
#include "processes/common.h"

#include "clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_engine_death, .timeout = 240);

/* Expects "result -33 SYCL_ERROR_DEVICE_LOST sentence", with the kernel's name in the sentence. */
static void expect_device_lost(struct child *worker, const char *kernel)
{
	char line[LINE_BYTES];
	worker_expect(worker, "result ", line);
	cr_log_info("%s", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	cr_expect(strstr(line, kernel), "'%s' is not named: %s", kernel, line);
}

Test(processes_engine_death, N5_all_waits_end_the_offender_is_named_and_the_next_connection_works)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child endless = CHILD_INIT, blocked = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&blocked, service, "blocked", NULL, NULL);
	worker_expect(&blocked, "ready", line);
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	pid_t engine = processes_engine(service);

	uint64_t killed_ns = clock_now_ns();
	cr_assert_eq(kill(engine, SIGKILL), 0);
	expect_device_lost(&blocked, "endless");
	expect_device_lost(&endless, "endless");
	cr_log_info("both got the error within %llu us",
		    (unsigned long long)(clock_now_ns() - killed_ns) / 1000);
	worker_finish(&blocked);
	worker_finish(&endless);

	worker_mix_once(service, 1);
	cr_assert_neq(processes_engine(service), engine);
}

Test(processes_engine_death, N5_nothing_is_blamed_when_nothing_was_in_flight)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child blocked = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&blocked, service, "blocked", NULL, NULL);
	worker_expect(&blocked, "ready", line);
	cr_assert_eq(kill(processes_engine(service), SIGKILL), 0);
	worker_expect(&blocked, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_CONNECTION_LOST"), "%s", line);
	worker_finish(&blocked);
	worker_mix_once(service, 1);
}

static void run_null(struct child *worker)
{
	char line[LINE_BYTES];
	worker_expect(worker, "ready", line);
	cr_assert_eq(child_say(worker, "go"), 0);
	expect_device_lost(worker, "write_to");
	worker_finish(worker);
}

Test(processes_engine_death, M10_a_kernel_that_writes_to_null_ends_its_own_engine_only)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[isolation]\nisolation = session\n", false);
	service->faults = true;
	struct child neighbour = CHILD_INIT, guilty = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&neighbour, service, "steps", "--count", "40");
	worker_expect(&neighbour, "ready", line);
	worker_start(&guilty, service, "null", NULL, NULL);
	run_null(&guilty);
	cr_assert_eq(child_say(&neighbour, "go on"), 0);
	worker_expect(&neighbour, "done", line);
	worker_finish(&neighbour);
	worker_mix_once(service, 1);
}

Test(processes_engine_death, M10_a_kernel_that_writes_to_null_is_no_other_users_loss)
{
	/* Without another session, and with one that behaves the same way. */
	const char *const one[] = {"--uid", "65534", "--count", "40", NULL};
	const char *const other[] = {"--uid", "65533", NULL};
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: two users need root; run the tests as root to see this one");
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, true);
	service->faults = true;
	struct child neighbour = CHILD_INIT, guilty = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start_with(&neighbour, NULL, service->endpoint, "steps", one);
	worker_expect(&neighbour, "ready", line);
	pid_t engine = private_service_engine(service, 65534);
	cr_assert_gt(engine, 0);
	worker_start_with(&guilty, NULL, service->endpoint, "null", other);
	run_null(&guilty);
	cr_assert_eq(child_say(&neighbour, "go on"), 0);
	worker_expect(&neighbour, "done", line);
	cr_assert_eq(private_service_engine(service, 65534), engine);
	worker_finish(&neighbour);

	/* The user at fault gets another engine. */
	const char *const again[] = {"--uid", "65533", "--count", "40", NULL};
	struct child mix = CHILD_INIT;
	worker_start_with(&mix, NULL, service->endpoint, "mix", again);
	worker_finish(&mix);
}
