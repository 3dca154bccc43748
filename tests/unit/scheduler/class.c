/* Lanes of the latency class: which commands go there, when they are made, and the effect of a
 * change of a session's class. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "scheduler/state/device.h"

#include "access_mode.h"
#include "fair_queue/fair_queue.h"
#include "spin_pace.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

enum { LANES = 4, LANE_DEPTH = 96, MANY = 600, TRIES = 100000, LOG = 4096 };
enum { GATE_FLOOD = 1, GATE_QUICK = 2 };

static struct harness h;
static struct sched_account *flood, *quick;
static struct probe probes[MANY], asked;
static struct fake_log_entry entries[LOG];

static void rank(struct sched_account *session, enum fair_queue_class class)
{
	cr_assert(zero(int, sched_account_rank(session, class, FAIR_QUEUE_WEIGHT)));
}

static void setup_class_with(uint32_t lanes, uint32_t features, uint32_t processors)
{
	fake_device_options(
		0, (struct fake_device_options){.preferred_lanes = lanes, .features = features});
	harness_start_with(&h, 1,
			   &(struct scheduler_config){.processors = processors,
						      .never_fair_queue = true,
						      .never_window = true});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &flood)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &quick)));
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "noop");
	cr_assert(harness_settle(&h));
	cr_assert(zero(int, fake_log_start(LOG)));
}

static void setup_class(void)
{
	setup_class_with(LANES, 0, 2);
}

static void class_setup_one_lane(void)
{
	setup_class_with(1, 0, 2);
}

static void class_setup_inline(void)
{
	setup_class_with(LANES, BACKEND_FEATURE_INLINE, 2);
}

static void setup_beside(void)
{
	setup_class_with(LANES, BACKEND_FEATURE_BESIDE, 2);
}

static void setup_many_processors(void)
{
	setup_class_with(LANES, 0, SPIN_PACE_AMPLE_PROCESSORS);
}

TestSuite(class_lanes, .timeout = 60, .init = setup_class);
TestSuite(class_one_lane, .timeout = 60, .init = class_setup_one_lane);
TestSuite(class_inline, .timeout = 60, .init = class_setup_inline);
TestSuite(class_beside, .timeout = 60, .init = setup_beside);
TestSuite(class_many_processors, .timeout = 60, .init = setup_many_processors);

static void finish_class(void)
{
	fake_gate_open(GATE_FLOOD);
	fake_gate_open(GATE_QUICK);
	cr_assert(harness_settle(&h));
	flood = sched_account_drop(flood);
	quick = sched_account_drop(quick);
	harness_expect_stopped(&h);
}

static struct task *class_submit_as(struct sched_account *session, const struct launch *launch,
				    struct probe *probe)
{
	struct launch own = *launch;
	own.shares_home = true;
	h.account = session;
	struct task *task = harness_launch(&h, &own, probe);
	h.account = NULL;
	return task;
}

/* A command that ends when the gate is opened. */
static struct task *class_hold_gate(struct sched_account *session, uint32_t gate,
				    uint32_t home_lane, struct probe *probe)
{
	return class_submit_as(session,
			       &(struct launch){.kernel = "hold",
						.has_value = true,
						.value = gate,
						.items = 1,
						.home_lane = home_lane},
			       probe);
}

static void run_as(struct sched_account *session, const struct launch *launch)
{
	(void)class_submit_as(session, launch, &asked);
	cr_assert(harness_wait(&h, &asked));
	cr_assert(zero(i32, asked.fault.status), "%s", asked.fault.text);
}

static uint32_t lanes_made(void)
{
	struct fake_counters counters;
	fake_counters(0, &counters);
	return counters.lanes;
}

/* Returns how many commands of that function ended on lanes of that kind. */
static uint32_t count_on(const char *what, enum backend_lane_kind kind)
{
	uint32_t count = 0, all = fake_log_read(entries, LOG);
	cr_assert(lt(u32, all, LOG));
	for (uint32_t i = 0; i < all; i++)
		count += strcmp(entries[i].what, what) == 0 && entries[i].lane_kind == kind;
	return count;
}

Test(class_lanes, without_a_latency_session_there_are_no_more_lanes)
{
	rank(flood, FAIR_QUEUE_BEST_EFFORT);
	for (uint32_t i = 0; i < 64; i++)
		run_as(i % 2 ? flood : quick,
		       &(struct launch){.kernel = "noop", .home_lane = i % 9});
	cr_expect(le(u32, lanes_made(), LANES));
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_COMPUTE), 64));
	finish_class();
}

