/* Full devices: which memory is spilled, which commands wait, and the errors of commands without
 * room. */
#include "worker/spill_fixture.h"
#include "scheduler/harness_checks.h"
#include "worker/spill/spill.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

TestSuite(spill, .timeout = 60);

Test(spill, TG15_a_working_set_of_three_times_the_device_all_at_once)
{
	enum { COUNT = 3 * ROOM, ROUNDS = 5 };
	struct words words[COUNT];
	struct probe probes[ROUNDS][COUNT];
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, COUNT);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			(void)spill_increment(0, &words[i], &probes[round][i]);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			spill_expect_status(&probes[round][i], STATUS_SUCCESS);
	for (uint32_t i = 0; i < COUNT; i++)
		spill_expect_counted(&words[i], i * 1000 + ROUNDS);
	struct scheduler_spill spill = spill_counts(0);
	cr_expect(gt(u64, spill.spills, 0));
	cr_expect(eq(u64, spill.spilled_bytes, spill.spills * BYTES));
	cr_expect(eq(u64, spill.returned_bytes, spill.returns * BYTES));
	cr_expect(eq(u64, spill.away_bytes, spill.spilled_bytes - spill.returned_bytes));
	spill_free_words(words, COUNT);
	cr_assert(harness_settle(&spill_harness));
	cr_expect(eq(u64, spill_counts(0).away_bytes, 0), "what is gone is not away any more");
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_the_least_recently_used_goes_first)
{
	struct words words[ROOM + 1];
	spill_begin_full(words, ROOM + 1);
	spill_run_increment(0, &words[0]);
	spill_run_increment(0, &words[ROOM]); /* in the place of the second */
	cr_assert(eq(u64, spill_counts(0).spills, 1));
	spill_run_increment(0, &words[0]);
	spill_run_increment(0, &words[2]);
	spill_run_increment(0, &words[3]);
	spill_run_increment(0, &words[ROOM]);
	cr_assert(eq(u64, spill_counts(0).returns, 0), "they were where they had been");
	spill_run_increment(0, &words[1]);
	cr_assert(eq(u64, spill_counts(0).returns, 1));
	spill_expect_counted(&words[1], 1002);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* Commands that do not end keep their memory. Commands that need room wait, and others run. */
Test(spill, TG15_nothing_in_flight_is_spilled_and_others_go_on)
{
	struct words words[ROOM + 2];
	struct probe held[ROOM], waits, elsewhere, behind;
	spill_begin_full(words, ROOM + 2);
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < ROOM; i++)
		(void)spill_increment(0, &words[i], &held[i]);
	scheduler_flush(spill_harness.scheduler);
	cr_assert(fake_wait_started(0, 3 * ROOM, HARNESS_TIMEOUT_NS));
	(void)spill_increment(0, &words[ROOM], &waits);
	(void)spill_increment(0, &words[ROOM], &behind);
	(void)spill_increment(1, &words[ROOM + 1], &elsewhere);
	spill_expect_status(&elsewhere, STATUS_SUCCESS);
	spill_run_idle_turns();
	cr_expect(not(waits.done));
	cr_expect(eq(u64, spill_counts(0).spills, 0));
	fake_device_gate_open(0);
	spill_expect_status(&waits, STATUS_SUCCESS);
	spill_expect_status(&behind, STATUS_SUCCESS);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_status(&held[i], STATUS_SUCCESS);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_counted(&words[i], i * 1000 + 2);
	spill_expect_counted(&words[ROOM], ROOM * 1000 + 2);
	spill_free_words(words, ROOM + 2);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_what_is_larger_than_the_device_fails_and_nothing_is_lost)
{
	struct words words[2], large;
	struct probe probe;
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, 2);
	harness_words(&spill_harness, &large, (ROOM + 1) * WORDS, true, 7);
	spill_run_increment(0, &words[0]);
	spill_run_increment(0, &words[1]);
	(void)spill_increment(0, &large, &probe);
	spill_expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(strstr(probe.fault.text, "no memory of") != NULL, "%s", probe.fault.text);
	cr_expect(eq(u64, spill_counts(0).spills, 0), "it would have been in vain");
	spill_run_increment(0, &words[0]);
	spill_expect_counted(&words[0], 2);
	spill_expect_counted(&words[1], 1001);
	spill_free_words(words, 2);
	spill_free_words(&large, 1);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_a_group_of_several_buffers_that_does_not_fit_fails)
{
	struct words words[ROOM];
	struct probe probe;
	spill_begin(ROOM - 1, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM);
	struct use uses[ROOM];
	for (uint32_t i = 0; i < ROOM; i++)
		uses[i] = (struct use){.words = &words[i],
				       .mode = i == 0 ? ACCESS_MODE_READ_WRITE_NO_INIT
						      : ACCESS_MODE_WRITE_NO_INIT};
	(void)harness_launch(
		&spill_harness,
		&(struct launch){.device = 0, .kernel = "noop", .uses = uses, .use_count = ROOM},
		&probe);
	spill_expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	struct words other;
	harness_words(&spill_harness, &other, WORDS, true, 3);
	spill_run_increment(0, &other);
	spill_expect_counted(&other, 4);
	spill_free_words(words, ROOM);
	spill_free_words(&other, 1);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_without_host_memory_it_fails_and_nothing_is_lost)
{
	struct words words[ROOM + 2];
	struct probe probe;
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2, .spill_bytes = PAGE});
	spill_make_words(words, ROOM + 2);
	for (uint32_t i = 0; i < ROOM + 1; i++)
		spill_run_increment(0, &words[i]);
	(void)spill_increment(0, &words[ROOM + 1], &probe);
	spill_expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(strstr(probe.fault.text, "the host has no room to spill to") != NULL, "%s",
		  probe.fault.text);
	for (uint32_t i = 1; i < ROOM + 1; i++)
		spill_expect_counted(&words[i], i * 1000 + 1);
	/* A freed buffer makes room for memory on the host. */
	harness_words_free(&spill_harness, &words[ROOM]);
	spill_expect_counted(&words[0], 1);
	spill_run_increment(0, &words[0]);
	spill_expect_counted(&words[0], 2);
	spill_free_words(words, ROOM);
	spill_free_words(&words[ROOM + 1], 1);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_what_others_may_see_is_never_spilled)
{
	struct words shared[ROOM], other;
	struct probe probe;
	/* Exported memory has granules here as on real devices; it is counted by its size. */
	spill_begin(ROOM, BACKEND_FEATURE_EXPORT_VMM, &(struct scheduler_config){.processors = 2});
	for (uint32_t i = 0; i < ROOM; i++)
		harness_words_shared(&spill_harness, &shared[i], WORDS, true, i * 1000, 0,
				     BACKEND_EXPORT_VMM);
	harness_words(&spill_harness, &other, WORDS, true, 0);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &shared[i]);
	(void)spill_increment(0, &other, &probe);
	spill_expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(eq(u64, spill_counts(0).spills, 0));
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_counted(&shared[i], i * 1000 + 1);
	spill_free_words(shared, ROOM);
	spill_free_words(&other, 1);
	harness_expect_stopped(&spill_harness);
}

