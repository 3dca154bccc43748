/*
 * A session that is paused: what is on a device ends there, and nothing else begins until it goes
 * on, whatever it waited for. Other sessions go on, also those that need a move that was made for
 * it. No test measures time: before a test looks, other sessions' commands have come and gone.
 */
#include "scheduler/drop_support.h"

#include "fair_queue/fair_queue.h"

enum { US = 1000, DEPTH = 96 };

TestSuite(pause, .timeout = 60, .init = drop_setup);
TestSuite(pause_set_up, .timeout = 60);

static void pause_victim(void)
{
	scheduler_pause(drop_test.h.scheduler, drop_test.victim);
}

static void resume_victim(void)
{
	scheduler_resume(drop_test.h.scheduler, drop_test.victim);
}

/* Turns until nothing of the paused session is on a device. Then another session has its turn. */
static void expect_rest(void)
{
	while (sched_account_sent(drop_test.victim) > 0)
		harness_turn(&drop_test.h);
	(void)drop_submit_as(drop_test.other,
			     &(struct launch){.device = 0, .kernel = "noop", .home_lane = 2},
			     &drop_test.asked[6]);
	drop_expect_status(&drop_test.asked[6], STATUS_SUCCESS);
	cr_expect(zero(u32, sched_account_sent(drop_test.victim)));
}

static uint32_t count_done(uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += drop_test.probes[i].done;
	return sum;
}

/* --------------------------------- a queue full of work --------------------------------- */

static void submit_a_thousand(bool chained)
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
}

static void expect_in_order(void)
{
	for (uint32_t i = 0; i < DROP_MANY; i++) {
		drop_expect_status(&drop_test.probes[i], STATUS_SUCCESS);
		cr_expect(i == 0 || drop_test.probes[i].order > drop_test.probes[i - 1].order,
			  "command %u", i);
	}
}

static void pause_a_thousand(bool chained)
{
	submit_a_thousand(chained);
	const uint32_t sent = sched_account_sent(drop_test.victim);
	cr_assert(lt(u32, 0, sent));
	cr_assert(le(u32, sent, DEPTH));
	pause_victim();
	pause_victim();
	fake_gate_open(DROP_GATE);
	expect_rest();
	cr_expect(eq(u32, drop_logged("hold"), sent));
	cr_expect(eq(u32, count_done(DROP_MANY), sent));
	cr_expect(zero(u32, harness_counters(&drop_test.h).fair_queue_waiting));
	resume_victim();
	resume_victim();
	expect_in_order();
	cr_expect(eq(u32, drop_logged("hold"), DROP_MANY));
	drop_finish();
}

Test(pause, TR5_a_thousand_commands_in_order_of_who_is_alone)
{
	pause_a_thousand(true);
}

Test(pause, a_thousand_commands_in_order)
{
	(void)drop_submit_as(drop_test.other, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.asked[1]);
	pause_a_thousand(true);
}

Test(pause, a_thousand_commands_of_which_some_wait_for_their_turn)
{
	(void)drop_submit_as(drop_test.other, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.asked[1]);
	pause_a_thousand(false);
}

Test(pause_set_up, a_thousand_commands_that_wait_for_room)
{
	drop_setup_with(&(struct scheduler_config){.processors = 2, .never_fair_queue = true},
			&(struct fake_device_options){.preferred_lanes = 4});
	(void)drop_submit_as(drop_test.other, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.asked[1]);
	pause_a_thousand(false);
}

Test(pause, a_session_that_goes_on_at_once_has_lost_nothing)
{
	submit_a_thousand(true);
	for (uint32_t i = 0; i < 10; i++) {
		pause_victim();
		harness_turn(&drop_test.h);
		resume_victim();
	}
	fake_gate_open(DROP_GATE);
	expect_in_order();
	cr_expect(eq(u32, drop_logged("hold"), DROP_MANY));
	drop_finish();
}

Test(pause, what_is_submitted_meanwhile_waits_too)
{
	struct words words;
	harness_words(&drop_test.h, &words, DROP_WORDS, true, 5);
	pause_victim();
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[0]);
	struct task *access =
		harness_host(&drop_test.h, &words, ACCESS_MODE_READ, &drop_test.probes[1]);
	expect_rest();
	cr_expect(zero(u32, drop_logged("increment_u32")));
	cr_expect(zero(u32, drop_logged("write")), "nor is anything moved for it");
	cr_expect(not(drop_test.probes[1].done));
	resume_victim();
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[1], STATUS_SUCCESS);
	host_access_release(access);
	drop_expect_words(&words, 6);
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

/* ---------------------------------- kinds of commands ----------------------------------- */

Test(pause, a_burst_waits_as_a_whole)
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
	pause_victim();
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.held, STATUS_SUCCESS);
	expect_rest();
	cr_expect(zero(u32, drop_logged("fill_u32")));
	resume_victim();
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	cr_expect(eq(u32, drop_logged("fill_u32"), 4));
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

