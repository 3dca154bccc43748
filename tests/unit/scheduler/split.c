/*
 * Long launches in parts: when, into how many, which commands run between, and that it is one task
 * for all others. The time is the fake device's clock: only the durations of its commands advance
 * it.
 */
#include "base/lane_limits.h"
#include "scheduler/state/device.h"
#include "scheduler/harness.h"
#include "scheduler/state/task.h"

#include "access_mode.h"
#include "fair_queue/fair_queue.h"
#include "base/split_plan.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US, SLICE_US = 500, LOG = 4096, LEAST = 2048, ITEMS = 16 * LEAST };

static struct harness h;
static struct sched_account *batch, *quick;
static struct probe probes[16], asked;
static struct fake_log_entry entries[LOG];

static bool has_no_gates;

static void setup_split_with(uint64_t slice_us, uint32_t features, uint32_t lanes)
{
	struct scheduler_config config = {
		.processors = 2, .clock_ns = fake_clock_now_ns, .slice_ns = slice_us * US};
	config.never_fair_queue = config.never_window = has_no_gates;
	fake_clock(1000 * MS, 1);
	fake_device_options(0, (struct fake_device_options){.preferred_lanes = lanes,
							    .features = features,
							    .estimates = true});
	harness_start_with(&h, 1, &config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &batch)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &quick)));
	cr_assert(zero(int, sched_account_rank(batch, FAIR_QUEUE_BEST_EFFORT, FAIR_QUEUE_WEIGHT)));
	cr_assert(zero(int, sched_account_rank(quick, FAIR_QUEUE_LATENCY, FAIR_QUEUE_WEIGHT)));
	(void)harness_kernel(&h, 0, "take");
	(void)harness_kernel(&h, 0, "take_increment_u32");
	(void)harness_kernel(&h, 0, "linear_id_u32");
	(void)harness_kernel(&h, 0, "increment_u32");
	(void)harness_kernel(&h, 0, "noop");
	(void)harness_kernel(&h, 0, "lose_device");
	cr_assert(harness_settle(&h));
	cr_assert(zero(int, fake_log_start(LOG)));
}

static void setup_split(void)
{
	setup_split_with(SLICE_US, 0, 4);
}

TestSuite(split_plan, .timeout = 10);
TestSuite(split, .timeout = 60, .init = setup_split);
TestSuite(split_set_up, .timeout = 60);

static void finish_split(void)
{
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	batch = sched_account_drop(batch);
	quick = sched_account_drop(quick);
	const char *left = harness_stop(&h);
	fake_clock(0, 0);
	cr_assert(left == NULL, "%s", left);
}

static struct task *split_submit_as(struct sched_account *session, const struct launch *launch,
				    struct probe *probe)
{
	h.account = session;
	struct task *task = harness_launch(&h, launch, probe);
	h.account = NULL;
	return task;
}

static struct launch long_launch(uint32_t us)
{
	return (struct launch){.device = 0,
			       .kernel = "take",
			       .has_value = true,
			       .value = us * US,
			       .items = ITEMS,
			       .home_lane = 1,
			       .shares_home = true,
			       .splittable = true};
}

/* A session of the latency class is open and has used the device. */
static void split_use_device_in_latency_class(void)
{
	struct launch launch = {.device = 0, .kernel = "noop", .items = 1};
	(void)split_submit_as(quick, &launch, &asked);
	cr_assert(harness_settle(&h));
}

/* From now on there is an estimate for such a launch. */
static void teach(const struct launch *launch)
{
	struct probe probe;
	(void)split_submit_as(batch, launch, &probe);
	cr_assert(harness_settle(&h));
	cr_assert(eq(i32, probe.outcome.fault.status, STATUS_SUCCESS), "%s",
		  probe.outcome.fault.text);
}

/* Reads the entries of the log with that function; the last ones, as many as `room`. */
static uint32_t logged(const char *what, struct fake_log_entry *found, uint32_t room)
{
	uint32_t count = fake_log_read(entries, LOG), sum = 0;
	for (uint32_t i = 0; i < count && i < LOG; i++)
		if (strcmp(entries[i].what, what) == 0 && sum++ < room)
			found[sum - 1] = entries[i];
	return sum;
}