/* ... but others make room for it. */
Test(spill, TG15_memory_that_is_to_be_exported_gets_room)
{
	struct words words[ROOM], shared;
	spill_begin(ROOM, BACKEND_FEATURE_EXPORT_VMM, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &words[i]);
	harness_words_shared(&spill_harness, &shared, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	spill_run_increment(0, &shared);
	spill_expect_counted(&shared, 6);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_counted(&words[i], i * 1000 + 1);
	spill_free_words(words, ROOM);
	spill_free_words(&shared, 1);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_unless_asked_for_what_finds_no_room_fails)
{
	struct words words[ROOM + 1];
	struct probe probe;
	fake_reset();
	fake_device_options(0,
			    (struct fake_device_options){.memory_bytes = (uint64_t)ROOM * BYTES});
	harness_start_with(&spill_harness, 1, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &words[i]);
	(void)spill_increment(0, &words[ROOM], &probe);
	spill_expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_counted(&words[i], i * 1000 + 1);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* A buffer is released while its memory moves out, and so is one whose memory is out. */
Test(spill, TG15_buffers_end_wherever_their_memory_is)
{
	struct words words[ROOM + 2];
	struct probe waits[2];
	spill_begin_full(words, ROOM + 2);
	fake_device_gate_close(0);
	(void)spill_increment(0, &words[ROOM], &waits[0]);
	scheduler_flush(spill_harness.scheduler);
	cr_assert(fake_wait_started(0, 2 * ROOM + 1, HARNESS_TIMEOUT_NS), "the copy of the first");
	sched_buffer_release(words[0].buffer);
	(void)spill_increment(0, &words[ROOM + 1], &waits[1]);
	spill_run_idle_turns();
	fake_device_gate_open(0);
	spill_expect_status(&waits[0], STATUS_SUCCESS);
	spill_expect_status(&waits[1], STATUS_SUCCESS);
	cr_assert(harness_wait(&spill_harness, &words[0].freed));
	free(words[0].host);
	cr_assert(gt(u64, spill_counts(0).away_bytes, 0));
	spill_free_words(&words[1], ROOM + 1);
	cr_assert(harness_settle(&spill_harness));
	cr_assert(eq(u64, spill_counts(0).away_bytes, 0));
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_a_device_that_is_lost_ends_those_who_wait_for_room)
{
	struct words words[ROOM + 1];
	struct probe held, waits, lost;
	spill_begin_full(words, ROOM + 1);
	fake_device_gate_close(0);
	(void)spill_increment(0, &words[0], &held);
	(void)spill_increment(0, &words[ROOM], &waits);
	scheduler_flush(spill_harness.scheduler);
	(void)harness_launch(&spill_harness,
			     &(struct launch){.device = 0, .kernel = "lose_device", .items = 1},
			     &lost);
	spill_run_idle_turns();
	fake_device_gate_open(0);
	cr_assert(harness_wait(&spill_harness, &lost));
	cr_assert(harness_wait(&spill_harness, &held));
	cr_assert(harness_wait(&spill_harness, &waits));
	cr_expect(ne(i32, lost.fault.status, STATUS_SUCCESS));
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* Memory on the host is not copied from one device to another in one step. */
Test(spill, TG15_contents_that_are_spilled_reach_another_device)
{
	struct words words[2 * ROOM];
	spill_begin(ROOM, BACKEND_FEATURE_PEER, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, 2 * ROOM);
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		spill_run_increment(0, &words[i]);
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		spill_run_increment(1, &words[i]);
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		spill_expect_counted(&words[i], i * 1000 + 2);
	cr_expect(gt(u64, spill_counts(0).spills, 0));
	spill_free_words(words, 2 * ROOM);
	harness_expect_stopped(&spill_harness);
}

/* One session uses its part repeatedly; the other's memory stays. */
Test(spill, TG15_who_keeps_to_its_part_is_not_pushed_out)
{
	enum { MANY = 3 * ROOM };
	struct words modest, greedy[MANY];
	struct sched_account *accounts[2];
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[0])));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[1])));
	harness_words(&spill_harness, &modest, WORDS, true, 50);
	sched_buffer_charge(modest.buffer, accounts[0]);
	spill_harness.account = accounts[0];
	spill_run_increment(0, &modest);
	spill_make_words(greedy, MANY);
	spill_harness.account = accounts[1];
	for (uint32_t i = 0; i < MANY; i++)
		sched_buffer_charge(greedy[i].buffer, accounts[1]);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < MANY; i++)
			spill_run_increment(0, &greedy[i]);
	struct scheduler_spill before = spill_counts(0);
	cr_assert(gt(u64, before.spills, 0));
	spill_harness.account = accounts[0];
	spill_run_increment(0, &modest);
	cr_expect(eq(u64, spill_counts(0).returns, before.returns), "it was there all the time");
	spill_expect_counted(&modest, 52);
	spill_harness.account = NULL;
	spill_free_words(&modest, 1);
	spill_free_words(greedy, MANY);
	cr_assert(harness_settle(&spill_harness));
	accounts[0] = sched_account_drop(accounts[0]);
	accounts[1] = sched_account_drop(accounts[1]);
	harness_expect_stopped(&spill_harness);
}