/* The class of the session at its beginning does not matter. */
Test(class_many_processors, TG9_threads_look_for_longer_while_somebody_is_of_the_latency_class)
{
	scheduler_set_clients(h.scheduler, 100);
	run_as(quick, &(struct launch){.kernel = "noop", .home_lane = 1});
	cr_expect(eq(u64, scheduler_client_spin_most_ns(h.scheduler), SPIN_PACE_MAX_NS));
	rank(quick, FAIR_QUEUE_LATENCY);
	cr_expect(eq(u64, scheduler_client_spin_most_ns(h.scheduler), SPIN_PACE_AMPLE_MAX_NS));
	rank(quick, FAIR_QUEUE_NORMAL);
	cr_expect(eq(u64, scheduler_client_spin_most_ns(h.scheduler), SPIN_PACE_MAX_NS));
	finish_class();
}

Test(class_many_processors, TR3_threads_spin_for_longer_while_there_are_processors_for_all)
{
	run_as(quick, &(struct launch){.kernel = "noop", .home_lane = 1});
	scheduler_set_clients(h.scheduler, 2);
	cr_expect(eq(u64, scheduler_client_spin_most_ns(h.scheduler), SPIN_PACE_AMPLE_MAX_NS));
	scheduler_set_clients(h.scheduler, SPIN_PACE_AMPLE_PROCESSORS);
	cr_expect(eq(u64, scheduler_client_spin_most_ns(h.scheduler), SPIN_PACE_MAX_NS));
	finish_class();
}

Test(class_many_processors, TR5_the_engines_threads_spin_also_while_many_clients_sleep)
{
	run_as(quick, &(struct launch){.kernel = "noop", .home_lane = 1});
	scheduler_set_clients(h.scheduler, 100);
	cr_expect(eq(u64, scheduler_spin_most_ns(h.scheduler), SPIN_PACE_AMPLE_MAX_NS));
	finish_class();
}

Test(class_lanes, the_latency_class_has_lanes_of_its_own_and_no_more_than_its_queues)
{
	rank(quick, FAIR_QUEUE_LATENCY);
	for (uint32_t i = 0; i < 64; i++)
		run_as(quick, &(struct launch){.kernel = "noop", .home_lane = 2});
	cr_expect(eq(u32, lanes_made(), 1));
	for (uint32_t i = 0; i < 64; i++)
		run_as(quick, &(struct launch){.kernel = "noop", .home_lane = 1 + i});
	cr_expect(eq(u32, lanes_made(), LANES));
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_LATENCY), 128));
	run_as(flood, &(struct launch){.kernel = "noop"});
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_COMPUTE), 1));
	finish_class();
}

Test(class_one_lane, TC8_a_latency_session_is_not_behind_the_others_in_a_full_lane)
{
	rank(quick, FAIR_QUEUE_LATENCY);
	for (uint32_t i = 0; i < MANY; i++)
		(void)class_hold_gate(flood, GATE_FLOOD, i % 2, &probes[i]);
	cr_assert(eq(u32, harness_count_sent(&h), LANE_DEPTH));
	for (uint32_t i = 0; i < 200; i++)
		run_as(quick, &(struct launch){.kernel = "noop", .home_lane = i % 3});
	cr_expect(eq(u32, harness_count_sent(&h), LANE_DEPTH));
	finish_class();
}

/* Best effort neither waits in others' lanes nor do others in its own, where the device has such.
 */
Test(class_beside, TR6_best_effort_has_lanes_of_its_own_beside_other_classes)
{
	rank(flood, FAIR_QUEUE_BEST_EFFORT);
	for (uint32_t i = 0; i < MANY; i++)
		(void)class_hold_gate(flood, GATE_FLOOD, i % (LANES + 1), &probes[i]);
	cr_assert(eq(u32, harness_count_sent(&h), LANES * LANE_DEPTH));
	for (uint32_t i = 0; i < 200; i++)
		run_as(quick, &(struct launch){.kernel = "noop", .home_lane = i % (LANES + 1)});
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_COMPUTE), 200));
	cr_expect(eq(u32, harness_count_sent(&h), LANES * LANE_DEPTH));
	fake_gate_open(GATE_FLOOD);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, count_on("hold", BACKEND_LANE_BESIDE), MANY));

	/* A session of another class leaves these lanes. */
	rank(flood, FAIR_QUEUE_NORMAL);
	run_as(flood, &(struct launch){.kernel = "noop", .home_lane = 1});
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_COMPUTE), 201));
	finish_class();
}