/* ------------------------------------ into how many ------------------------------------- */

static uint32_t parts_of(uint64_t predicted_us, uint64_t slice_us, uint64_t groups, uint64_t items,
			 uint64_t least)
{
	return split_plan(
		&(struct split_facts){predicted_us * US, slice_us * US, groups, items, least});
}

Test(split_plan, as_many_slices_as_it_takes)
{
	cr_expect(eq(u32, parts_of(5000, 500, 1000, 1000000, 1000), 10));
	cr_expect(eq(u32, parts_of(5001, 500, 1000, 1000000, 1000), 11));
	cr_expect(eq(u32, parts_of(501, 500, 1000, 1000000, 1000), 2));
	cr_expect(eq(u32, parts_of(500, 500, 1000, 1000000, 1000), 1), "no longer than a slice");
	cr_expect(eq(u32, parts_of(0, 500, 1000, 1000000, 1000), 1), "nothing is known");
	cr_expect(eq(u32, parts_of(5000, 0, 1000, 1000000, 1000), 1), "switched off");
}

Test(split_plan, no_more_than_there_are_groups_or_fill_the_device)
{
	cr_expect(eq(u32, parts_of(5000, 500, 3, 1000000, 1000), 3));
	cr_expect(eq(u32, parts_of(5000, 500, 1, 1000000, 1000), 1));
	cr_expect(eq(u32, parts_of(5000, 500, 1000, 4999, 1000), 4));
	cr_expect(eq(u32, parts_of(5000, 500, 1000, 999, 1000), 1));
	cr_expect(eq(u32, parts_of(5000, 500, 1000, 999, 0), 10));
	cr_expect(eq(u32,
		     split_plan(&(struct split_facts){UINT64_MAX, 1, UINT64_MAX, UINT64_MAX, 1}),
		     SPLIT_PARTS_MAX));
}

Test(split_plan, parts_of_any_number_are_all_of_it_and_do_not_overlap)
{
	static const uint64_t numbers[] = {0, 1, 2, 7, 1009, 65537, UINT32_MAX, UINT64_MAX};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (uint32_t of = 1; of < 40; of++) {
			uint64_t at = 0;
			for (uint32_t part = 0; part < of; part++) {
				cr_assert(eq(u64, backend_part_at(numbers[i], part, of), at));
				at = backend_part_at(numbers[i], part + 1, of);
				cr_assert(ge(u64, at, backend_part_at(numbers[i], part, of)));
			}
			cr_assert(eq(u64, at, numbers[i]));
		}
}

/* ----------------------------------------- when ----------------------------------------- */

/* Sends one such launch after similar ones. Returns the number of its parts. */
static uint32_t parts_when_known(const struct launch *launch)
{
	teach(launch);
	uint64_t before = harness_counters(&h).split_parts;
	(void)split_submit_as(batch, launch, &probes[0]);
	cr_assert(harness_settle(&h));
	cr_assert(eq(i32, probes[0].outcome.fault.status, STATUS_SUCCESS), "%s",
		  probes[0].outcome.fault.text);
	return (uint32_t)(harness_counters(&h).split_parts - before);
}

Test(split, F8_a_long_launch_of_the_class_best_effort_beside_another_session)
{
	struct launch launch = long_launch(4900);
	split_use_device_in_latency_class();
	cr_expect(eq(u32, parts_when_known(&launch), 10));
	cr_expect(eq(u64, harness_counters(&h).splits, 1));
	finish_split();
}

Test(split, what_takes_no_longer_than_a_slice_is_sent_whole)
{
	struct launch launch = long_launch(SLICE_US / 2);
	split_use_device_in_latency_class();
	cr_expect(zero(u32, parts_when_known(&launch)));
	finish_split();
}

Test(split, without_the_programs_word_nothing_is_split)
{
	struct launch launch = long_launch(4900);
	launch.splittable = false;
	split_use_device_in_latency_class();
	cr_expect(zero(u32, parts_when_known(&launch)));
	finish_split();
}

