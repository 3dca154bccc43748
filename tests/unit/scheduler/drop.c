/*
 * A session that ends with work to be sent (N4): commands on a device end there, and no other
 * begins. Sessions that share anything with it get the failure as for any failed command. No test
 * measures time.
 */
#include "scheduler/drop_support.h"

#include "fair_queue/fair_queue.h"

enum { US = 1000, DEPTH = 96 };

TestSuite(drop, .timeout = 60, .init = drop_setup);
TestSuite(drop_set_up, .timeout = 60);

static uint32_t count_status(uint32_t count, int32_t status)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(u32, drop_test.probes[i].calls, 1), "command %u", i);
		sum += drop_test.probes[i].fault.status == status;
	}
	return sum;
}

/* --------------------------------- a queue full of work --------------------------------- */

/* A thousand commands of one lane; some are on the device. `chained`: each comes behind the one
 * before, as in an in-order queue. */
static void end_of_a_thousand(bool chained)
{
	struct task *last = NULL;
	for (uint32_t i = 0; i < DROP_MANY; i++) {
		struct launch launch = {.device = 0,
					.kernel = "hold",
					.has_value = true,
					.value = DROP_GATE,
					.items = 1,
					.home_lane = 1,
					.after = &last,
					.after_count = chained && last ? 1 : 0};
		last = drop_submit_as(drop_test.victim, &launch, &drop_test.probes[i]);
	}
	scheduler_flush(drop_test.h.scheduler);
	uint32_t sent = sched_account_sent(drop_test.victim);
	cr_assert(lt(u32, 0, sent));
	cr_assert(le(u32, sent, DEPTH));
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), DROP_MANY));
	cr_expect(zero(u32, drop_victim(SCHEDULER_DROP_ALL)), "a second time");
	/* The other session continues at once, beside the running commands. */
	(void)drop_submit_as(drop_test.other,
			     &(struct launch){.device = 0, .kernel = "noop", .home_lane = 2},
			     &drop_test.asked[0]);
	drop_expect_status(&drop_test.asked[0], STATUS_SUCCESS);
	cr_expect(eq(u32, harness_counters(&drop_test.h).fair_queue_waiting, 0));
	fake_gate_open(DROP_GATE);
	drop_expect_settled();
	uint32_t ran = drop_logged("hold");
	cr_expect(le(u32, ran, sent));
	cr_expect(eq(u32, count_status(DROP_MANY, STATUS_SUCCESS), ran));
	/* A task that names a failed one fails with its cause. */
	uint32_t lost = count_status(DROP_MANY, STATUS_CONNECTION_LOST),
		 behind = count_status(DROP_MANY, STATUS_DEPENDENCY_FAILED);
	cr_expect(eq(u32, lost + behind, DROP_MANY - ran));
	drop_finish();
}

Test(drop, N4_a_thousand_commands_of_which_some_wait_for_their_turn)
{
	(void)drop_submit_as(drop_test.other, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.asked[1]);
	end_of_a_thousand(false);
}

Test(drop, N4_a_thousand_commands_in_order)
{
	(void)drop_submit_as(drop_test.other, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.asked[1]);
	end_of_a_thousand(true);
}

Test(drop, N4_a_thousand_commands_of_who_is_alone)
{
	end_of_a_thousand(false);
}

Test(drop_set_up, N4_a_thousand_commands_that_wait_for_room)
{
	drop_setup_with(&(struct scheduler_config){.processors = 2, .never_fair_queue = true},
			&(struct fake_device_options){.preferred_lanes = 4});
	(void)drop_submit_as(drop_test.other, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.asked[1]);
	end_of_a_thousand(false);
}

