/*
 * The order of sessions' commands to a device: classes, weights and the fair queue in the
 * scheduler. The time is the fake device's clock: only the durations of its commands advance it.
 */
#include "scheduler/harness.h"

#include "fair_queue/fair_queue.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, MANY = 3000, WINDOW_US = 500 };

static struct harness h;
static struct sched_account *first, *second;
static struct probe firsts[MANY], seconds[MANY], asked;

static void setup_admission_with(struct scheduler_config config, uint32_t features)
{
	fake_clock(1000 * 1000 * US, 1);
	fake_device_options(0, (struct fake_device_options){.preferred_lanes = 1,
							    .features = features,
							    .estimates = true});
	config.clock_ns = fake_clock_now_ns;
	harness_start_with(&h, 1, &config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &first)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &second)));
	(void)harness_kernel(&h, 0, "take");
	(void)harness_kernel(&h, 0, "take_and_fail");
	(void)harness_kernel(&h, 0, "fail");
	(void)harness_kernel(&h, 0, "lose_device");
	cr_assert(harness_settle(&h));
}

static void setup_admission(void)
{
	setup_admission_with((struct scheduler_config){.processors = 2}, 0);
}

TestSuite(admission, .timeout = 30, .init = setup_admission);

static void finish_admission(void)
{
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	first = sched_account_drop(first);
	second = sched_account_drop(second);
	const char *left = harness_stop(&h);
	fake_clock(0, 0);
	cr_assert(left == NULL, "%s", left);
}

/* Submits a command of that session that takes so long. Commands of one duration have one shape. */
static struct task *submit_after(struct sched_account *session, uint32_t us, struct task *after,
				 struct probe *probe)
{
	struct launch launch = {.device = 0,
				.kernel = "take",
				.has_value = true,
				.value = us * US,
				.items = us,
				.home_lane = 1,
				.after = &after,
				.after_count = after ? 1 : 0};
	h.account = session;
	struct task *task = harness_launch(&h, &launch, probe);
	h.account = NULL;
	return task;
}

static void submit_for(struct sched_account *session, uint32_t us, struct probe *probe)
{
	(void)submit_after(session, us, NULL, probe);
}

static void admission_submit_many(struct sched_account *session, uint32_t us, uint32_t count,
				  struct probe *probes)
{
	for (uint32_t i = 0; i < count; i++)
		submit_for(session, us, &probes[i]);
}

/* As in an in-order queue, each comes behind the one before. */
static void submit_chain(struct sched_account *session, uint32_t us, uint32_t count,
			 struct probe *probes)
{
	struct task *last = NULL;
	for (uint32_t i = 0; i < count; i++)
		last = submit_after(session, us, last, &probes[i]);
}

/* Both sessions have used the device, and their commands have estimates. */
static void admission_use_device_from_both(uint32_t first_us, uint32_t second_us)
{
	for (uint32_t i = 0; i < 8; i++) {
		submit_for(first, first_us, &asked);
		cr_assert(harness_settle(&h));
		submit_for(second, second_us, &asked);
		cr_assert(harness_settle(&h));
	}
}

static uint32_t count_before(const struct probe *probes, uint32_t count, uint64_t order)
{
	uint32_t before = 0;
	for (uint32_t i = 0; i < count; i++)
		before += probes[i].order < order;
	return before;
}

static void expect_all(const struct probe *probes, uint32_t count, int32_t status)
{
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(u32, probes[i].calls, 1), "command %u", i);
		cr_assert(eq(i32, probes[i].fault.status, status), "command %u: %s", i,
			  probes[i].fault.text);
	}
}

/* Returns the device time that the second session had while the first had its own, in permille of
 * the first's. The second needs all of it. */
static uint32_t part_of_second(uint32_t first_us, uint32_t first_count, uint32_t second_us,
			       uint32_t second_count)
{
	cr_assert(harness_settle(&h));
	uint64_t end = firsts[first_count - 1].order;
	uint32_t done = count_before(seconds, second_count, end);
	cr_assert(lt(u32, done, second_count), "the second had nothing more to say");
	expect_all(firsts, first_count, STATUS_SUCCESS);
	expect_all(seconds, second_count, STATUS_SUCCESS);
	return done * second_us * 1000 / (first_count * first_us);
}