Test(split, a_session_that_is_alone_is_not_split)
{
	struct launch launch = long_launch(4900);
	cr_expect(zero(u32, parts_when_known(&launch)));
	finish_split();
}

Test(split, other_classes_are_not_split)
{
	struct launch launch = long_launch(4900);
	split_use_device_in_latency_class();
	cr_assert(zero(int, sched_account_rank(batch, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT)));
	cr_expect(zero(u32, parts_when_known(&launch)));
	finish_split();
}

Test(split, launches_with_properties_and_bursts_are_not_split)
{
	const struct backend_launch_properties clusters = {.cluster = {2, 1, 1}};
	struct launch launch = long_launch(4900);
	finish_split();
	setup_split_with(SLICE_US, BACKEND_FEATURE_CLUSTER, 4);
	split_use_device_in_latency_class();
	launch.properties = &clusters;
	cr_expect(zero(u32, parts_when_known(&launch)));
	launch.properties = NULL;
	launch.burst = 2;
	launch.values = (const uint32_t[]){4900 * US};
	cr_expect(zero(u32, parts_when_known(&launch)));
	finish_split();
}

Test(split_set_up, a_slice_of_0_switches_it_off)
{
	struct launch launch = long_launch(4900);
	setup_split_with(0, 0, 4);
	split_use_device_in_latency_class();
	cr_expect(zero(u32, parts_when_known(&launch)));
	finish_split();
}

/* ----------------------- commands between parts, and after them ------------------------ */

static uint64_t order_of(const struct fake_log_entry *entry)
{
	return entry->start_order;
}

Test(split, F8_a_latency_sessions_command_begins_between_two_parts)
{
	struct launch launch = long_launch(4900),
		      other = {.device = 0, .kernel = "increment_u32", .splittable = false};
	struct words words;
	struct fake_log_entry parts[32], between[4];
	harness_words(&h, &words, 16, true, 0);
	struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	other.uses = &use;
	other.use_count = 1;
	split_use_device_in_latency_class();
	teach(&launch);
	/* Its buffer is on the device from now on, so the launch is one command without
	 * predecessors. */
	(void)split_submit_as(quick, &other, &asked);
	cr_assert(harness_settle(&h));
	uint32_t before = logged("take", parts, 32);
	fake_device_gate_close(0);
	(void)split_submit_as(batch, &launch, &probes[0]);
	(void)split_submit_as(quick, &other, &asked);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	uint32_t count = logged("take", parts, 32) - before;
	cr_assert(eq(u32, count, 10));
	cr_assert(eq(u32, logged("increment_u32", between, 4), 2));
	cr_expect(lt(u64, order_of(&between[1]), order_of(&parts[before + 1])),
		  "after the first part at the latest");
	for (uint32_t i = 0; i < count; i++) {
		cr_expect(eq(u32, parts[before + i].part.first, i));
		cr_expect(eq(u32, parts[before + i].part.end, i + 1));
		cr_expect(eq(u32, parts[before + i].part.of, 10));
	}
	cr_expect(lt(u64, asked.order, probes[0].order));
	harness_words_free(&h, &words);
	finish_split();
}

/* When the second part comes to the lane, the command behind the first one has ended. */
Test(split, F8_a_part_leaves_nothing_of_the_one_before_in_its_lane)
{
	struct launch launch = long_launch(4900),
		      other = {.device = 0, .kernel = "noop", .home_lane = 1};
	split_use_device_in_latency_class();
	teach(&launch);
	fake_device_gate_close(0);
	const struct task *task = split_submit_as(batch, &launch, &probes[0]);
	(void)split_submit_as(quick, &other, &asked);
	cr_assert(ne(ptr, task->lane_next, NULL), "something is behind it");
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_assert(gt(u64, harness_counters(&h).split_parts, 1));
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++) {
		cr_expect(eq(ptr, h.devices[0]->lanes[i].first, NULL), "lane %u", i);
		cr_expect(eq(ptr, h.devices[0]->lanes[i].last, NULL), "lane %u", i);
	}
	finish_split();
}

