/* What a device's thread takes from its backend about moments in which nothing runs. */
#include "worker/device/quiesce.h"

#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(quiesce, .timeout = 10);

static uint64_t hold_ns;
static uint32_t quiet_moments;

static bool is_wanted(struct backend_device *device)
{
	(void)device;
	return true;
}

static void count_moment(struct backend_device *device)
{
	(void)device;
	quiet_moments++;
}

static uint64_t get_hold_ns(struct backend_device *device)
{
	(void)device;
	return hold_ns;
}

static const struct backend_ops with_bound = {
	.quiet_wanted = is_wanted, .quiet = count_moment, .quiet_hold_ns = get_hold_ns};
static const struct backend_ops without_bound = {.quiet_wanted = is_wanted, .quiet = count_moment};

static struct scheduler scheduler;
static struct scheduler_device device;

/* A command is in flight, and the backend has waited long enough for sends to be held back. */
static bool step_when_waited(const struct backend_ops *ops, uint64_t ns)
{
	device.scheduler = &scheduler;
	device.ops = ops;
	device.handle = (struct backend_device *)(void *)&device;
	device.worker.in_flight = 1;
	hold_ns = ns;
	cr_assert(not(worker_quiesce_step(&device)));
	device.quiesce.quiet.next_ns = 0;
	(void)worker_quiesce_step(&device);
	return worker_quiesce_step(&device);
}

Test(quiesce, B18_TG9_the_backend_says_for_how_long_sends_are_held_back)
{
	enum { LONG_NS = 1000000000 }; /* the device's thread may be interrupted meanwhile */
	cr_assert(step_when_waited(&with_bound, LONG_NS));
	cr_assert(eq(u64, device.quiesce.quiet.hold_ns, LONG_NS));
	cr_assert(worker_quiesce_is_brief(&device), "the thread must not sleep");
	device.worker.in_flight = 0;
	cr_assert(not(worker_quiesce_step(&device)), "and sends go on");
	cr_assert(eq(u32, quiet_moments, 1));
}

Test(quiesce, B18_TG9_sends_go_on_where_the_backend_allows_no_time)
{
	cr_assert(not(step_when_waited(&with_bound, 0)));
	device.worker.in_flight = 0;
	cr_assert(not(worker_quiesce_step(&device)));
	cr_assert(eq(u32, quiet_moments, 1), "the moment came by itself");
}

Test(quiesce, F11_a_backend_without_a_bound_gets_the_engines)
{
	cr_assert(step_when_waited(&without_bound, 0));
	cr_assert(eq(u64, device.quiesce.quiet.hold_ns, SCHED_QUIET_HOLD_NS));
	cr_assert(not(worker_quiesce_is_brief(&device)));
}

/* A load waits for the moment, too. */
Test(quiesce, F11_the_backends_bound_is_for_its_own_work_alone)
{
	atomic_store(&device.quiesce.requested, 1);
	cr_assert(step_when_waited(&with_bound, 0));
	cr_assert(eq(u64, device.quiesce.quiet.hold_ns, SCHED_QUIET_HOLD_NS));
}