Test(admission, who_is_alone_is_not_asked)
{
	admission_submit_many(first, 10, 500, firsts);
	cr_assert(harness_settle(&h));
	expect_all(firsts, 500, STATUS_SUCCESS);
	cr_expect(eq(u64, harness_counters(&h).fair_queue_bypassed, 500));
	cr_expect(zero(u64, harness_counters(&h).fair_queue_admitted));
	finish_admission();
}

Test(admission, TG11_weights_3_to_1_are_shares_of_the_devices_time)
{
	cr_assert(zero(int, sched_account_rank(first, FAIR_QUEUE_NORMAL, 300)));
	admission_use_device_from_both(100, 50);
	fake_device_gate_close(0);
	admission_submit_many(first, 100, 1500, firsts);
	admission_submit_many(second, 50, 2500, seconds);
	fake_device_gate_open(0);
	uint32_t part = part_of_second(100, 1500, 50, 2500);
	cr_expect(ge(u32, part, 300), "%u", part);
	cr_expect(le(u32, part, 366), "%u", part);
	cr_expect(gt(u64, harness_counters(&h).fair_queue_held, 3000));
	cr_expect(zero(u32, harness_counters(&h).fair_queue_waiting));
	finish_admission();
}

Test(admission, TG11_equal_weights_are_equal_times_whatever_the_commands_take)
{
	admission_use_device_from_both(200, 20);
	fake_device_gate_close(0);
	admission_submit_many(first, 200, 250, firsts);
	admission_submit_many(second, 20, MANY, seconds);
	fake_device_gate_open(0);
	uint32_t part = part_of_second(200, 250, 20, MANY);
	cr_expect(ge(u32, part, 900), "%u", part);
	cr_expect(le(u32, part, 1100), "%u", part);
	finish_admission();
}

/* The next command of an in-order queue can be sent, and enters the fair queue, when the one before
 * it has been sent. */
Test(admission, TG11_shares_hold_for_queues_in_order_of_which_one_command_waits_at_a_time)
{
	cr_assert(zero(int, sched_account_rank(first, FAIR_QUEUE_NORMAL, 300)));
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	submit_chain(first, 50, 1500, firsts);
	submit_chain(second, 50, 1500, seconds);
	fake_device_gate_open(0);
	uint32_t part = part_of_second(50, 1500, 50, 1500);
	cr_expect(ge(u32, part, 300), "%u", part);
	cr_expect(le(u32, part, 366), "%u", part);
	for (uint32_t i = 1; i < 1500; i++)
		cr_assert(gt(u64, firsts[i].order, firsts[i - 1].order));
	finish_admission();
}

/* This is long after the other session's last command. With full lanes it would wait for all of
 * them when it returns. */
Test(admission, TG11_who_is_alone_for_now_has_no_more_ahead_than_a_window)
{
	admission_use_device_from_both(200, 500);
	admission_submit_many(second, 500, 400, seconds);
	cr_assert(harness_settle(&h));
	uint64_t bypassed = harness_counters(&h).fair_queue_bypassed;
	fake_device_gate_close(0);
	submit_chain(second, 500, 60, firsts);
	cr_expect(ge(u64, harness_counters(&h).fair_queue_bypassed - bypassed, 1), "it is alone");
	cr_expect(le(u32, harness_count_sent(&h), 6), "%u", harness_count_sent(&h));
	cr_expect(ge(u32, harness_count_sent(&h), 3), "%u", harness_count_sent(&h));
	submit_for(first, 200, &asked);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_expect(le(u32, count_before(firsts, 60, asked.order), 6));
	expect_all(firsts, 60, STATUS_SUCCESS);
	expect_all(&asked, 1, STATUS_SUCCESS);
	finish_admission();
}

Test(admission, TG11_of_short_commands_who_is_alone_for_now_has_what_lanes_hold)
{
	admission_use_device_from_both(5, 5);
	admission_submit_many(second, 5, MANY, seconds);
	admission_submit_many(second, 500, 250, seconds);
	admission_submit_many(second, 5, MANY, seconds);
	cr_assert(harness_settle(&h));
	uint64_t admitted = harness_counters(&h).fair_queue_admitted;
	admission_submit_many(second, 5, MANY, seconds);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, harness_counters(&h).fair_queue_admitted, admitted));
	finish_admission();
}