/* The other session's command leaves the fair queue as soon as the one before it has left. */
Test(drop, N4_who_waited_behind_it_at_the_gate_goes_on)
{
	struct probe others[20];
	for (uint32_t i = 0; i < 300; i++)
		(void)drop_submit_as(
			i % 2 ? drop_test.other : drop_test.victim,
			&(struct launch){.device = 0, .kernel = "noop", .home_lane = 1},
			&drop_test.probes[i]);
	for (uint32_t i = 0; i < 20; i++)
		(void)drop_submit_as(
			drop_test.other,
			&(struct launch){.device = 0, .kernel = "noop", .home_lane = 2},
			&others[i]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	for (uint32_t i = 0; i < 20; i++)
		drop_expect_status(&others[i], STATUS_SUCCESS);
	drop_expect_settled();
	for (uint32_t i = 1; i < 300; i += 2)
		cr_expect(eq(i32, drop_test.probes[i].fault.status, STATUS_SUCCESS));
	drop_finish();
}

/* ---------------------------------- kinds of commands ----------------------------------- */

Test(drop, N4_a_burst_ends_as_a_whole)
{
	static const uint32_t values[] = {2, 3, 4};
	struct words words;
	harness_words(&drop_test.h, &words, DROP_WORDS, true, 0);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	struct task *before = drop_hold_as(drop_test.other, 1, NULL, 0, &drop_test.held);
	struct launch launch = {.device = 0,
				.kernel = "fill_u32",
				.uses = &use,
				.use_count = 1,
				.has_value = true,
				.value = 1,
				.burst = 4,
				.values = values,
				.after = &before,
				.after_count = 1};
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[0]);
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	fake_gate_open(DROP_GATE);
	cr_assert(harness_wait(&drop_test.h, &drop_test.probes[0]));
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(ne(i32, drop_test.probes[0].launch_faults[i].status, STATUS_SUCCESS),
			  "launch %u", i);
	cr_expect(zero(u32, drop_logged("fill_u32")));
	drop_expect_settled();
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

static int count_calls(void *context, const struct backend_native_scope *scope)
{
	uint32_t *never = context;
	*never += scope == NULL ? 1 : 100;
	return 0;
}

Test(drop_set_up, N4_K6_a_native_command_is_told_that_it_never_runs)
{
	uint32_t never = 0;
	drop_setup_with(&(struct scheduler_config){.processors = 2},
			&(struct fake_device_options){.features = BACKEND_FEATURE_NATIVE});
	struct task *before = drop_hold_as(drop_test.other, 1, NULL, 0, &drop_test.held);
	struct task_request request = {.device = drop_test.h.devices[0],
				       .action = TASK_NATIVE,
				       .after = &before,
				       .after_count = 1,
				       .native = {count_calls, &never}};
	drop_test.h.account = drop_test.victim;
	(void)harness_submit(&drop_test.h, &request, &drop_test.probes[0]);
	drop_test.h.account = NULL;
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	cr_expect(zero(u32, never), "its turn has not come");
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	cr_expect(eq(u32, never, 1));
	drop_finish();
}

Test(drop, N4_a_launch_whose_kernel_is_not_made_yet)
{
	fake_load_gate_close(0);
	(void)drop_submit_as(drop_test.victim, &(struct launch){.device = 0, .kernel = "add_u32"},
			     &drop_test.probes[0]);
	scheduler_flush(drop_test.h.scheduler);
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	fake_load_gate_open(0);
	drop_finish();
}

Test(drop, N4_host_tasks_and_barriers_are_over_in_their_turn)
{
	struct task *before = drop_hold_as(drop_test.victim, 0, NULL, 0, &drop_test.held);
	struct task_request request = {.device = drop_test.h.devices[0],
				       .action = TASK_HOST,
				       .after = &before,
				       .after_count = 1};
	drop_test.h.account = drop_test.victim;
	struct task *task = harness_submit(&drop_test.h, &request, &drop_test.probes[0]);
	request.action = TASK_BARRIER;
	request.after = &task;
	(void)harness_submit(&drop_test.h, &request, &drop_test.probes[1]);
	drop_test.h.account = NULL;
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 3),
		  "the running command is cancelled, too, in case it has not begun");
	harness_turn(&drop_test.h);
	cr_expect(not(drop_test.probes[0].done), "it is behind what runs");
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	cr_assert(harness_wait(&drop_test.h, &drop_test.probes[1]));
	drop_expect_status(&drop_test.held, STATUS_SUCCESS);
	drop_finish();
}

/* The command had run when it returned, so it is reported as complete. */
Test(drop, N4_what_has_run_is_not_said_to_have_failed)
{
	struct words words;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	cr_assert(harness_settle(&drop_test.h));
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[0]);
	scheduler_flush(drop_test.h.scheduler);
	cr_assert(fake_wait_ended(0, 2,
				  HARNESS_TIMEOUT_NS)); /* with the move of its first contents */
	(void)drop_victim(SCHEDULER_DROP_ALL);
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	drop_expect_words(&words, 6);
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

/* ------------------------------ what a device's thread has ------------------------------ */

static _Atomic uint64_t its_time = 1000000000000;

static uint64_t drop_clock_ns(void)
{
	return atomic_load(&its_time);
}

/* The running commands fill the device, and time stands still. Nothing happens that would cause
 * another try. */