/* A session that needs all of the host's part gets half of it. Its present memory may be spilled
 * and returned as before. */
Test(spill, TG15_one_session_does_not_fill_what_the_host_has_for_all)
{
	enum { MANY = 3 * ROOM, PAGES = 8 };
	struct words modest[3], greedy[MANY];
	struct sched_account *accounts[2];
	struct probe probe = {.done = false};
	uint32_t good = 0;
	spill_begin(ROOM, 0,
		    &(struct scheduler_config){.processors = 2, .spill_bytes = PAGES * PAGE});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[0])));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[1])));
	spill_make_words(modest, 3);
	spill_make_words(greedy, MANY);
	for (uint32_t i = 0; i < 3; i++)
		sched_buffer_charge(modest[i].buffer, accounts[0]);
	for (uint32_t i = 0; i < MANY; i++)
		sched_buffer_charge(greedy[i].buffer, accounts[1]);
	spill_harness.account = accounts[0];
	spill_run_increment(0, &modest[0]);
	spill_harness.account = accounts[1];
	for (; good < MANY; good++) {
		(void)spill_increment(0, &greedy[good], &probe);
		cr_assert(harness_wait(&spill_harness, &probe));
		if (probe.fault.status != STATUS_SUCCESS)
			break;
	}
	cr_expect(eq(i32, probe.fault.status, STATUS_MEMORY_ALLOCATION));
	cr_expect(eq(u32, good, ROOM - 1 + PAGES / 2));
	for (uint32_t i = 0; i < good; i++)
		spill_run_increment(0, &greedy[i]);
	spill_harness.account = accounts[0];
	for (uint32_t i = 1; i < 3; i++)
		spill_run_increment(0, &modest[i]);
	spill_harness.account = NULL;
	for (uint32_t i = 0; i < 3; i++)
		spill_expect_counted(&modest[i], i * 1000 + 1);
	for (uint32_t i = 0; i < good; i++)
		spill_expect_counted(&greedy[i], i * 1000 + 2);
	spill_free_words(modest, 3);
	spill_free_words(greedy, MANY);
	cr_assert(harness_settle(&spill_harness));
	accounts[0] = sched_account_drop(accounts[0]);
	accounts[1] = sched_account_drop(accounts[1]);
	harness_expect_stopped(&spill_harness);
}