/* Commands that wait for room go to the lanes of the new class; sent commands stay. */
Test(class_one_lane, what_is_not_sent_yet_goes_by_the_new_class)
{
	for (uint32_t i = 0; i < LANE_DEPTH; i++)
		(void)class_hold_gate(flood, GATE_FLOOD, 1, &probes[i]);
	const struct launch any = {.kernel = "noop"}, at_home = {.kernel = "noop", .home_lane = 1};
	struct probe first, second;
	(void)class_submit_as(quick, &any, &first);
	(void)class_submit_as(quick, &at_home, &second);
	harness_turn(&h);
	cr_assert(not(first.done));
	cr_assert(not(second.done));
	rank(quick, FAIR_QUEUE_LATENCY);
	cr_assert(harness_wait(&h, &first));
	cr_assert(harness_wait(&h, &second));
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_LATENCY), 2));

	/* And back: into the full lane, behind the others. */
	for (uint32_t i = LANE_DEPTH; i < 2 * LANE_DEPTH; i++)
		(void)class_hold_gate(quick, GATE_QUICK, 1, &probes[i]);
	(void)class_submit_as(quick, &any, &first);
	rank(quick, FAIR_QUEUE_NORMAL);
	fake_gate_open(GATE_QUICK);
	for (uint32_t i = LANE_DEPTH; i < 2 * LANE_DEPTH; i++)
		cr_assert(harness_wait(&h, &probes[i]));
	cr_expect(not(first.done));
	fake_gate_open(GATE_FLOOD);
	cr_assert(harness_wait(&h, &first));
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_COMPUTE), 1));
	cr_expect(eq(u32, count_on("hold", BACKEND_LANE_LATENCY), LANE_DEPTH));
	finish_class();
}

/* An in-order queue's commands come behind each other, however the session's class changes
 * meanwhile. */
Test(class_lanes, F1_a_queue_keeps_its_order_while_the_class_changes)
{
	struct task *last = NULL;
	for (uint32_t i = 0; i < MANY; i++) {
		rank(quick, i / 7 % FAIR_QUEUE_CLASSES);
		struct launch launch = {.kernel = "noop",
					.home_lane = 2,
					.after = &last,
					.after_count = last ? 1 : 0};
		last = class_submit_as(quick, &launch, &probes[i]);
		if (i % 31 == 0)
			harness_turn(&h);
		if (probes[i].done)
			last = NULL;
	}
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < MANY; i++) {
		cr_assert(zero(i32, probes[i].fault.status), "%s", probes[i].fault.text);
		cr_assert(i == 0 || probes[i - 1].order < probes[i].order);
	}
	/* The log has the order of ends. There is one queue, so each command started when all
	 * before had ended. */
	uint32_t count = fake_log_read(entries, LOG), latency = 0;
	cr_assert(eq(u32, count, MANY));
	for (uint32_t i = 0; i < count; i++) {
		latency += entries[i].lane_kind == BACKEND_LANE_LATENCY;
		cr_assert(i == 0 || entries[i].start_order > entries[i - 1].end_order);
	}
	cr_expect(gt(u32, latency, MANY / 4));
	cr_expect(lt(u32, latency, MANY / 2));
	finish_class();
}

/* A lane that the application also uses is not replaced by another one, whatever the class is. */
Test(class_lanes, J4_a_lane_that_the_application_was_told_of_is_kept)
{
	rank(quick, FAIR_QUEUE_LATENCY);
	struct task_request request = {
		.device = h.devices[0],
		.what = "noop",
		.home_lane = 3,
		.home_is_fixed = true,
		.account = quick,
		.action = TASK_LAUNCH,
		.launch = {.kernel = harness_kernel(&h, 0, "noop"), .dimensions = 1, .global = {1}},
	};
	(void)harness_submit(&h, &request, &asked);
	cr_assert(harness_wait(&h, &asked));
	cr_expect(eq(u32, count_on("noop", BACKEND_LANE_COMPUTE), 1));
	finish_class();
}

static uint64_t launches_inline(void)
{
	struct scheduler_counters counters;
	scheduler_counters(h.scheduler, &counters);
	return counters.inline_launches;
}

static _Atomic uint64_t clock_now = 1000000000000;

static uint64_t read_clock(void)
{
	return atomic_load(&clock_now);
}

static void setup_quiet(void)
{
	fake_device_options(0,
			    (struct fake_device_options){.preferred_lanes = LANES,
							 .features = BACKEND_FEATURE_QUIET_LOAD});
	harness_start_with(&h, 1,
			   &(struct scheduler_config){.processors = 2,
						      .never_fair_queue = true,
						      .clock_ns = read_clock});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &flood)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &quick)));
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "noop");
	cr_assert(harness_settle(&h));
	cr_assert(zero(int, fake_log_start(LOG)));
}

TestSuite(class_told, .timeout = 60, .init = setup_quiet);

/* Waits until the device's thread has applied the change. */
static void expect_units(uint32_t units)
{
	while (scheduler_latency_units(h.devices[0]) != units)
		harness_turn(&h);
}

static struct fake_counters counters_now(void)
{
	struct fake_counters counters;
	fake_counters(0, &counters);
	return counters;
}