Test(admission, TG9_a_latency_command_finds_a_narrow_window_of_others_before_it)
{
	cr_assert(zero(int, sched_account_rank(first, FAIR_QUEUE_BEST_EFFORT, 100)));
	cr_assert(zero(int, sched_account_rank(second, FAIR_QUEUE_LATENCY, 100)));
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	admission_submit_many(first, 50, 500, firsts);
	/* Commands of 100 us together, and none that begins beyond that. */
	cr_expect(eq(u32, harness_count_sent(&h), 2));
	submit_for(second, 50, &asked);
	cr_expect(eq(u32, harness_count_sent(&h), 3));
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_expect(le(u32, count_before(firsts, 500, asked.order), 2));
	finish_admission();
}

/* No command of that session was there for long, and it comes without warning. */
Test(admission, TG9_others_leave_room_for_a_latency_session_that_is_silent)
{
	cr_assert(zero(int, sched_account_rank(second, FAIR_QUEUE_LATENCY, 100)));
	admission_use_device_from_both(50, 50);
	submit_for(first, 900 * US, &asked);
	cr_assert(harness_settle(&h));
	fake_device_gate_close(0);
	admission_submit_many(first, 50, 500, firsts);
	cr_expect(eq(u32, harness_count_sent(&h), 2));
	finish_admission();
}

Test(admission, classes_below_have_their_least_part)
{
	cr_assert(zero(int, sched_account_rank(second, FAIR_QUEUE_BEST_EFFORT, 100)));
	admission_use_device_from_both(100, 50);
	fake_device_gate_close(0);
	admission_submit_many(first, 100, 2000, firsts);
	admission_submit_many(second, 50, 400, seconds);
	fake_device_gate_open(0);
	uint32_t part = part_of_second(100, 2000, 50, 400);
	cr_expect(ge(u32, part, 10), "%u", part);
	cr_expect(le(u32, part, 60), "%u", part);
	finish_admission();
}

/* A session of the same class. It waits for twenty commands of a flood of short ones, not for all
 * that fit a window. */
Test(admission, TC8_a_quiet_sessions_command_does_not_wait_until_a_flood_is_over)
{
	admission_use_device_from_both(1, 1);
	fake_device_gate_close(0);
	admission_submit_many(first, 1, 1000, firsts);
	uint32_t before = harness_count_sent(&h);
	cr_expect(le(u32, before, WINDOW_US / 25));
	submit_for(second, 1, &asked);
	submit_for(second, 1, &seconds[0]);
	cr_expect(eq(u32, harness_count_sent(&h), before + 2),
		  "at once, though the window is full");
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_expect(le(u32, count_before(firsts, 1000, seconds[0].order), before));
	finish_admission();
}

Test(admission, a_class_and_a_weight_change_for_what_waits)
{
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	admission_submit_many(first, 50, 500, firsts);
	admission_submit_many(second, 50, 500, seconds);
	cr_assert(zero(int, sched_account_rank(second, FAIR_QUEUE_LATENCY, 700)));
	cr_expect(eq(int, sched_account_rank(second, FAIR_QUEUE_CLASSES, 100), -EINVAL));
	cr_expect(eq(int, sched_account_rank(second, FAIR_QUEUE_NORMAL, 0), -EINVAL));
	cr_expect(eq(int, sched_account_rank(second, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT_MOST + 1),
		     -EINVAL));
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	/* The commands that were on the device already, and their smallest part. */
	cr_expect(le(u32, count_before(firsts, 500, seconds[499].order), WINDOW_US / 50 + 500 / 8));
	expect_all(firsts, 500, STATUS_SUCCESS);
	finish_admission();
}