/* It is not sent behind a part either, on any lane. */
Test(split, what_depends_on_it_begins_after_its_last_part)
{
	struct launch launch = long_launch(4900);
	struct words words;
	struct fake_log_entry parts[32], after[32];
	harness_words(&h, &words, ITEMS, true, 0);
	struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	launch.kernel = "take_increment_u32";
	launch.uses = &use;
	launch.use_count = 1;
	split_use_device_in_latency_class();
	teach(&launch);
	uint32_t before = logged("take_increment_u32", parts, 32);
	fake_device_gate_close(0);
	struct task *task = split_submit_as(batch, &launch, &probes[0]);
	struct launch next = {.device = 0, .kernel = "increment_u32", .uses = &use, .use_count = 1};
	struct launch behind = {
		.device = 0, .kernel = "noop", .items = 2, .after = &task, .after_count = 1};
	(void)split_submit_as(batch, &next, &probes[1]);
	(void)split_submit_as(quick, &behind, &probes[2]);
	(void)harness_host(&h, &words, ACCESS_MODE_READ, &probes[3]);
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &probes[3]));
	for (uint32_t i = 0; i < ITEMS; i++)
		cr_assert(eq(u32, words.host[i], i + 3));
	host_access_release(probes[3].task);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u32, logged("take_increment_u32", parts, 32) - before, 10));
	cr_assert(eq(u32, logged("increment_u32", after, 32), 1));
	cr_expect(gt(u64, order_of(&after[0]), order_of(&parts[before + 9])));
	uint32_t noops = logged("noop", after, 32);
	cr_expect(gt(u64, order_of(&after[noops - 1]), parts[before + 9].end_order - 1));
	harness_words_free(&h, &words);
	finish_split();
}

Test(split, what_comes_while_it_runs_waits_for_its_last_part)
{
	struct launch launch = long_launch(4900);
	struct fake_log_entry parts[32], after[8];
	struct words words;
	harness_words(&h, &words, ITEMS, true, 0);
	struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	launch.kernel = "take_increment_u32";
	launch.uses = &use;
	launch.use_count = 1;
	split_use_device_in_latency_class();
	teach(&launch);
	uint32_t before = logged("take_increment_u32", parts, 32);
	fake_device_gate_close(0);
	struct task *task = split_submit_as(batch, &launch, &probes[0]);
	for (uint32_t i = 0; i < 100; i++)
		harness_turn(&h);
	/* Its first part is on the device now. */
	struct launch next = {.device = 0,
			      .kernel = "increment_u32",
			      .uses = &use,
			      .use_count = 1,
			      .after = &task,
			      .after_count = 1};
	(void)split_submit_as(quick, &next, &asked);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u32, logged("take_increment_u32", parts, 32) - before, 10));
	cr_assert(eq(u32, logged("increment_u32", after, 8), 1));
	cr_expect(gt(u64, order_of(&after[0]), order_of(&parts[before + 9])));
	harness_words_free(&h, &words);
	finish_split();
}

/* All other sessions have ended: further parts have no benefit. */
Test(split, the_rest_goes_in_one_when_nobody_else_is_there)
{
	struct launch launch = long_launch(4900);
	struct fake_log_entry parts[32];
	split_use_device_in_latency_class();
	teach(&launch);
	uint32_t before = logged("take", parts, 32);
	fake_device_gate_close(0);
	(void)split_submit_as(batch, &launch, &probes[0]);
	for (uint32_t i = 0; i < 100; i++)
		harness_turn(&h);
	quick = sched_account_drop(quick);
	fake_clock(fake_clock_now_ns() + 1000 * MS, 1);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &quick)));
	cr_assert(eq(u32, logged("take", parts, 32) - before, 2));
	cr_expect(eq(u32, parts[before + 1].part.first, 1));
	cr_expect(eq(u32, parts[before + 1].part.end, 10));
	finish_split();
}

/* --------------------------------------- one task --------------------------------------- */