/* A session that has ended does not count as another one. So the only remaining session has all of
 * the rest. */
Test(spill, TG15_who_has_ended_keeps_nothing_of_what_the_host_has_from_others)
{
	enum { PAGES = 8 };
	struct words first[ROOM], dead[ROOM], more[2 * ROOM];
	struct sched_account *accounts[2];
	struct probe probe = {.done = false};
	uint32_t good = 0;
	spill_begin(ROOM, 0,
		    &(struct scheduler_config){.processors = 2, .spill_bytes = PAGES * PAGE});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[0])));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[1])));
	spill_make_words(first, ROOM);
	spill_make_words(dead, ROOM);
	spill_make_words(more, 2 * ROOM);
	for (uint32_t i = 0; i < ROOM; i++) {
		sched_buffer_charge(first[i].buffer, accounts[0]);
		sched_buffer_charge(dead[i].buffer, accounts[1]);
	}
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		sched_buffer_charge(more[i].buffer, accounts[0]);
	spill_harness.account = accounts[0];
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &first[i]);
	spill_harness.account = accounts[1];
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &dead[i]);
	spill_harness.account = NULL;
	spill_free_words(dead, ROOM);
	cr_assert(harness_settle(&spill_harness));
	accounts[1] = sched_account_drop(accounts[1]);
	spill_harness.account = accounts[0];
	for (; good < 2 * ROOM; good++) {
		(void)spill_increment(0, &more[good], &probe);
		cr_assert(harness_wait(&spill_harness, &probe));
		if (probe.fault.status != STATUS_SUCCESS)
			break;
	}
	cr_expect(eq(u32, good, 2 * ROOM), "%s", probe.fault.text);
	spill_harness.account = NULL;
	spill_free_words(first, ROOM);
	spill_free_words(more, 2 * ROOM);
	cr_assert(harness_settle(&spill_harness));
	accounts[0] = sched_account_drop(accounts[0]);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_a_copy_that_fails_loses_nothing)
{
	struct words words[ROOM + 1];
	struct probe probe;
	spill_begin_full(words, ROOM + 1);
	/* The first spill fails; the next succeeds. */
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "no copy")));
	(void)spill_increment(0, &words[ROOM], &probe);
	spill_expect_status(&probe, STATUS_SUCCESS);
	cr_assert(eq(u64, spill_counts(0).spills, 1));
	/* Another buffer is spilled, and then the copy back fails. */
	cr_assert(zero(int,
		       fake_fail(FAKE_COMPLETION, 0, 1, 1, STATUS_RUNTIME, false, "no way back")));
	(void)spill_increment(0, &words[1], &probe);
	spill_expect_status(&probe, STATUS_RUNTIME);
	cr_expect(strstr(probe.fault.text, "no way back") != NULL, "%s", probe.fault.text);
	for (uint32_t i = 0; i < ROOM; i += i == 0 ? 2 : 1)
		spill_expect_counted(&words[i], i * 1000 + 1);
	spill_expect_counted(&words[ROOM], ROOM * 1000 + 1);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* A session's limit does not cause a wait for room: other sessions have the room, and they would be
 * ended. */