Test(drop_set_up, N4_TG15_what_is_set_aside_for_want_of_room_is_skipped)
{
	enum { ROOM = 2, ASIDE = 10 };
	struct words words[ROOM + 1];
	drop_setup_with(&(struct scheduler_config){.processors = 2,
						   .spills = true,
						   .spill_least_bytes = 1,
						   .clock_ns = drop_clock_ns},
			&(struct fake_device_options){.memory_bytes = (uint64_t)ROOM * DROP_BYTES,
						      .preferred_lanes = 4});
	for (uint32_t i = 0; i < ROOM + 1; i++)
		harness_words(&drop_test.h, &words[i], DROP_WORDS, true, i);
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < ROOM; i++)
		(void)drop_run_as(drop_test.other, 0, "linear_id_u32", &words[i],
				  ACCESS_MODE_WRITE_NO_INIT, &drop_test.asked[i]);
	scheduler_flush(drop_test.h.scheduler);
	cr_assert(fake_wait_started(0, ROOM, HARNESS_TIMEOUT_NS));
	struct fake_counters before, now;
	fake_counters(0, &before);
	const struct use use = {.words = &words[ROOM], .mode = ACCESS_MODE_WRITE_NO_INIT};
	for (uint32_t i = 0; i < ASIDE; i++)
		(void)drop_submit_as(drop_test.victim,
				     &(struct launch){.device = 0,
						      .kernel = "linear_id_u32",
						      .uses = &use,
						      .use_count = 1,
						      .home_lane = 4},
				     &drop_test.probes[i]);
	scheduler_flush(drop_test.h.scheduler);
	do
		fake_counters(0, &now);
	while (now.calls[FAKE_MEMORY_CREATE] == before.calls[FAKE_MEMORY_CREATE]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	for (uint32_t i = 0; i < ASIDE; i++)
		drop_expect_status(&drop_test.probes[i], STATUS_CONNECTION_LOST);
	for (uint32_t i = 0; i < ROOM; i++)
		cr_expect(not(drop_test.asked[i].done), "it runs on");
	fake_device_gate_open(0);
	drop_expect_settled();
	cr_expect(eq(u32, drop_logged("linear_id_u32"), ROOM));
	for (uint32_t i = 0; i < ROOM + 1; i++)
		harness_words_free(&drop_test.h, &words[i]);
	drop_finish();
}

/* Sends a launch on device 0 at once. */
static void send_on_lane(struct sched_account *account, const char *kernel, const struct use *uses,
			 uint32_t use_count, uint32_t home_lane, struct probe *probe)
{
	const struct launch launch = {.device = 0,
				      .kernel = kernel,
				      .uses = uses,
				      .use_count = use_count,
				      .home_lane = home_lane};
	(void)drop_submit_as(account, &launch, probe);
	scheduler_flush(drop_test.h.scheduler);
}

/*
 * A skipped command has not begun, and the command that it was to follow may run. So a later
 * command waits for that one. A reader runs. The victim was to write behind it, and has no room. A
 * new writer comes behind the victim only.
 */