Test(split, H1_times_are_from_its_first_parts_start_to_its_last_ones_end)
{
	struct launch launch = long_launch(4900);
	struct launch other = {
		.device = 0, .kernel = "take", .has_value = true, .value = 100 * US, .items = 1};
	split_use_device_in_latency_class();
	teach(&launch);
	launch.timed = true;
	fake_device_gate_close(0);
	(void)split_submit_as(batch, &launch, &probes[0]);
	for (uint32_t i = 1; i < 4; i++)
		(void)split_submit_as(quick, &other, &probes[i]);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	const struct task_outcome *outcome = &probes[0].outcome;
	cr_expect(not(outcome->estimated));
	cr_expect(eq(u32, probes[0].calls, 1));
	cr_expect(ge(u64, outcome->end_ns - outcome->start_ns, 4900 * US));
	cr_expect(ge(u64, outcome->device_ns, 4900 * US - 300 * US));
	cr_expect(le(u64, outcome->device_ns, 4900 * US + 10 * US),
		  "what ran in between is not charged to it");
	finish_split();
}

static uint64_t most_ns;

static uint64_t most_of(void *context, uint64_t session)
{
	(void)context;
	return session == 7 ? most_ns : 0;
}

static bool is_overdue(uint64_t now_ns)
{
	struct scheduler_overdue overdue;
	return scheduler_overdue(h.scheduler, now_ns, most_of, NULL, &overdue);
}

/* The time between the parts does not count. Since the last part began no time has passed before
 * the first query. */
Test(split, its_deadline_is_of_all_its_parts)
{
	struct launch launch = long_launch(16 * 490);
	split_use_device_in_latency_class();
	teach(&launch);
	uint64_t before = harness_counters(&h).split_parts;
	launch.session = 7;
	launch.group = 1;
	(void)split_submit_as(batch, &launch, &probes[0]);
	while (harness_counters(&h).split_parts < before + 3)
		harness_turn(&h);
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < 100; i++)
		harness_turn(&h);
	uint64_t parts = harness_counters(&h).split_parts - before;
	cr_assert(lt(u64, parts, 16), "some are left");
	most_ns = (parts * 490 + 1000) * US;
	cr_expect(not(is_overdue(1000 * MS)));
	cr_expect(not(is_overdue(1000 * MS + 800 * US)));
	cr_expect(is_overdue(1000 * MS + 1200 * US));
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	finish_split();
}

Test(split, it_is_one_command_in_the_account)
{
	struct launch launch = long_launch(4900);
	struct sched_device_use use;
	split_use_device_in_latency_class();
	teach(&launch);
	(void)split_submit_as(batch, &launch, &probes[0]);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u64, harness_counters(&h).splits, 1));
	cr_assert(sched_account_use(batch, 0, &use));
	cr_expect(eq(u64, use.used->commands, 2));
	cr_expect(zero(u64, use.used->failed));
	cr_expect(ge(u64, use.used->device_ns, 9800 * US));
	cr_expect(eq(u64, harness_counters(&h).tasks_done, harness_counters(&h).tasks_submitted));
	finish_split();
}

