/* A session that ends (N4), and the effects on other sessions or processes. */
#include "scheduler/drop_support.h"

/* ------------------------------ objects that others share ------------------------------- */

Test(drop, N4_M9_who_needs_what_it_was_to_write_fails_until_it_is_written_anew)
{
	struct words words;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	(void)drop_hold_as(drop_test.victim, 0, &words, ACCESS_MODE_READ, &drop_test.held);
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[0]);
	(void)drop_run_as(drop_test.other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.asked[0]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	(void)drop_run_as(drop_test.other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.asked[1]);
	(void)drop_run_as(drop_test.other, 0, "linear_id_u32", &words, ACCESS_MODE_WRITE_NO_INIT,
			  &drop_test.asked[2]);
	harness_turn(&drop_test.h);
	cr_expect(not(drop_test.asked[2].done), "it is behind what runs");
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.held, STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	drop_expect_status(&drop_test.asked[0], STATUS_DEPENDENCY_FAILED);
	cr_expect(strstr(drop_test.asked[0].fault.text, "its session has ended") != NULL, "%s",
		  drop_test.asked[0].fault.text);
	drop_expect_status(&drop_test.asked[1], STATUS_DEPENDENCY_FAILED);
	drop_expect_status(&drop_test.asked[2], STATUS_SUCCESS);
	drop_expect_words(&words, 0);
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

/* A task that only comes behind a reader of that session, or reads the same contents, is not
 * affected. */
Test(drop, N4_readers_leave_the_contents_as_they_are)
{
	struct words words;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	struct task *before = drop_hold_as(drop_test.victim, 1, NULL, 0, &drop_test.held);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ, .unused = true};
	struct launch launch = {.device = 0,
				.kernel = "noop",
				.uses = &use,
				.use_count = 1,
				.after = &before,
				.after_count = 1};
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[0]);
	(void)drop_run_as(drop_test.other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE,
			  &drop_test.asked[0]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.asked[0], STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	drop_expect_words(&words, 6);
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

/* Its buffer moves to another device, for its own task and for one of another session. */
Test(drop, N4_a_move_that_was_made_for_it_is_made_for_whoever_needs_it)
{
	struct words words, own;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	harness_words(&drop_test.h, &own, DROP_WORDS, true, 0);
	struct task *before =
		drop_hold_as(drop_test.other, 0, &words, ACCESS_MODE_READ_WRITE, &drop_test.held);
	(void)before;
	(void)drop_run_as(drop_test.victim, 1, "noop", &words, ACCESS_MODE_READ,
			  &drop_test.probes[0]);
	uint64_t moves = harness_counters(&drop_test.h).moves;
	(void)drop_run_as(drop_test.other, 1, "noop", &words, ACCESS_MODE_READ,
			  &drop_test.asked[0]);
	cr_assert(eq(u64, harness_counters(&drop_test.h).moves, moves),
		  "it comes with the victim's");
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1), "the command without its moves");
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.asked[0], STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	drop_expect_words(&words, 5);
	harness_words_free(&drop_test.h, &words);
	harness_words_free(&drop_test.h, &own);
	drop_finish();
}

Test(drop, N4_a_move_that_nobody_else_needs_is_not_made_and_the_next_one_makes_its_own)
{
	struct words words;
	struct fake_counters before, after;
	harness_words_shared(&drop_test.h, &words, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	cr_assert(harness_settle(&drop_test.h));
	fake_counters(FAKE_ANY_DEVICE, &before);
	(void)drop_hold_as(drop_test.other, 0, &words, ACCESS_MODE_READ_WRITE, &drop_test.held);
	(void)drop_run_as(drop_test.victim, 1, "noop", &words, ACCESS_MODE_READ,
			  &drop_test.probes[0]);
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 3),
		  "the command and its moves, by the host");
	/* While those are still there, in their turn. */
	(void)drop_run_as(drop_test.other, 1, "noop", &words, ACCESS_MODE_READ,
			  &drop_test.asked[0]);
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.asked[0], STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	cr_assert(harness_settle(&drop_test.h));
	fake_counters(FAKE_ANY_DEVICE, &after);
	cr_expect(eq(u64, after.reads - before.reads, 1), "to the host, for the other one");
	cr_expect(eq(u64, after.writes - before.writes, 1), "and on from there");
	drop_expect_words(&words, 5);
	harness_words_free(&drop_test.h, &words);
	drop_finish();
}