static uint64_t deadline_of(void *context, uint64_t session)
{
	(void)context;
	return session == 2 ? 1000 : 0;
}

Test(spill, TG15_who_waits_for_room_does_not_run)
{
	struct words words[ROOM + 1];
	struct probe held[ROOM], waits;
	struct scheduler_overdue overdue;
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM + 1);
	spill_hold_all(words, held);
	struct task *task = spill_write_all(&words[ROOM], ROOM + 1, 2, &waits);
	spill_wait_for_tries(ROOM + 1);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS / 4);
	while (task_running(task) && clock_now_ns() < deadline)
		harness_turn(&spill_harness);
	cr_expect(not(task_running(task)));
	for (uint64_t now = 1; now < 5; now++)
		cr_expect(not(scheduler_overdue(spill_harness.scheduler, now * 1000000, deadline_of,
						NULL, &overdue)));
	spill_release_held(held);
	spill_expect_status(&waits, STATUS_SUCCESS);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* The object of a query exists until the answer. */
Test(spill, TG15_a_buffer_ends_behind_a_question_that_waits_for_room)
{
	struct words words[ROOM + 1];
	struct probe held[ROOM], asked = {.done = false}, other = {.done = false};
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM + 1);
	spill_hold_all(words, held);
	cr_assert(eq(int,
		     sched_native_get_memory(words[ROOM].buffer, spill_harness.devices[0], &asked),
		     1));
	spill_wait_for_tries(ROOM + 1);
	sched_buffer_release(words[ROOM].buffer);
	/* It comes behind its way to the device and back. */
	cr_assert(zero(int,
		       sched_native_get(spill_harness.devices[0], BACKEND_NATIVE_DEVICE, &other)));
	cr_assert(harness_wait(&spill_harness, &other));
	spill_run_idle_turns();
	cr_expect(not(asked.done));
	cr_expect(not(words[ROOM].freed.done));
	spill_release_held(held);
	cr_assert(harness_wait(&spill_harness, &asked));
	cr_assert(harness_wait(&spill_harness, &words[ROOM].freed));
	free(words[ROOM].host);
	spill_free_words(words, ROOM);
	harness_expect_stopped(&spill_harness);
}

/* A polled device does not report completions by itself. That alone is no reason to try again. */
Test(spill, TG15_a_polled_device_tries_again_when_something_has_come_back)
{
	struct words words[ROOM + 1];
	struct probe held[ROOM], waits;
	struct fake_counters counters;
	spill_begin(ROOM, BACKEND_FEATURE_POLLED, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM + 1);
	spill_hold_all(words, held);
	(void)spill_write_all(&words[ROOM], ROOM + 1, 1, &waits);
	spill_wait_for_tries(ROOM + 1);
	fake_counters(0, &counters);
	uint64_t enough = counters.progresses + 20,
		 deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS / 2);
	while (counters.progresses < enough && clock_now_ns() < deadline) {
		harness_turn(&spill_harness);
		fake_counters(0, &counters);
	}
	cr_assert(ge(u64, counters.progresses, enough));
	cr_expect(eq(u64, spill_calls(FAKE_MEMORY_CREATE), ROOM + 1));
	spill_release_held(held);
	spill_expect_status(&waits, STATUS_SUCCESS);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* Some drivers make lanes only while nothing runs. There it would be too late for one when the
 * device is full. */