Test(split, M9_a_part_that_fails_is_the_last)
{
	struct launch launch = long_launch(4900);
	struct fake_log_entry parts[32];
	struct sched_device_use use;
	struct words words;
	harness_words(&h, &words, ITEMS, true, 0);
	struct use write = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	launch.kernel = "take_increment_u32";
	launch.uses = &write;
	launch.use_count = 1;
	launch.session = 7;
	launch.group = 1;
	split_use_device_in_latency_class();
	teach(&launch);
	uint32_t before = logged("take_increment_u32", parts, 32);
	cr_assert(zero(
		int, fake_fail(FAKE_COMPLETION, 0, 3, 1, STATUS_KERNEL, false, "the fourth part")));
	fake_device_gate_close(0);
	struct task *task = split_submit_as(batch, &launch, &probes[0]);
	struct launch next = {
		.device = 0, .kernel = "noop", .items = 1, .after = &task, .after_count = 1};
	(void)split_submit_as(batch, &next, &probes[1]);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, logged("take_increment_u32", parts, 32) - before, 4));
	cr_expect(eq(u32, probes[0].calls, 1));
	cr_expect(eq(i32, probes[0].outcome.fault.status, STATUS_KERNEL));
	cr_expect(eq(str, probes[0].outcome.fault.text, "the fourth part"));
	cr_expect(eq(i32, probes[1].outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_assert(sched_account_use(batch, 0, &use));
	cr_expect(eq(u64, use.used->failed, 1));
	harness_words_free(&h, &words);
	finish_split();
}

Test(split, a_device_that_is_lost_between_two_parts_ends_it_once)
{
	struct launch launch = long_launch(4900),
		      loses = {.device = 0, .kernel = "lose_device", .items = 1};
	split_use_device_in_latency_class();
	teach(&launch);
	fake_device_gate_close(0);
	(void)split_submit_as(batch, &launch, &probes[0]);
	(void)split_submit_as(quick, &loses, &probes[1]);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, probes[0].calls, 1));
	cr_expect(eq(i32, probes[0].outcome.fault.status, STATUS_DEVICE_LOST));
	cr_expect(zero(u32, harness_counters(&h).tasks_open));
	cr_expect(zero(u32, harness_counters(&h).fair_queue_waiting));
	finish_split();
}

/* Only the task itself detects a failure between two parts. */
Test(split_set_up, M9_a_part_that_fails_is_the_last_where_there_are_no_gates)
{
	struct launch launch = long_launch(4900);
	struct fake_log_entry parts[32];
	has_no_gates = true;
	setup_split_with(SLICE_US, 0, 4);
	split_use_device_in_latency_class();
	teach(&launch);
	uint32_t before = logged("take", parts, 32);
	cr_assert(zero(
		int, fake_fail(FAKE_COMPLETION, 0, 3, 1, STATUS_KERNEL, false, "the fourth part")));
	(void)split_submit_as(batch, &launch, &probes[0]);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, logged("take", parts, 32) - before, 4));
	cr_expect(eq(u32, probes[0].calls, 1));
	cr_expect(eq(i32, probes[0].outcome.fault.status, STATUS_KERNEL));
	finish_split();
}

/* Its session has ended; its submitted work runs to the end. */
Test(split, a_session_may_end_in_the_middle)
{
	struct launch launch = long_launch(4900);
	split_use_device_in_latency_class();
	teach(&launch);
	fake_device_gate_close(0);
	(void)split_submit_as(batch, &launch, &probes[0]);
	batch = sched_account_drop(batch);
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_expect(eq(i32, probes[0].outcome.fault.status, STATUS_SUCCESS));
	cr_expect(eq(u64, harness_counters(&h).split_parts, 10));
	finish_split();
}

/* The ids of work-items are also right: every item runs once, each with its own. */
Test(split, E1_ids_are_those_of_the_whole_in_3_dimensions)
{
	const uint64_t global[3] = {127, 17, 31};
	struct words words;
	struct launch launch = {
		.device = 0, .kernel = "linear_id_u32", .global = global, .splittable = true};
	harness_words(&h, &words, 127 * 17 * 31, false, 0);
	struct use use = {.words = &words, .mode = ACCESS_MODE_WRITE};
	launch.uses = &use;
	launch.use_count = 1;
	fake_clock(fake_clock_now_ns(), 2 * MS); /* every command takes longer than a slice */
	split_use_device_in_latency_class();
	teach(&launch);
	(void)split_submit_as(batch, &launch, &probes[0]);
	(void)harness_host(&h, &words, ACCESS_MODE_READ, &probes[1]);
	cr_assert(harness_wait(&h, &probes[1]));
	for (uint32_t i = 0; i < words.count; i++)
		cr_assert(eq(u32, words.host[i], i));
	host_access_release(probes[1].task);
	cr_assert(harness_settle(&h));
	cr_expect(ge(u64, harness_counters(&h).split_parts, 2));
	harness_words_free(&h, &words);
	finish_split();
}