Test(class_told, a_device_is_told_of_the_latency_class_and_a_while_after_it_has_gone)
{
	const struct launch noop = {.kernel = "noop", .home_lane = 1};
	run_as(flood, &noop);
	cr_expect(eq(u64, counters_now().latency_tells, 0));
	cr_expect(eq(u64, scheduler_again_ns(h.scheduler), UINT64_MAX));
	rank(quick, FAIR_QUEUE_LATENCY);
	run_as(quick, &noop);
	expect_units(FAKE_LATENCY_UNITS);
	struct scheduler_counters counters;
	scheduler_counters(h.scheduler, &counters);
	cr_expect(eq(u32, counters.latency_units, FAKE_LATENCY_UNITS));

	/* The session ends and returns. The device is not notified, as long as the session is away
	 * for a short time. */
	for (int i = 0; i < 5; i++) {
		rank(quick, FAIR_QUEUE_NORMAL);
		uint64_t again_ns = scheduler_again_ns(h.scheduler);
		cr_assert(gt(u64, again_ns, read_clock()));
		cr_assert(lt(u64, again_ns, read_clock() + 60000000000));
		atomic_store(&clock_now, again_ns - 1);
		run_as(flood, &noop);
		rank(quick, FAIR_QUEUE_LATENCY);
		cr_assert(eq(u64, scheduler_again_ns(h.scheduler), UINT64_MAX));
	}
	cr_expect(eq(u64, counters_now().latency_tells, 1));

	/* Its session ends. */
	quick = sched_account_drop(quick);
	atomic_store(&clock_now, scheduler_again_ns(h.scheduler));
	expect_units(0);
	cr_expect(eq(u64, scheduler_again_ns(h.scheduler), UINT64_MAX));
	cr_expect(eq(u64, counters_now().latency_tells, 2));
	cr_expect(eq(u64, counters_now().quiet_misuses, 0));
	finish_class();
}

static uint32_t reasons_wanted(void)
{
	return atomic_load(&h.devices[0]->latency_wanted);
}

/* One that is alone has the whole device. */
Test(class_told, TR6_a_device_is_told_that_best_effort_has_company)
{
	const struct launch noop = {.kernel = "noop", .home_lane = 1};
	h.devices[0]->features |= BACKEND_FEATURE_BESIDE;
	rank(flood, FAIR_QUEUE_BEST_EFFORT);
	run_as(flood, &noop);
	cr_expect(zero(u32, reasons_wanted()));
	run_as(quick, &noop);
	cr_expect(eq(u32, reasons_wanted(), BACKEND_APART_BESIDE));
	rank(quick, FAIR_QUEUE_LATENCY);
	cr_expect(eq(u32, reasons_wanted(), BACKEND_APART_BESIDE | BACKEND_APART_LATENCY));
	rank(quick, FAIR_QUEUE_NORMAL);
	cr_expect(eq(u32, reasons_wanted(), BACKEND_APART_BESIDE | BACKEND_APART_LATENCY));
	atomic_store(&clock_now, scheduler_again_ns(h.scheduler));
	run_as(flood, &noop);
	cr_expect(eq(u32, reasons_wanted(), BACKEND_APART_BESIDE));
	quick = sched_account_drop(quick);
	atomic_store(&clock_now, scheduler_again_ns(h.scheduler));
	run_as(flood, &noop);
	cr_expect(zero(u32, reasons_wanted()));
	finish_class();
}

/* No session waits for the running command. */
Test(class_told, F8_it_is_done_when_nothing_runs)
{
	struct probe held;
	(void)class_hold_gate(flood, GATE_FLOOD, 1, &held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	rank(quick, FAIR_QUEUE_LATENCY);
	for (int i = 0; i < 200; i++)
		run_as(quick, &(struct launch){.kernel = "noop", .home_lane = 2});
	cr_expect(zero(u32, scheduler_latency_units(h.devices[0])));
	cr_expect(not(held.done));
	fake_gate_open(GATE_FLOOD);
	cr_assert(harness_wait(&h, &held));
	expect_units(FAKE_LATENCY_UNITS);
	cr_expect(eq(u64, counters_now().quiet_misuses, 0));
	finish_class();
}

/* Once the lane is made and the kernel was used before, the front thread sends by itself. */
Test(class_inline, launches_of_the_latency_class_are_sent_by_the_front)
{
	rank(quick, FAIR_QUEUE_LATENCY);
	uint64_t before = launches_inline();
	for (uint32_t i = 0; i < TRIES && launches_inline() < before + 50; i++)
		run_as(quick, &(struct launch){.kernel = "noop", .home_lane = 1, .items = 1});
	cr_expect(ge(u64, launches_inline(), before + 50));
	cr_expect(zero(u32, count_on("noop", BACKEND_LANE_COMPUTE)));
	finish_class();
}