/* ------------------------ effects that no other session observes ------------------------ */

Test(drop, N4_F10_what_another_process_may_see_runs_with_all_that_comes_before_it)
{
	struct words shared, own, after;
	harness_words_shared(&drop_test.h, &shared, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	harness_words(&drop_test.h, &own, DROP_WORDS, true, 0);
	harness_words(&drop_test.h, &after, DROP_WORDS, true, 0);
	(void)drop_hold_as(drop_test.victim, 0, &shared, ACCESS_MODE_READ, &drop_test.held);
	/* Addresses order nothing. Only the queue determines that the second command writes what
	 * the third one reads. */
	struct task *last = drop_test.held.task;
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &own, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[0]);
	struct launch launch = {.device = 0,
				.kernel = "noop",
				.after = &last,
				.after_count = 1,
				.after_only_orders = true};
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[1]);
	const struct use use = {.words = &shared, .mode = ACCESS_MODE_READ_WRITE};
	launch.kernel = "increment_u32";
	launch.uses = &use;
	launch.use_count = 1;
	launch.after = &drop_test.probes[1].task;
	last = drop_submit_as(drop_test.victim, &launch, &drop_test.probes[2]);
	const struct use next = {.words = &after, .mode = ACCESS_MODE_READ_WRITE};
	launch.uses = &next;
	launch.after = &last;
	(void)drop_submit_as(drop_test.victim, &launch, &drop_test.probes[3]);
	(void)drop_victim(SCHEDULER_DROP_UNSEEN);
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.probes[1], STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[2], STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[3], STATUS_CONNECTION_LOST);
	drop_expect_words(&shared, 6);
	drop_expect_settled();
	harness_words_free(&drop_test.h, &shared);
	harness_words_free(&drop_test.h, &own);
	harness_words_free(&drop_test.h, &after);
	drop_finish();
}

Test(drop, N4_F10_an_event_that_another_process_waits_for_is_recorded)
{
	struct probe ready = {.done = false};
	struct sched_event *event;
	cr_assert(zero(int, sched_event_create(drop_test.h.scheduler, drop_test.h.devices[0],
					       &ready, &event)));
	drop_expect_status(&ready, STATUS_SUCCESS);
	struct task *before = drop_hold_as(drop_test.victim, 1, NULL, 0, &drop_test.held);
	struct task_request request = {.device = drop_test.h.devices[0],
				       .action = TASK_EVENT_RECORD,
				       .event = event,
				       .after = &before,
				       .after_count = 1};
	drop_test.h.account = drop_test.victim;
	(void)harness_submit(&drop_test.h, &request, &drop_test.probes[0]);
	drop_test.h.account = NULL;
	(void)drop_submit_as(
		drop_test.victim,
		&(struct launch){.device = 0, .kernel = "noop", .after = &before, .after_count = 1},
		&drop_test.probes[1]);
	(void)drop_victim(SCHEDULER_DROP_UNSEEN);
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.probes[0], STATUS_SUCCESS);
	drop_expect_status(&drop_test.probes[1], STATUS_CONNECTION_LOST);
	cr_expect(eq(u64, fake_event_happened(ready.handle), 1));
	sched_event_release(event);
	drop_finish();
}

/* First its process ends, and then an operator stops it completely. */
Test(drop, N4_less_of_it_may_run_later_on)
{
	struct words shared;
	harness_words_shared(&drop_test.h, &shared, DROP_WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	(void)drop_hold_as(drop_test.other, 0, &shared, ACCESS_MODE_READ, &drop_test.held);
	(void)drop_run_as(drop_test.victim, 0, "increment_u32", &shared, ACCESS_MODE_READ_WRITE,
			  &drop_test.probes[0]);
	cr_expect(zero(u32, drop_victim(SCHEDULER_DROP_UNSEEN)));
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	fake_gate_open(DROP_GATE);
	drop_expect_status(&drop_test.probes[0], STATUS_CONNECTION_LOST);
	harness_words_free(&drop_test.h, &shared);
	drop_finish();
}