Test(pause, a_launch_whose_kernel_is_made_meanwhile)
{
	fake_load_gate_close(0);
	(void)drop_submit_as(drop_test.victim, &(struct launch){.device = 0, .kernel = "add_u32"},
			     &drop_test.probes[0]);
	scheduler_flush(drop_test.h.scheduler);
	pause_victim();
	fake_load_gate_open(0);
	expect_rest();
	cr_expect(zero(u32, drop_logged("add_u32")));
	resume_victim();
	cr_assert(harness_wait(&drop_test.h, &drop_test.probes[0]));
	drop_finish();
}

Test(pause, N4_host_tasks_and_barriers_have_their_turn)
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
	pause_victim();
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.held, STATUS_SUCCESS);
	cr_assert(harness_wait(&drop_test.h, &drop_test.probes[0]), "it needs no device");
	host_task_end(task, NULL);
	drop_expect_status(&drop_test.probes[1], STATUS_SUCCESS);
	resume_victim();
	drop_finish();
}

/* ------------------------------------ other sessions ------------------------------------ */

/* The move to the second device was made for the paused session. */
Test(pause, a_move_that_was_made_for_it_is_made_for_whoever_needs_it)
{
	struct words words;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	(void)drop_hold_as(drop_test.other, 0, &words, ACCESS_MODE_READ_WRITE, &drop_test.held);
	(void)drop_run_as(drop_test.victim, 1, "noop", &words, ACCESS_MODE_READ,
			  &drop_test.probes[0]);
	pause_victim();
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.held, STATUS_SUCCESS);
	expect_rest();
	const uint64_t ended = drop_ended_on(1), moves = harness_counters(&drop_test.h).moves;
	(void)drop_run_as(drop_test.other, 1, "noop", &words, ACCESS_MODE_READ,
			  &drop_test.asked[0]);
	cr_assert(eq(u64, harness_counters(&drop_test.h).moves, moves),
		  "it comes with the other's");
	drop_expect_status(&drop_test.asked[0], STATUS_SUCCESS);
	cr_expect(gt(u64, drop_ended_on(1), ended));
	expect_rest();
	cr_expect(not(drop_test.probes[0].done));
	resume_victim();
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	drop_expect_words(&words, 5);
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

/* What it has written on a device that is not the contents' home comes home. */
Test(pause, results_of_what_ran_come_home)
{
	struct words words;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE, .unused = true};
	const struct launch launch = {.device = 1,
				      .kernel = "hold",
				      .uses = &use,
				      .use_count = 1,
				      .has_value = true,
				      .value = DROP_GATE,
				      .items = 1};
	cr_assert(harness_settle(&drop_test.h));
	const uint64_t started = drop_ended_on(1) + 2; /* a move, and the kernel */
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.held);
	while (!fake_wait_started(1, started, 0))
		harness_turn(&drop_test.h);
	pause_victim();
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.held, STATUS_SUCCESS);
	(void)drop_run_as(drop_test.other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.asked[0]);
	drop_expect_status(&drop_test.asked[0], STATUS_SUCCESS);
	resume_victim();
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

Test(pause, who_needs_what_it_is_to_write_waits)
{
	struct words words;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	pause_victim();
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[0]);
	(void)drop_run_as(drop_test.other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.asked[0]);
	expect_rest();
	cr_expect(not(drop_test.asked[0].done));
	resume_victim();
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	drop_expect_status(&drop_test.asked[0], STATUS_SUCCESS);
	drop_expect_words(&words, 7);
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

/* ---------------------------------- ends and failures ----------------------------------- */

Test(pause, N4_a_paused_session_that_is_killed_ends)
{
	submit_a_thousand(true);
	const uint32_t sent = sched_account_sent(drop_test.victim);
	pause_victim();
	fake_gate_open(DROP_GATE);
	expect_rest();
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), DROP_MANY - sent));
	for (uint32_t i = 0; i < DROP_MANY; i++)
		cr_assert(harness_wait(&drop_test.h, &drop_test.probes[i]));
	cr_expect(eq(u32, drop_logged("hold"), sent));
	resume_victim();
	drop_finish();
}

/* What others may see is not dropped with the rest. It waits as before. */
Test(pause, N4_F10_what_another_process_may_see_waits_on_after_the_end)
{
	struct words shared, own;
	harness_words_shared(&drop_test.h, &shared, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	harness_words(&drop_test.h, &own, DROP_WORDS, true, 0);
	pause_victim();
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &shared, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[0]);
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &own, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[1]);
	(void)drop_victim(SCHEDULER_DROP_UNSEEN);
	drop_expect_status(&drop_test.probes[1], STATUS_CONNECTION_LOST);
	expect_rest();
	cr_expect(not(drop_test.probes[0].done));
	resume_victim();
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	drop_expect_words(&shared, 6);
	harness_words_free(&drop_test.h, &shared);
	harness_words_free(&drop_test.h, &own);
	drop_finish();
}