/* Failing does not give a session more than its share. */
Test(admission, TG11_what_ran_and_failed_is_charged)
{
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	h.account = first;
	struct launch fails = {.device = 0,
			       .kernel = "take_and_fail",
			       .has_value = true,
			       .value = 50 * US,
			       .items = 50,
			       .home_lane = 1};
	for (uint32_t i = 0; i < 1000; i++)
		(void)harness_launch(&h, &fails, &firsts[i]);
	h.account = NULL;
	admission_submit_many(second, 50, 3000, seconds);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	uint32_t beside = count_before(seconds, 3000, firsts[999].order);
	cr_expect(ge(u32, beside, 800), "%u", beside);
	cr_expect(le(u32, beside, 1200), "%u", beside);
	expect_all(firsts, 1000, STATUS_KERNEL);
	expect_all(seconds, 3000, STATUS_SUCCESS);
	finish_admission();
}

/* Its predecessor is on the lane and fails while it waits. */
Test(admission, what_fails_at_the_gate_is_told_once)
{
	cr_assert(zero(int, sched_account_rank(second, FAIR_QUEUE_LATENCY, 100)));
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	h.account = first;
	struct launch fails = {.device = 0, .kernel = "fail", .items = 1, .home_lane = 1};
	struct task *failed = harness_launch(&h, &fails, &asked);
	h.account = NULL;
	struct task *last = submit_after(first, 50, failed, &firsts[0]);
	for (uint32_t i = 1; i < 300; i++)
		last = submit_after(first, 50, last, &firsts[i]);
	admission_submit_many(first, 50, 100, seconds);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	expect_all(firsts, 300, STATUS_DEPENDENCY_FAILED);
	expect_all(seconds, 100, STATUS_SUCCESS);
	cr_expect(zero(u32, harness_counters(&h).fair_queue_waiting));
	finish_admission();
}

Test(admission, a_lost_device_is_told_to_each_that_waits_at_its_gate_once)
{
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	h.account = first;
	struct launch loses = {.device = 0, .kernel = "lose_device", .items = 1, .home_lane = 1};
	(void)harness_launch(&h, &loses, &asked);
	h.account = NULL;
	admission_submit_many(first, 50, 1000, firsts);
	submit_chain(second, 50, 1000, seconds);
	cr_expect(gt(u32, harness_counters(&h).fair_queue_waiting, 100));
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	expect_all(firsts, 1000, STATUS_DEVICE_LOST);
	expect_all(seconds, 1000, STATUS_DEVICE_LOST);
	cr_expect(zero(u32, harness_counters(&h).fair_queue_waiting));
	finish_admission();
}

/* The session's submitted commands run. After that the account has nothing left. */
Test(admission, a_session_may_end_while_its_groups_wait)
{
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	admission_submit_many(second, 50, 500, seconds);
	admission_submit_many(first, 50, 500, firsts);
	second = sched_account_drop(second);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	expect_all(firsts, 500, STATUS_SUCCESS);
	expect_all(seconds, 500, STATUS_SUCCESS);
	finish_admission();
}

/* No command ends: those on the device wait for something outside. Others have their turn after a
 * while. */
Test(admission, what_is_overdue_holds_up_others_for_a_moment_only)
{
	admission_use_device_from_both(50, 50);
	fake_device_gate_close(0);
	admission_submit_many(first, 50, 500, firsts);
	uint32_t before = harness_count_sent(&h);
	cr_expect(lt(u64, scheduler_again_ns(h.scheduler), UINT64_MAX));
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t again = scheduler_again_ns(h.scheduler);
		fake_clock(again + 1, 1);
		harness_turn(&h);
	}
	cr_expect(gt(u32, harness_count_sent(&h), before));
	expect_all(firsts, 0, 0);
	finish_admission();
}

Test(admission, it_can_be_switched_off)
{
	finish_admission();
	setup_admission_with((struct scheduler_config){.processors = 2,
						       .never_fair_queue = true,
						       .never_window = true},
			     0);
	cr_assert(zero(int, sched_account_rank(second, FAIR_QUEUE_LATENCY, 100)));
	admission_use_device_from_both(50, 50);
	admission_submit_many(first, 50, 200, firsts);
	cr_assert(harness_settle(&h));
	cr_expect(zero(u64, harness_counters(&h).fair_queue_admitted));
	finish_admission();
}