Test(spill, TG15_the_lanes_for_copies_are_there_before_the_device_is_full)
{
	struct words words[ROOM + 1];
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2, .lanes_per_device = 1});
	spill_make_words(words, ROOM + 1);
	spill_run_increment(0, &words[0]);
	cr_expect(eq(u64, spill_calls(FAKE_LANE_CREATE), 3));
	for (uint32_t i = 1; i < ROOM + 1; i++)
		spill_run_increment(0, &words[i]);
	cr_expect(gt(u64, spill_counts(0).spills, 0));
	cr_expect(eq(u64, spill_calls(FAKE_LANE_CREATE), 3));
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* Each waits that long, and then is refused so that the next can try. */
Test(spill, TG15_a_wait_for_room_has_an_end)
{
	struct words words[ROOM + 3];
	struct probe held[ROOM], waits[2], behind, after;
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM + 3);
	spill_hold_all(words, held);
	struct task *task = spill_write_all(&words[ROOM], ROOM + 1, 1, &waits[0]);
	(void)spill_write_all(&words[ROOM + 1], ROOM + 2, 1, &waits[1]);
	(void)spill_write_all(&words[ROOM + 2], ROOM + 1, 1, &behind);
	spill_wait_for_tries(ROOM + 1);
	while (task_running(task))
		harness_turn(&spill_harness);
	atomic_fetch_add(&spill_time_ns, SPILL_WAIT_MOST_NS - 1);
	spill_run_idle_turns();
	cr_assert(not(waits[0].done));
	atomic_fetch_add(&spill_time_ns, 2);
	spill_expect_status(&waits[0], STATUS_MEMORY_ALLOCATION);
	cr_expect(strstr(waits[0].fault.text, "no memory of") != NULL, "%s", waits[0].fault.text);
	spill_run_idle_turns();
	cr_assert(not(waits[1].done));
	cr_assert(not(behind.done));
	atomic_fetch_add(&spill_time_ns, SPILL_WAIT_MOST_NS + 1);
	spill_expect_status(&waits[1], STATUS_MEMORY_ALLOCATION);
	spill_run_idle_turns();
	cr_assert(not(behind.done));
	/* The session has its turn, and its time has only begun. */
	spill_release_held(held);
	spill_expect_status(&behind, STATUS_SUCCESS);
	(void)spill_write_all(&words[ROOM], ROOM + 1, 1, &after);
	spill_expect_status(&after, STATUS_SUCCESS);
	for (uint32_t i = 0; i < ROOM + 3; i++)
		if (i != ROOM + 1)
			spill_expect_counted(&words[i], 0);
	spill_free_words(words, ROOM + 3);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_a_device_that_is_lost_when_a_copy_is_sent_is_lost)
{
	struct words words[ROOM + 1];
	struct probe probe;
	spill_begin_full(words, ROOM + 1);
	uint64_t before = spill_calls(FAKE_SUBMIT);
	cr_assert(zero(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	(void)spill_write_all(&words[ROOM], 1, 1, &probe);
	spill_expect_status(&probe, STATUS_DEVICE_LOST);
	cr_expect(eq(u64, spill_calls(FAKE_SUBMIT), before + 1), "it was tried with the next ones");
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_what_is_on_its_way_back_is_not_away_any_more_when_the_device_is_lost)
{
	struct words words[ROOM + 1];
	struct probe probe;
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM + 1; i++)
		spill_run_increment(0, &words[i]);
	harness_words_free(&spill_harness, &words[ROOM]);
	cr_assert(harness_settle(&spill_harness));
	cr_assert(eq(u64, spill_counts(0).away_bytes, BYTES));
	/* There is room: the copy back is the next that ends. */
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	(void)spill_increment(0, &words[0], &probe);
	spill_expect_status(&probe, STATUS_DEVICE_LOST);
	spill_free_words(words, ROOM);
	cr_assert(harness_settle(&spill_harness));
	cr_expect(eq(u64, spill_counts(0).away_bytes, 0));
	harness_expect_stopped(&spill_harness);
}

Test(spill, TG15_small_memory_is_not_worth_it)
{
	struct words words[ROOM + 1];
	struct probe probe;
	spill_begin(ROOM, 0,
		    &(struct scheduler_config){.processors = 2, .spill_least_bytes = BYTES + 1});
	spill_make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &words[i]);
	(void)spill_write_all(&words[ROOM], 1, 1, &probe);
	spill_expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(eq(u64, spill_counts(0).spills, 0));
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* The first spill is reported at once, and later ones together when ten seconds have passed. Then
 * the front thread sleeps again without a deadline. */
Test(spill, TG15_spills_are_reported_now_and_then)
{
	struct words words[ROOM + 1];
	spill_begin_full(words, ROOM + 1);
	cr_expect(eq(u32, spill_harness.spilled_reports, 0));
	spill_run_increment(0, &words[0]);
	spill_run_increment(0, &words[ROOM]);
	spill_run_idle_turns();
	cr_expect(eq(u32, spill_harness.spilled_reports, 1));
	cr_expect(eq(u64, spill_harness.spilled.spills, 1));
	cr_expect(eq(u64, spill_harness.spilled.spilled_bytes, BYTES));
	cr_expect(eq(u64, scheduler_again_ns(spill_harness.scheduler), UINT64_MAX));
	for (uint32_t i = 1; i < 4; i++)
		spill_run_increment(0, &words[i]);
	spill_run_idle_turns();
	uint64_t spills = spill_counts(0).spills;
	cr_assert(gt(u64, spills, 1));
	cr_expect(eq(u32, spill_harness.spilled_reports, 1));
	cr_expect(eq(u64, scheduler_again_ns(spill_harness.scheduler),
		     spill_clock() + SCHED_SPILLS_TELL_NS));
	atomic_fetch_add(&spill_time_ns, SCHED_SPILLS_TELL_NS);
	spill_run_idle_turns();
	cr_expect(eq(u32, spill_harness.spilled_reports, 2));
	cr_expect(eq(u64, spill_harness.spilled.spills, spills));
	cr_expect(eq(u64, spill_harness.spilled.returns, spill_counts(0).returns));
	cr_expect(eq(u64, scheduler_again_ns(spill_harness.scheduler), UINT64_MAX));
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* The trace is of device 0, and the buffers belong to a session. */
Test(spill, TG15_copies_are_in_the_trace)
{
	enum { SESSION = 7, RECORDS = 16 };
	const struct scheduler_trace_terms terms = {.backend = BACKEND_KIND_FAKE, .room = 64};
	struct words words[ROOM + 1];
	struct trace_record records[RECORDS];
	struct scheduler_trace facts;
	struct sched_account *account;
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &account)));
	sched_account_name(account, SESSION);
	spill_make_words(words, ROOM + 1);
	for (uint32_t i = 0; i <= ROOM; i++)
		sched_buffer_charge(words[i].buffer, account);
	cr_assert(zero(int, scheduler_trace_begin(spill_harness.scheduler, &terms)));
	for (uint32_t i = 0; i <= ROOM; i++)
		spill_run_increment(0, &words[i]);
	spill_run_increment(0, &words[0]);
	struct scheduler_spill spill = spill_counts(0);
	uint32_t spills = 0, returns = 0,
		 count = scheduler_trace_take(spill_harness.scheduler, records, RECORDS, &facts);
	for (uint32_t i = 0; i < count; i++) {
		const struct trace_record *record = &records[i];
		if (!(record->flags & (TRACE_FLAG_SPILL | TRACE_FLAG_RETURN)))
			continue;
		spills += (record->flags & TRACE_FLAG_SPILL) != 0;
		returns += (record->flags & TRACE_FLAG_RETURN) != 0;
		cr_expect(eq(u64, record->bytes, BYTES));
		cr_expect(eq(u64, record->session, SESSION));
		cr_expect(gt(u64, record->group, 0));
		cr_expect(le(u64, record->start_ns, record->end_ns));
		cr_expect(eq(u64, record->at_ns, record->start_ns));
		cr_expect(zero(u32, record->flags & TRACE_FLAG_FAILED));
	}
	cr_expect(eq(u64, spills, spill.spills));
	cr_expect(eq(u64, returns, spill.returns));
	cr_expect(ge(u64, spills, 2));
	cr_expect(eq(u64, returns, 1));
	scheduler_trace_end(spill_harness.scheduler);
	spill_free_words(words, ROOM + 1);
	(void)sched_account_drop(account);
	harness_expect_stopped(&spill_harness);
}
