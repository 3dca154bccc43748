/*
 * A scheduler whose devices' time is divided among users: the commands that it sends, and its
 * claims. The time is the fake device's clock: the durations of its commands and the test advance
 * it.
 */
#include "scheduler/harness.h"

#include "share_page.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

enum { US = 1000, MS = 1000 * US, FAKE = 3, MANY = 200 };

static struct harness h;
static struct sched_account *session;
static struct probe probes[MANY];
static struct share_grants grants;
static struct share_claims claims;
static uint32_t watched;

static void setup_grant(void)
{
	fake_clock(1000ull * MS, 1);
	fake_device_options(0, (struct fake_device_options){.preferred_lanes = 1, .units = 4});
	harness_start_with(
		&h, 1, &(struct scheduler_config){.processors = 2, .clock_ns = fake_clock_now_ns});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &session)));
	(void)harness_kernel(&h, 0, "take");
	cr_assert(harness_settle(&h));
	memset(&grants, 0, sizeof(grants));
	memset(&claims, 0, sizeof(claims));
}

TestSuite(sched_grant, .timeout = 60, .init = setup_grant);

static _Atomic uint32_t *granted(void)
{
	return &grants.granted[share_slot(FAKE, 0)];
}

static struct share_claim *claim(void)
{
	return &claims.slots[share_slot(FAKE, 0)];
}

static void finish_grant(void)
{
	scheduler_divide(h.scheduler, NULL, NULL);
	cr_assert(harness_settle(&h));
	session = sched_account_drop(session);
	const char *left = harness_stop(&h);
	fake_clock(0, 0);
	cr_assert(left == NULL, "%s", left);
}

static uint32_t submit_to;

static void submit_takes(uint32_t us, uint32_t count)
{
	h.account = session;
	for (uint32_t i = 0; i < count; i++) {
		struct launch launch = {.device = submit_to,
					.kernel = "take",
					.has_value = true,
					.value = us * US,
					.items = us,
					.home_lane = 1};
		(void)harness_launch(&h, &launch, &probes[i]);
	}
	h.account = NULL;
	scheduler_flush(h.scheduler);
}

/* Runs until all commands have ended. While none can run, the clock advances to the time when one
 * may. Returns how long all took. */
static uint64_t run_until_idle(void)
{
	uint64_t begun_ns = fake_clock_now_ns();
	while (!scheduler_idle(h.scheduler)) {
		harness_turn(&h);
		uint64_t again_ns = scheduler_again_ns(h.scheduler);
		if (atomic_load(&claim()->running) == 0 &&
		    harness_counters(&h).fair_queue_waiting > 0 && again_ns > fake_clock_now_ns())
			fake_clock(again_ns, 1);
	}
	return fake_clock_now_ns() - begun_ns;
}

Test(sched_grant, who_is_granted_a_quarter_takes_four_times_as_long)
{
	atomic_store(granted(), 250);
	scheduler_divide(h.scheduler, &grants, &claims);
	submit_takes(100, MANY);
	uint64_t took_ns = run_until_idle();
	cr_expect(ge(u64, took_ns, 72ull * MS), "%lu", took_ns);
	cr_expect(le(u64, took_ns, 88ull * MS), "%lu", took_ns);
	cr_expect(eq(u64, harness_counters(&h).fair_queue_bypassed, 0), "though it is alone here");
	finish_grant();
}

Test(sched_grant, what_is_used_and_wanted_is_claimed)
{
	atomic_store(granted(), SHARE_WHOLE);
	scheduler_divide(h.scheduler, &grants, &claims);
	cr_expect(zero(u32, atomic_load(&claims.devices[FAKE])));
	fake_device_gate_close(0);
	submit_takes(100, 20);
	cr_expect(eq(u32, atomic_load(&claims.devices[FAKE]), 1));
	cr_expect(gt(u64, atomic_load(&claim()->busy_since_ns), 0));
	cr_expect(gt(u32, atomic_load(&claim()->running), 0));
	cr_expect(le(u64, scheduler_again_ns(h.scheduler), fake_clock_now_ns() + SHARE_BEAT_NS));
	uint64_t beat = atomic_load(&claims.beat);
	harness_turn(&h);
	cr_expect(ne(u64, atomic_load(&claims.beat), beat));
	fake_device_gate_open(0);
	(void)run_until_idle();
	cr_expect(zero(u64, atomic_load(&claim()->busy_since_ns)));
	cr_expect(zero(u32, atomic_load(&claim()->running)));
	uint64_t used_ns = atomic_load(&claim()->used_ns), busy_ns = atomic_load(&claim()->busy_ns);
	cr_expect(ge(u64, used_ns, 1900ull * US), "%lu", used_ns);
	cr_expect(le(u64, used_ns, 2100ull * US), "%lu", used_ns);
	/* The clock of the front thread's turns is used. The device may have done the last part of
	 * it since the last turn began. */
	cr_expect(ge(u64, busy_ns, 900ull * US), "%lu", busy_ns);
	cr_expect(eq(u64, scheduler_again_ns(h.scheduler), UINT64_MAX));
	finish_grant();
}