Test(pause, M9_a_failure_before_it_is_reported_when_it_goes_on)
{
	struct words words;
	harness_words(&drop_test.h, &words, DROP_WORDS, true, 0);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	struct launch launch = {.device = 0,
				.kernel = "fill_even_u32",
				.uses = &use,
				.use_count = 1,
				.has_value = true,
				.value = 8};
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[2]);
	drop_expect_status(&drop_test.probes[2], STATUS_SUCCESS);
	launch.value = 7;
	fake_device_gate_close(0);
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[0]);
	scheduler_flush(drop_test.h.scheduler);
	pause_victim();
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[1]);
	fake_device_gate_open(0);
	drop_expect_status(&drop_test.probes[0], STATUS_KERNEL);
	expect_rest();
	resume_victim();
	drop_expect_status(&drop_test.probes[1], STATUS_DEPENDENCY_FAILED);
	cr_expect(zero(u32, drop_logged("increment_u32")));
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

Test(pause, M10_a_device_that_is_lost_ends_what_waits_for_it)
{
	pause_victim();
	(void)drop_submit_as(drop_test.victim, &(struct launch){.device = 0, .kernel = "noop"},
			     &drop_test.probes[0]);
	(void)drop_submit_as(drop_test.victim, &(struct launch){.device = 1, .kernel = "noop"},
			     &drop_test.probes[1]);
	(void)drop_submit_as(drop_test.other,
			     &(struct launch){.device = 0, .kernel = "lose_device"},
			     &drop_test.asked[0]);
	drop_expect_status(&drop_test.asked[0], STATUS_DEVICE_LOST);
	drop_expect_status(&drop_test.probes[0], STATUS_DEVICE_LOST);
	cr_expect(not(drop_test.probes[1].done));
	resume_victim();
	drop_expect_status(&drop_test.probes[1], STATUS_SUCCESS);
	drop_finish();
}

static uint64_t one_second(void *context, uint64_t session)
{
	(void)context;
	(void)session;
	return 1000000000;
}

/* A deadline is for what runs. */
Test(pause, R4_no_deadline_passes_while_it_waits)
{
	struct scheduler_overdue overdue;
	pause_victim();
	(void)drop_submit_as(
		drop_test.victim,
		&(struct launch){.device = 0, .kernel = "noop", .session = 3, .group = 4},
		&drop_test.probes[0]);
	expect_rest();
	for (uint64_t now_ns = 1; now_ns < 100; now_ns++)
		cr_expect(not(scheduler_overdue(drop_test.h.scheduler, now_ns * 1000000000,
						one_second, NULL, &overdue)));
	resume_victim();
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	drop_finish();
}

/* ---------------------------------- launches in parts ----------------------------------- */

/* The first part is on the device; the rest begins when the session goes on. */
Test(pause_set_up, N2_no_later_part_of_a_launch_begins)
{
	enum { LEAST = 2048, ITEMS = 16 * LEAST, PARTS = 10 };
	struct words words;
	fake_clock((uint64_t)1000000 * US, 1);
	drop_setup_with(&(struct scheduler_config){.processors = 2,
						   .clock_ns = fake_clock_now_ns,
						   .slice_ns = 500 * US},
			&(struct fake_device_options){.preferred_lanes = 4, .estimates = true});
	cr_assert(zero(int, sched_account_rank(drop_test.victim, FAIR_QUEUE_BEST_EFFORT,
					       FAIR_QUEUE_WEIGHT)));
	cr_assert(zero(int,
		       sched_account_rank(drop_test.other, FAIR_QUEUE_LATENCY, FAIR_QUEUE_WEIGHT)));
	harness_words(&drop_test.h, &words, ITEMS, true, 0);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	const struct launch launch = {.device = 0,
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
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.asked[1]);
	cr_assert(harness_settle(&drop_test.h));
	const uint32_t before = drop_logged("take_increment_u32");
	const uint64_t ended_before = drop_ended_on(0);
	fake_device_gate_close(0);
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[0]);
	scheduler_flush(drop_test.h.scheduler);
	cr_assert(eq(u64, harness_counters(&drop_test.h).splits, 1));
	cr_assert(fake_wait_started(0, ended_before + 1, HARNESS_TIMEOUT_NS));
	pause_victim();
	fake_device_gate_open(0);
	expect_rest();
	cr_expect(eq(u32, drop_logged("take_increment_u32") - before, 1));
	resume_victim();
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	cr_expect(eq(u32, drop_logged("take_increment_u32") - before, PARTS));
	harness_words_free(&drop_test.h, &words);
	drop_finish();
	fake_clock(0, 0);
}