Test(drop_set_up, N4_who_comes_behind_what_is_skipped_comes_behind_what_that_waited_for)
{
	struct words shared, room, own;
	struct fake_counters before, now;
	drop_setup_with(&(struct scheduler_config){.processors = 2,
						   .spills = true,
						   .spill_least_bytes = 1,
						   .clock_ns = drop_clock_ns},
			&(struct fake_device_options){.memory_bytes = (uint64_t)2 * DROP_BYTES,
						      .preferred_lanes = 4,
						      .features = BACKEND_FEATURE_EXPORT_VMM});
	harness_words_shared(&drop_test.h, &shared, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	harness_words(&drop_test.h, &room, DROP_WORDS, true, 0);
	harness_words(&drop_test.h, &own, DROP_WORDS, true, 0);
	(void)drop_run_as(drop_test.other, 0, "linear_id_u32", &room, ACCESS_MODE_WRITE_NO_INIT,
			  &drop_test.asked[2]);
	cr_assert(harness_settle(&drop_test.h));
	uint64_t ended_before = drop_ended_on(0);
	fake_device_gate_close(0);
	const struct use reads[] = {{.words = &room, .mode = ACCESS_MODE_READ_WRITE},
				    {.words = &shared, .mode = ACCESS_MODE_READ, .unused = true}};
	send_on_lane(drop_test.other, "increment_u32", reads, 2, 1, &drop_test.asked[0]);
	cr_assert(fake_wait_started(0, ended_before + 1, HARNESS_TIMEOUT_NS));
	fake_counters(0, &before);
	const struct use writes[] = {
		{.words = &own, .mode = ACCESS_MODE_WRITE_NO_INIT},
		{.words = &shared, .mode = ACCESS_MODE_WRITE_NO_INIT, .unused = true}};
	send_on_lane(drop_test.victim, "linear_id_u32", writes, 2, 2, &drop_test.probes[0]);
	do
		fake_counters(0, &now);
	while (now.calls[FAKE_MEMORY_CREATE] == before.calls[FAKE_MEMORY_CREATE]);
	const struct use again = {.words = &shared, .mode = ACCESS_MODE_WRITE_NO_INIT};
	send_on_lane(drop_test.other, "linear_id_u32", &again, 1, 3, &drop_test.asked[1]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	do
		fake_counters(0, &now);
	while (now.lane_waits == before.lane_waits && !fake_wait_started(0, ended_before + 2, 0));
	cr_expect(gt(u64, now.lane_waits, before.lane_waits),
		  "it writes what another one still reads");
	fake_device_gate_open(0);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	drop_expect_status(&drop_test.asked[1], STATUS_SUCCESS);
	drop_expect_settled();
	harness_words_free(&drop_test.h, &shared);
	harness_words_free(&drop_test.h, &room);
	harness_words_free(&drop_test.h, &own);
	drop_finish();
}

/* ---------------------------------- launches in parts ----------------------------------- */

enum { LEAST = 2048, ITEMS = 16 * LEAST, PARTS = 10 };

static void drop_begin_parts(struct words *words, struct launch *launch)
{
	fake_clock((uint64_t)1000000 * US, 1);
	drop_setup_with(&(struct scheduler_config){.processors = 2,
						   .clock_ns = fake_clock_now_ns,
						   .slice_ns = 500 * US},
			&(struct fake_device_options){.preferred_lanes = 4,
						      .estimates = true,
						      .features = BACKEND_FEATURE_EXPORT_VMM});
	static struct use use;
	cr_assert(zero(int, sched_account_rank(drop_test.victim, FAIR_QUEUE_BEST_EFFORT,
					       FAIR_QUEUE_WEIGHT)));
	cr_assert(zero(int,
		       sched_account_rank(drop_test.other, FAIR_QUEUE_LATENCY, FAIR_QUEUE_WEIGHT)));
	harness_words_shared(&drop_test.h, words, ITEMS, true, 0, 0, BACKEND_EXPORT_VMM);
	use = (struct use){.words = words, .mode = ACCESS_MODE_READ_WRITE};
	*launch = (struct launch){.device = 0,
				  .kernel = "take_increment_u32",
				  .uses = &use,
				  .use_count = 1,
				  .has_value = true,
				  .value = 4900 * US,
				  .items = ITEMS,
				  .home_lane = 1,
				  .shares_home = true,
				  .splittable = true};
	(void)drop_submit_as(drop_test.other, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.asked[0]);
	cr_assert(harness_settle(&drop_test.h));
	(void)drop_submit_as(drop_test.victim, launch, &drop_test.asked[1]);
	cr_assert(harness_settle(&drop_test.h));
	drop_expect_status(&drop_test.asked[1], STATUS_SUCCESS);
}

static void end_between_parts(enum scheduler_drop what, uint32_t parts, int32_t status)
{
	struct words words;
	struct launch launch;
	drop_begin_parts(&words, &launch);
	uint32_t before = drop_logged("take_increment_u32");
	uint64_t ended_before = drop_ended_on(0);
	fake_device_gate_close(0);
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[0]);
	(void)drop_run_as(drop_test.other, 0, "noop", &words, ACCESS_MODE_READ,
			  &drop_test.asked[2]);
	scheduler_flush(drop_test.h.scheduler);
	cr_assert(eq(u64, harness_counters(&drop_test.h).splits, 1));
	cr_assert(fake_wait_started(0, ended_before + 1, HARNESS_TIMEOUT_NS));
	(void)drop_victim(what);
	fake_device_gate_open(0);
	drop_expect_status(&drop_test.probes[0], status);
	cr_expect(eq(u32, drop_logged("take_increment_u32") - before, parts));
	drop_expect_status(&drop_test.asked[2],
			   status == STATUS_SUCCESS ? STATUS_SUCCESS : STATUS_DEPENDENCY_FAILED);
	cr_assert(harness_settle(&drop_test.h));
	cr_expect(eq(u64, harness_counters(&drop_test.h).split_parts, parts));
	harness_words_free(&drop_test.h, &words);
	drop_finish();
	fake_clock(0, 0);
}

Test(drop_set_up, N4_F8_of_a_launch_in_parts_the_one_that_runs_is_the_last)
{
	end_between_parts(SCHEDULER_DROP_ALL, 1, STATUS_CONNECTION_LOST);
}

Test(drop_set_up, N4_F8_all_parts_run_of_one_that_others_may_see)
{
	end_between_parts(SCHEDULER_DROP_UNSEEN, PARTS, STATUS_SUCCESS);
}