Test(sched_grant, nothing_goes_where_nothing_is_granted_and_all_of_it_when_something_is)
{
	scheduler_divide(h.scheduler, &grants, &claims);
	submit_takes(100, 20);
	for (int i = 0; i < 5; i++) {
		cr_expect(zero(u32, atomic_load(&claim()->running)));
		cr_assert(le(u64, scheduler_again_ns(h.scheduler), fake_clock_now_ns() + 3 * MS));
		fake_clock(scheduler_again_ns(h.scheduler), 1);
		harness_turn(&h);
	}
	cr_expect(eq(u32, harness_counters(&h).fair_queue_waiting, 20));
	atomic_store(granted(), SHARE_WHOLE);
	(void)run_until_idle();
	cr_expect(eq(u64, harness_counters(&h).fair_queue_admitted, 20));
	finish_grant();
}

Test(sched_grant, somebody_is_asked_to_look_once_each_time)
{
	atomic_store(granted(), SHARE_WHOLE);
	scheduler_divide(h.scheduler, &grants, &claims);
	cr_expect(not(scheduler_wants_watch(h.scheduler, &watched)));
	fake_device_gate_close(0);
	submit_takes(100, 1);
	cr_expect(scheduler_wants_watch(h.scheduler, &watched));
	cr_expect(not(scheduler_wants_watch(h.scheduler, &watched)));
	atomic_store(&grants.watch, 1);
	cr_expect(not(scheduler_wants_watch(h.scheduler, &watched)));
	atomic_store(&grants.watch, 2);
	cr_expect(scheduler_wants_watch(h.scheduler, &watched));
	cr_expect(eq(u32, watched, 2));
	cr_expect(not(scheduler_wants_watch(h.scheduler, &watched)));
	fake_device_gate_open(0);
	(void)run_until_idle();
	finish_grant();
}

/* `watch`: even: there are no answers; odd: the supervisor does not read any more. */
static void expect_free_in_the_end(uint32_t watch)
{
	atomic_store(&grants.watch, watch);
	atomic_store(&grants.beat_ns, fake_clock_now_ns());
	scheduler_divide(h.scheduler, &grants, &claims);
	submit_takes(100, 20);
	(void)scheduler_wants_watch(h.scheduler, &watched);
	uint64_t begun_ns = fake_clock_now_ns();
	fake_clock(begun_ns + SHARE_ALONE_NS / 2, 1);
	harness_turn(&h);
	cr_expect(eq(u32, harness_counters(&h).fair_queue_waiting, 20));
	fake_clock(begun_ns + SHARE_ALONE_NS + MS, 1);
	(void)run_until_idle();
	finish_grant();
}

Test(sched_grant, who_does_not_look_any_more_keeps_nobody_from_anything)
{
	expect_free_in_the_end(1);
}

Test(sched_grant, who_does_not_answer_keeps_nobody_from_anything)
{
	expect_free_in_the_end(2);
}

Test(sched_grant, without_pages_all_is_as_it_was)
{
	submit_takes(100, 20);
	(void)run_until_idle();
	cr_expect(eq(u64, harness_counters(&h).fair_queue_bypassed, 20));
	scheduler_divide(h.scheduler, &grants, &claims);
	submit_takes(100, 20);
	cr_expect(eq(u32, harness_counters(&h).fair_queue_waiting, 20));
	scheduler_divide(h.scheduler, NULL, NULL);
	(void)run_until_idle();
	cr_expect(zero(u32, harness_counters(&h).fair_queue_waiting));
	finish_grant();
}

/* A part has the grant of its whole device. Its use is claimed for the whole, by the number of its
 * compute units. */
Test(sched_grant, J2_a_sub_device_is_granted_and_claims_as_a_part_of_the_whole)
{
	struct scheduler_device *part = NULL;
	struct backend_fault fault;
	uint32_t units = 1, count = 0;
	const struct backend_division division = {
		.partition = BACKEND_PARTITION_BY_COUNTS, .counts = &units, .count = 1};
	cr_assert(zero(int, scheduler_sub_devices_create(h.scheduler, 0, &division, 1, &part,
							 &count, &fault)));
	h.devices[1] = part;
	(void)harness_kernel(&h, 1, "take");
	cr_assert(harness_settle(&h));
	atomic_store(granted(), 250);
	scheduler_divide(h.scheduler, &grants, &claims);
	submit_to = 1;
	submit_takes(100, MANY);
	cr_expect(gt(u32, atomic_load(&claim()->running), 0));
	cr_expect(gt(u64, atomic_load(&claim()->busy_since_ns), 0));
	uint64_t took_ns = run_until_idle();
	cr_expect(ge(u64, took_ns, 72ull * MS), "%lu", took_ns);
	cr_expect(le(u64, took_ns, 88ull * MS), "%lu", took_ns);
	cr_expect(zero(u32, atomic_load(&claim()->running)));
	cr_expect(zero(u64, atomic_load(&claim()->busy_since_ns)));
	/* MANY commands of 100 us on one of four units. */
	uint64_t used_ns = atomic_load(&claim()->used_ns);
	cr_expect(ge(u64, used_ns, 4500ull * US), "%lu", used_ns);
	cr_expect(le(u64, used_ns, 5500ull * US), "%lu", used_ns);
	submit_to = 0;
	scheduler_device_release(part);
	finish_grant();
}
