/* If the environment of a service switches off a mechanism, it is off in its engines. */
#include "processes/common.h"

#include "clock.h"

#include <stdlib.h>

TestSuite(processes_switches, .timeout = 280);

static void make_trips(struct child *worker, const struct private_service *service)
{
	*worker = (struct child)CHILD_INIT;
	worker_start(worker, service, "trips", "--count", "300");
	worker_finish(worker);
}

static void make_stream(struct child *worker, const struct private_service *service)
{
	*worker = (struct child)CHILD_INIT;
	worker_start(worker, service, "stream", "--count", "2000");
	worker_finish(worker);
}

/* Whether a command goes that way depends on whether the device's thread is idle. If this is
 * repeated, sooner or later one does. */
Test(processes_switches, TC1_the_front_thread_sends_launches_itself)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child worker, stays = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&stays, service, "steps", NULL, NULL);
	worker_expect(&stays, "session", line);
	uint64_t deadline = clock_deadline_ns(SOON);
	do
		make_trips(&worker, service);
	while (processes_claimed(service, "inline_launches") == 0 && clock_now_ns() < deadline);
	cr_assert_gt(processes_claimed(service, "inline_launches"), 0);
	child_end(&stays);
}

/* Whether several are in the ring at one time depends on which side is faster. If this is repeated,
 * sooner or later they are. */
Test(processes_switches, TG2_launches_behind_each_other_are_taken_together)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child worker, stays = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&stays, service, "steps", NULL, NULL);
	worker_expect(&stays, "session", line);
	uint64_t deadline = clock_deadline_ns(SOON);
	do
		make_stream(&worker, service);
	while (processes_claimed(service, "bursts") == 0 && clock_now_ns() < deadline);
	cr_assert_gt(processes_claimed(service, "bursts"), 0);
	cr_assert_geq(processes_claimed(service, "burst_launches"),
		      2 * processes_claimed(service, "bursts"));
	child_end(&stays);
}

typedef void worker_work(struct child *worker, const struct private_service *service);

/* Neither of the two counts anything, whatever workers do. */
static void expect_off(const char *variable, worker_work *work, const char *first,
		       const char *second)
{
	cr_assert_eq(setenv(variable, "0", 1), 0);
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child worker, stays = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&stays, service, "steps", NULL, NULL);
	worker_expect(&stays, "session", line);
	for (int i = 0; i < 3; i++)
		work(&worker, service);
	cr_assert_eq(processes_claimed(service, first), 0);
	cr_assert_eq(processes_claimed(service, second), 0);
	child_end(&stays);
}

Test(processes_switches, they_are_not_where_that_is_switched_off)
{
	expect_off("SYCLD_BURST", make_stream, "bursts", "burst_launches");
}

Test(processes_switches, it_does_not_where_that_is_switched_off)
{
	expect_off("SYCLD_INLINE", make_trips, "inline_launches", "inline_completions");
}
