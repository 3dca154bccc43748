/* Full devices: which memory is spilled, which is not, which commands wait, and the errors of those
 * without room. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "worker/spill.h"
#include "base/spill_order.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 256, BYTES = WORDS * 4, ROOM = 4 };

#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE)) /* whatever is spilled takes pages */

static struct harness h;

/* The clock stands still: no wait is over because this machine is slow. */
static _Atomic uint64_t its_time = 1000000000000;

static uint64_t its_clock(void)
{
	return atomic_load(&its_time);
}

static void begin_spill(uint32_t room, uint32_t features, const struct scheduler_config *given)
{
	struct scheduler_config config = *given;
	config.spills = true;
	config.clock_ns = its_clock;
	config.spill_least_bytes = given->spill_least_bytes ? given->spill_least_bytes : 1;
	fake_reset();
	for (uint32_t device = 0; device < 3; device++)
		fake_device_options(
			device, (struct fake_device_options){.memory_bytes = (uint64_t)room * BYTES,
							     .features = features});
	harness_start_with(&h, 3, &config);
}

TestSuite(spill, .timeout = 60);

static struct scheduler_spill spilled(uint32_t device)
{
	struct scheduler_spill spill;
	scheduler_device_spill(h.scheduler, device, &spill);
	return spill;
}

static void expect_status(const struct probe *probe, int32_t status)
{
	cr_assert(harness_wait(&h, probe));
	cr_expect(eq(i32, probe->fault.status, status), "%s", probe->fault.text);
}

/* `lane`: from 1 on; 0: any. */
static struct task *increment_on(uint32_t device, struct words *words, uint32_t lane,
				 struct probe *probe)
{
	const struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	return harness_launch(&h,
			      &(struct launch){.device = device,
					       .kernel = "increment_u32",
					       .uses = &use,
					       .use_count = 1,
					       .home_lane = lane},
			      probe);
}

static struct task *increment_words(uint32_t device, struct words *words, struct probe *probe)
{
	return increment_on(device, words, 0, probe);
}

static void run_increment(uint32_t device, struct words *words)
{
	struct probe probe;
	(void)increment_words(device, words, &probe);
	expect_status(&probe, STATUS_SUCCESS);
}

static void expect_counted(struct words *words, uint32_t first)
{
	struct probe probe;
	struct task *access = harness_host(&h, words, ACCESS_MODE_READ, &probe);
	expect_status(&probe, STATUS_SUCCESS);
	for (uint32_t i = 0; i < words->count; i++)
		cr_assert(eq(u32, words->host[i], first + i), "word %u", i);
	host_access_release(access);
}

/* Each begins with a thousand times its number. */
static void make_words(struct words *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		harness_words(&h, &words[i], WORDS, true, i * 1000);
}

/* `count` buffers, the first of which fill the device. */
static void begin_full(struct words *words, uint32_t count)
{
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, count);
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &words[i]);
}

static void drop(struct words *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		harness_words_free(&h, &words[i]);
}

static void run_idle_turns(void)
{
	for (uint32_t i = 0; i < 20; i++)
		harness_turn(&h);
}

/* Writes all of it, so nothing comes before it. `lane`: from 1 on. */
static struct task *write_all(struct words *words, uint32_t lane, uint64_t session,
			      struct probe *probe)
{
	const struct use use = {.words = words, .mode = ACCESS_MODE_WRITE_NO_INIT};
	return harness_launch(&h,
			      &(struct launch){.device = 0,
					       .kernel = "linear_id_u32",
					       .uses = &use,
					       .use_count = 1,
					       .home_lane = lane,
					       .session = session,
					       .group = lane},
			      probe);
}

/* The device is full of what commands use that do not end until its fair queue is opened. */
static void hold_all(struct words *words, struct probe *held)
{
	for (uint32_t i = 0; i < ROOM; i++)
		(void)write_all(&words[i], 1, 1, &held[i]);
	for (uint32_t i = 0; i < ROOM; i++)
		expect_status(&held[i], STATUS_SUCCESS);
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < ROOM; i++)
		(void)write_all(&words[i], i + 1, 1, &held[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 2 * ROOM, HARNESS_TIMEOUT_NS));
}

static void let_go(struct probe *held)
{
	fake_device_gate_open(0);
	for (uint32_t i = 0; i < ROOM; i++)
		expect_status(&held[i], STATUS_SUCCESS);
}

static uint64_t calls(enum fake_entry entry)
{
	struct fake_counters counters;
	fake_counters(0, &counters);
	return counters.calls[entry];
}

/* So often memory has been requested. */
static void wait_for_tries(uint64_t count)
{
	scheduler_flush(h.scheduler);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (calls(FAKE_MEMORY_CREATE) < count && clock_now_ns() < deadline)
		harness_turn(&h);
	cr_assert(ge(u64, calls(FAKE_MEMORY_CREATE), count));
}

Test(spill, TG15_a_working_set_of_three_times_the_device_all_at_once)
{
	enum { COUNT = 3 * ROOM, ROUNDS = 5 };
	struct words words[COUNT];
	struct probe probes[ROUNDS][COUNT];
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, COUNT);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			(void)increment_words(0, &words[i], &probes[round][i]);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			expect_status(&probes[round][i], STATUS_SUCCESS);
	for (uint32_t i = 0; i < COUNT; i++)
		expect_counted(&words[i], i * 1000 + ROUNDS);
	struct scheduler_spill spill = spilled(0);
	cr_expect(gt(u64, spill.spills, 0));
	cr_expect(eq(u64, spill.spilled_bytes, spill.spills * BYTES));
	cr_expect(eq(u64, spill.returned_bytes, spill.returns * BYTES));
	cr_expect(eq(u64, spill.away_bytes, spill.spilled_bytes - spill.returned_bytes));
	drop(words, COUNT);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, spilled(0).away_bytes, 0), "what is gone is not away any more");
	harness_expect_stopped(&h);
}

Test(spill, TG15_the_least_recently_used_goes_first)
{
	struct words words[ROOM + 1];
	begin_full(words, ROOM + 1);
	run_increment(0, &words[0]);
	run_increment(0, &words[ROOM]); /* in the place of the second */
	cr_assert(eq(u64, spilled(0).spills, 1));
	run_increment(0, &words[0]);
	run_increment(0, &words[2]);
	run_increment(0, &words[3]);
	run_increment(0, &words[ROOM]);
	cr_assert(eq(u64, spilled(0).returns, 0), "they were where they had been");
	run_increment(0, &words[1]);
	cr_assert(eq(u64, spilled(0).returns, 1));
	expect_counted(&words[1], 1002);
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* Commands that do not end keep their memory; what needs room waits, what needs none goes on. */
Test(spill, TG15_nothing_in_flight_is_spilled_and_others_go_on)
{
	struct words words[ROOM + 2];
	struct probe held[ROOM], waits, elsewhere, behind;
	begin_full(words, ROOM + 2);
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < ROOM; i++)
		(void)increment_words(0, &words[i], &held[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 3 * ROOM, HARNESS_TIMEOUT_NS));
	(void)increment_words(0, &words[ROOM], &waits);
	(void)increment_words(0, &words[ROOM], &behind);
	(void)increment_words(1, &words[ROOM + 1], &elsewhere);
	expect_status(&elsewhere, STATUS_SUCCESS);
	run_idle_turns();
	cr_expect(not(waits.done));
	cr_expect(eq(u64, spilled(0).spills, 0));
	fake_device_gate_open(0);
	expect_status(&waits, STATUS_SUCCESS);
	expect_status(&behind, STATUS_SUCCESS);
	for (uint32_t i = 0; i < ROOM; i++)
		expect_status(&held[i], STATUS_SUCCESS);
	for (uint32_t i = 0; i < ROOM; i++)
		expect_counted(&words[i], i * 1000 + 2);
	expect_counted(&words[ROOM], ROOM * 1000 + 2);
	drop(words, ROOM + 2);
	harness_expect_stopped(&h);
}

Test(spill, TG15_what_is_larger_than_the_device_fails_and_nothing_is_lost)
{
	struct words words[2], large;
	struct probe probe;
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, 2);
	harness_words(&h, &large, (ROOM + 1) * WORDS, true, 7);
	run_increment(0, &words[0]);
	run_increment(0, &words[1]);
	(void)increment_words(0, &large, &probe);
	expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(strstr(probe.fault.text, "no memory of") != NULL, "%s", probe.fault.text);
	cr_expect(eq(u64, spilled(0).spills, 0), "it would have been in vain");
	run_increment(0, &words[0]);
	expect_counted(&words[0], 2);
	expect_counted(&words[1], 1001);
	drop(words, 2);
	drop(&large, 1);
	harness_expect_stopped(&h);
}

Test(spill, TG15_a_group_of_several_buffers_that_does_not_fit_fails)
{
	struct words words[ROOM];
	struct probe probe;
	begin_spill(ROOM - 1, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM);
	struct use uses[ROOM];
	for (uint32_t i = 0; i < ROOM; i++)
		uses[i] = (struct use){.words = &words[i],
				       .mode = i == 0 ? ACCESS_MODE_READ_WRITE_NO_INIT
						      : ACCESS_MODE_WRITE_NO_INIT};
	(void)harness_launch(
		&h,
		&(struct launch){.device = 0, .kernel = "noop", .uses = uses, .use_count = ROOM},
		&probe);
	expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	struct words other;
	harness_words(&h, &other, WORDS, true, 3);
	run_increment(0, &other);
	expect_counted(&other, 4);
	drop(words, ROOM);
	drop(&other, 1);
	harness_expect_stopped(&h);
}

Test(spill, TG15_without_host_memory_it_fails_and_nothing_is_lost)
{
	struct words words[ROOM + 2];
	struct probe probe;
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2, .spill_bytes = PAGE});
	make_words(words, ROOM + 2);
	for (uint32_t i = 0; i < ROOM + 1; i++)
		run_increment(0, &words[i]);
	(void)increment_words(0, &words[ROOM + 1], &probe);
	expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(strstr(probe.fault.text, "the host has no room to spill to") != NULL, "%s",
		  probe.fault.text);
	for (uint32_t i = 1; i < ROOM + 1; i++)
		expect_counted(&words[i], i * 1000 + 1);
	/* A freed buffer makes room for memory on the host. */
	harness_words_free(&h, &words[ROOM]);
	expect_counted(&words[0], 1);
	run_increment(0, &words[0]);
	expect_counted(&words[0], 2);
	drop(words, ROOM);
	drop(&words[ROOM + 1], 1);
	harness_expect_stopped(&h);
}

Test(spill, TG15_what_others_may_see_is_never_spilled)
{
	struct words shared[ROOM], other;
	struct probe probe;
	/* Exported memory comes in granules here as elsewhere; it is counted by its size. */
	begin_spill(ROOM, BACKEND_FEATURE_EXPORT_VMM, &(struct scheduler_config){.processors = 2});
	for (uint32_t i = 0; i < ROOM; i++)
		harness_words_shared(&h, &shared[i], WORDS, true, i * 1000, 0, BACKEND_EXPORT_VMM);
	harness_words(&h, &other, WORDS, true, 0);
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &shared[i]);
	(void)increment_words(0, &other, &probe);
	expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(eq(u64, spilled(0).spills, 0));
	for (uint32_t i = 0; i < ROOM; i++)
		expect_counted(&shared[i], i * 1000 + 1);
	drop(shared, ROOM);
	drop(&other, 1);
	harness_expect_stopped(&h);
}

/* ... but others make room for it. */
Test(spill, TG15_memory_that_is_to_be_exported_gets_room)
{
	struct words words[ROOM], shared;
	begin_spill(ROOM, BACKEND_FEATURE_EXPORT_VMM, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM);
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &words[i]);
	harness_words_shared(&h, &shared, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	run_increment(0, &shared);
	expect_counted(&shared, 6);
	for (uint32_t i = 0; i < ROOM; i++)
		expect_counted(&words[i], i * 1000 + 1);
	drop(words, ROOM);
	drop(&shared, 1);
	harness_expect_stopped(&h);
}

Test(spill, TG15_unless_asked_for_what_finds_no_room_fails)
{
	struct words words[ROOM + 1];
	struct probe probe;
	fake_reset();
	fake_device_options(0,
			    (struct fake_device_options){.memory_bytes = (uint64_t)ROOM * BYTES});
	harness_start_with(&h, 1, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &words[i]);
	(void)increment_words(0, &words[ROOM], &probe);
	expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	for (uint32_t i = 0; i < ROOM; i++)
		expect_counted(&words[i], i * 1000 + 1);
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* A buffer is released while its memory is on the way out, and so is one that is away. */
Test(spill, TG15_buffers_end_wherever_their_memory_is)
{
	struct words words[ROOM + 2];
	struct probe waits[2];
	begin_full(words, ROOM + 2);
	fake_device_gate_close(0);
	(void)increment_words(0, &words[ROOM], &waits[0]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 2 * ROOM + 1, HARNESS_TIMEOUT_NS), "the copy of the first");
	sched_buffer_release(words[0].buffer);
	(void)increment_words(0, &words[ROOM + 1], &waits[1]);
	run_idle_turns();
	fake_device_gate_open(0);
	expect_status(&waits[0], STATUS_SUCCESS);
	expect_status(&waits[1], STATUS_SUCCESS);
	cr_assert(harness_wait(&h, &words[0].freed));
	free(words[0].host);
	cr_assert(gt(u64, spilled(0).away_bytes, 0));
	drop(&words[1], ROOM + 1);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u64, spilled(0).away_bytes, 0));
	harness_expect_stopped(&h);
}

Test(spill, TG15_a_device_that_is_lost_ends_those_who_wait_for_room)
{
	struct words words[ROOM + 1];
	struct probe held, waits, lost;
	begin_full(words, ROOM + 1);
	fake_device_gate_close(0);
	(void)increment_words(0, &words[0], &held);
	(void)increment_words(0, &words[ROOM], &waits);
	scheduler_flush(h.scheduler);
	(void)harness_launch(&h, &(struct launch){.device = 0, .kernel = "lose_device", .items = 1},
			     &lost);
	run_idle_turns();
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &lost));
	cr_assert(harness_wait(&h, &held));
	cr_assert(harness_wait(&h, &waits));
	cr_expect(ne(i32, lost.fault.status, STATUS_SUCCESS));
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* Memory on the host is not copied from one device to another in one step. */
Test(spill, TG15_contents_that_are_spilled_reach_another_device)
{
	struct words words[2 * ROOM];
	begin_spill(ROOM, BACKEND_FEATURE_PEER, &(struct scheduler_config){.processors = 2});
	make_words(words, 2 * ROOM);
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		run_increment(0, &words[i]);
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		run_increment(1, &words[i]);
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		expect_counted(&words[i], i * 1000 + 2);
	cr_expect(gt(u64, spilled(0).spills, 0));
	drop(words, 2 * ROOM);
	harness_expect_stopped(&h);
}

/* One session goes over its part again and again; the other's memory stays. */
Test(spill, TG15_who_keeps_to_its_part_is_not_pushed_out)
{
	enum { MANY = 3 * ROOM };
	struct words modest, greedy[MANY];
	struct sched_account *accounts[2];
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[0])));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[1])));
	harness_words(&h, &modest, WORDS, true, 50);
	sched_buffer_charge(modest.buffer, accounts[0]);
	h.account = accounts[0];
	run_increment(0, &modest);
	make_words(greedy, MANY);
	h.account = accounts[1];
	for (uint32_t i = 0; i < MANY; i++)
		sched_buffer_charge(greedy[i].buffer, accounts[1]);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < MANY; i++)
			run_increment(0, &greedy[i]);
	struct scheduler_spill before = spilled(0);
	cr_assert(gt(u64, before.spills, 0));
	h.account = accounts[0];
	run_increment(0, &modest);
	cr_expect(eq(u64, spilled(0).returns, before.returns), "it was there all the time");
	expect_counted(&modest, 52);
	h.account = NULL;
	drop(&modest, 1);
	drop(greedy, MANY);
	cr_assert(harness_settle(&h));
	accounts[0] = sched_account_drop(accounts[0]);
	accounts[1] = sched_account_drop(accounts[1]);
	harness_expect_stopped(&h);
}

/* A session that wants all of the host's part gets half of it. Memory that it holds already may
 * come and go as before. */
Test(spill, TG15_one_session_does_not_fill_what_the_host_has_for_all)
{
	enum { MANY = 3 * ROOM, PAGES = 8 };
	struct words modest[3], greedy[MANY];
	struct sched_account *accounts[2];
	struct probe probe = {.done = false};
	uint32_t good = 0;
	begin_spill(ROOM, 0,
		    &(struct scheduler_config){.processors = 2, .spill_bytes = PAGES * PAGE});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[0])));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[1])));
	make_words(modest, 3);
	make_words(greedy, MANY);
	for (uint32_t i = 0; i < 3; i++)
		sched_buffer_charge(modest[i].buffer, accounts[0]);
	for (uint32_t i = 0; i < MANY; i++)
		sched_buffer_charge(greedy[i].buffer, accounts[1]);
	h.account = accounts[0];
	run_increment(0, &modest[0]);
	h.account = accounts[1];
	for (; good < MANY; good++) {
		(void)increment_words(0, &greedy[good], &probe);
		cr_assert(harness_wait(&h, &probe));
		if (probe.fault.status != STATUS_SUCCESS)
			break;
	}
	cr_expect(eq(i32, probe.fault.status, STATUS_MEMORY_ALLOCATION));
	cr_expect(eq(u32, good, ROOM - 1 + PAGES / 2));
	for (uint32_t i = 0; i < good; i++)
		run_increment(0, &greedy[i]);
	h.account = accounts[0];
	for (uint32_t i = 1; i < 3; i++)
		run_increment(0, &modest[i]);
	h.account = NULL;
	for (uint32_t i = 0; i < 3; i++)
		expect_counted(&modest[i], i * 1000 + 1);
	for (uint32_t i = 0; i < good; i++)
		expect_counted(&greedy[i], i * 1000 + 2);
	drop(modest, 3);
	drop(greedy, MANY);
	cr_assert(harness_settle(&h));
	accounts[0] = sched_account_drop(accounts[0]);
	accounts[1] = sched_account_drop(accounts[1]);
	harness_expect_stopped(&h);
}

/* A session that has ended does not count as another one. So the only session left has all of the
 * rest. */
Test(spill, TG15_who_has_ended_keeps_nothing_of_what_the_host_has_from_others)
{
	enum { PAGES = 8 };
	struct words first[ROOM], dead[ROOM], more[2 * ROOM];
	struct sched_account *accounts[2];
	struct probe probe = {.done = false};
	uint32_t good = 0;
	begin_spill(ROOM, 0,
		    &(struct scheduler_config){.processors = 2, .spill_bytes = PAGES * PAGE});
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[0])));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &accounts[1])));
	make_words(first, ROOM);
	make_words(dead, ROOM);
	make_words(more, 2 * ROOM);
	for (uint32_t i = 0; i < ROOM; i++) {
		sched_buffer_charge(first[i].buffer, accounts[0]);
		sched_buffer_charge(dead[i].buffer, accounts[1]);
	}
	for (uint32_t i = 0; i < 2 * ROOM; i++)
		sched_buffer_charge(more[i].buffer, accounts[0]);
	h.account = accounts[0];
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &first[i]);
	h.account = accounts[1];
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &dead[i]);
	h.account = NULL;
	drop(dead, ROOM);
	cr_assert(harness_settle(&h));
	accounts[1] = sched_account_drop(accounts[1]);
	h.account = accounts[0];
	for (; good < 2 * ROOM; good++) {
		(void)increment_words(0, &more[good], &probe);
		cr_assert(harness_wait(&h, &probe));
		if (probe.fault.status != STATUS_SUCCESS)
			break;
	}
	cr_expect(eq(u32, good, 2 * ROOM), "%s", probe.fault.text);
	h.account = NULL;
	drop(first, ROOM);
	drop(more, 2 * ROOM);
	cr_assert(harness_settle(&h));
	accounts[0] = sched_account_drop(accounts[0]);
	harness_expect_stopped(&h);
}

Test(spill, TG15_a_copy_that_fails_loses_nothing)
{
	struct words words[ROOM + 1];
	struct probe probe;
	begin_full(words, ROOM + 1);
	/* The first one does not go; the next does. */
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "no copy")));
	(void)increment_words(0, &words[ROOM], &probe);
	expect_status(&probe, STATUS_SUCCESS);
	cr_assert(eq(u64, spilled(0).spills, 1));
	/* The way out of another, then the way back, which fails. */
	cr_assert(zero(int,
		       fake_fail(FAKE_COMPLETION, 0, 1, 1, STATUS_RUNTIME, false, "no way back")));
	(void)increment_words(0, &words[1], &probe);
	expect_status(&probe, STATUS_RUNTIME);
	cr_expect(strstr(probe.fault.text, "no way back") != NULL, "%s", probe.fault.text);
	for (uint32_t i = 0; i < ROOM; i += i == 0 ? 2 : 1)
		expect_counted(&words[i], i * 1000 + 1);
	expect_counted(&words[ROOM], ROOM * 1000 + 1);
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

static void make_image(struct words *image)
{
	const struct backend_image description = {
		.format = BACKEND_IMAGE_R8G8B8A8_UNORM, .dimensions = 2, .size = {WORDS / 8, 8}};
	*image = (struct words){.count = WORDS, .host = malloc(BYTES)};
	cr_assert(image->host != NULL);
	cr_assert(zero(int, sched_buffer_create_image(h.scheduler, &description, BYTES, image->host,
						      false, &image->freed, &image->buffer)));
}

static void fill_image(struct words *image, uint32_t value)
{
	const struct task_requirement requirement = {
		.buffer = image->buffer, .mode = ACCESS_MODE_WRITE_NO_INIT, .size_bytes = BYTES};
	const struct task_argument arguments[2] = {
		{.kind = BACKEND_ARGUMENT_IMAGE, .writes = true},
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &value, .size_bytes = sizeof(value)},
	};
	struct task_request request = {.device = h.devices[0],
				       .what = "fill_image",
				       .action = TASK_LAUNCH,
				       .requirements = &requirement,
				       .requirement_count = 1};
	struct probe probe;
	request.launch.kernel = harness_kernel(&h, 0, "fill_image");
	request.launch.dimensions = 1;
	request.launch.global[0] = 1;
	request.launch.arguments = arguments;
	request.launch.argument_count = 2;
	(void)harness_submit(&h, &request, &probe);
	expect_status(&probe, STATUS_SUCCESS);
}

Test(spill, TG15_images_go_and_come_back)
{
	struct words images[2], words[ROOM];
	begin_spill(ROOM, BACKEND_FEATURE_IMAGE, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM);
	for (uint32_t i = 0; i < 2; i++) {
		make_image(&images[i]);
		fill_image(&images[i], 0x11 * (i + 1));
	}
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &words[i]);
	cr_expect(gt(u64, spilled(0).spills, 0));
	for (uint32_t i = 0; i < 2; i++) {
		struct probe probe;
		struct task *access = harness_host(&h, &images[i], ACCESS_MODE_READ, &probe);
		expect_status(&probe, STATUS_SUCCESS);
		for (uint32_t w = 0; w < WORDS; w++)
			cr_assert(eq(u32, images[i].host[w], 0x11111111 * (i + 1)));
		host_access_release(access);
	}
	drop(images, 2);
	drop(words, ROOM);
	harness_expect_stopped(&h);
}

static struct sched_graph *make_graph(struct words *words, struct probe *built)
{
	struct sched_graph *graph;
	const struct task_argument argument = {.kind = BACKEND_ARGUMENT_GLOBAL};
	const struct task_requirement requirement = {
		.buffer = words->buffer, .mode = ACCESS_MODE_READ_WRITE, .size_bytes = BYTES};
	struct task_request request = {.device = h.devices[0],
				       .action = TASK_LAUNCH,
				       .requirements = &requirement,
				       .requirement_count = 1};
	request.launch.kernel = harness_kernel(&h, 0, "increment_u32");
	request.launch.dimensions = 1;
	request.launch.global[0] = WORDS;
	request.launch.arguments = &argument;
	request.launch.argument_count = 1;
	*built = (struct probe){.done = false};
	cr_assert(zero(int, sched_graph_create(h.devices[0], 2, false, built, &graph)));
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t before = 0;
		cr_assert(zero(int, sched_graph_add(graph, &request, &before, i)));
	}
	sched_graph_build(graph);
	expect_status(built, STATUS_SUCCESS);
	return graph;
}

static void launch_graph(struct sched_graph *graph, struct words *words)
{
	const struct task_requirement requirement = {
		.buffer = words->buffer, .mode = ACCESS_MODE_READ_WRITE, .size_bytes = BYTES};
	struct task_request request = {.device = h.devices[0],
				       .what = "graph",
				       .home_lane = 1,
				       .requirements = &requirement,
				       .requirement_count = 1,
				       .action = TASK_GRAPH,
				       .graph = {graph, NULL}};
	struct probe probe;
	(void)harness_submit(&h, &request, &probe);
	expect_status(&probe, STATUS_SUCCESS);
}

/* Made of what is away, it comes back; from then on it stays until the graph is gone. */
Test(spill, TG15_what_a_graph_names_stays)
{
	struct words words[ROOM + 1];
	struct probe built;
	begin_spill(ROOM, BACKEND_FEATURE_GRAPH, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM + 1; i++)
		run_increment(0, &words[i]);
	struct sched_graph *graph = make_graph(&words[0], &built);
	uint64_t returns = spilled(0).returns;
	cr_assert(eq(u64, returns, 1));
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 1; i < ROOM + 1; i++)
			run_increment(0, &words[i]);
	returns = spilled(0).returns;
	launch_graph(graph, &words[0]);
	launch_graph(graph, &words[0]);
	cr_expect(eq(u64, spilled(0).returns, returns));
	expect_counted(&words[0], 1 + 4);
	sched_graph_release(graph);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 1; i < ROOM + 1; i++)
		run_increment(0, &words[i]);
	run_increment(0, &words[0]);
	cr_expect(gt(u64, spilled(0).returns, returns), "it went as any other");
	expect_counted(&words[0], 1 + 5);
	for (uint32_t i = 1; i < ROOM + 1; i++)
		expect_counted(&words[i], i * 1000 + 5);
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* A session's most is not about waiting for room: others keep it, and they would be let off. */
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
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM + 1);
	hold_all(words, held);
	struct task *task = write_all(&words[ROOM], ROOM + 1, 2, &waits);
	wait_for_tries(ROOM + 1);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS / 4);
	while (task_running(task) && clock_now_ns() < deadline)
		harness_turn(&h);
	cr_expect(not(task_running(task)));
	for (uint64_t now = 1; now < 5; now++)
		cr_expect(not(scheduler_overdue(h.scheduler, now * 1000000, deadline_of, NULL,
						&overdue)));
	let_go(held);
	expect_status(&waits, STATUS_SUCCESS);
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* The object of a query lives until the answer. */
Test(spill, TG15_a_buffer_ends_behind_a_question_that_waits_for_room)
{
	struct words words[ROOM + 1];
	struct probe held[ROOM], asked = {.done = false}, other = {.done = false};
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM + 1);
	hold_all(words, held);
	cr_assert(eq(int, sched_native_get_memory(words[ROOM].buffer, h.devices[0], &asked), 1));
	wait_for_tries(ROOM + 1);
	sched_buffer_release(words[ROOM].buffer);
	/* Behind it on its way to the device and back. */
	cr_assert(zero(int, sched_native_get(h.devices[0], BACKEND_NATIVE_DEVICE, &other)));
	cr_assert(harness_wait(&h, &other));
	run_idle_turns();
	cr_expect(not(asked.done));
	cr_expect(not(words[ROOM].freed.done));
	let_go(held);
	cr_assert(harness_wait(&h, &asked));
	cr_assert(harness_wait(&h, &words[ROOM].freed));
	free(words[ROOM].host);
	drop(words, ROOM);
	harness_expect_stopped(&h);
}

/* A polled device does not report completions by itself. That alone is no reason to try again. */
Test(spill, TG15_a_polled_device_tries_again_when_something_has_come_back)
{
	struct words words[ROOM + 1];
	struct probe held[ROOM], waits;
	struct fake_counters counters;
	begin_spill(ROOM, BACKEND_FEATURE_POLLED, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM + 1);
	hold_all(words, held);
	(void)write_all(&words[ROOM], ROOM + 1, 1, &waits);
	wait_for_tries(ROOM + 1);
	fake_counters(0, &counters);
	uint64_t enough = counters.progresses + 20,
		 deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS / 2);
	while (counters.progresses < enough && clock_now_ns() < deadline) {
		harness_turn(&h);
		fake_counters(0, &counters);
	}
	cr_assert(ge(u64, counters.progresses, enough));
	cr_expect(eq(u64, calls(FAKE_MEMORY_CREATE), ROOM + 1));
	let_go(held);
	expect_status(&waits, STATUS_SUCCESS);
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* Where a driver makes lanes only while nothing runs, it would be too late for one when the device
 * is full. */
Test(spill, TG15_the_lanes_for_copies_are_there_before_the_device_is_full)
{
	struct words words[ROOM + 1];
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2, .lanes_per_device = 1});
	make_words(words, ROOM + 1);
	run_increment(0, &words[0]);
	cr_expect(eq(u64, calls(FAKE_LANE_CREATE), 3));
	for (uint32_t i = 1; i < ROOM + 1; i++)
		run_increment(0, &words[i]);
	cr_expect(gt(u64, spilled(0).spills, 0));
	cr_expect(eq(u64, calls(FAKE_LANE_CREATE), 3));
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* Each waits for so long, and then makes way for the next. */
Test(spill, TG15_a_wait_for_room_has_an_end)
{
	struct words words[ROOM + 3];
	struct probe held[ROOM], waits[2], behind, after;
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM + 3);
	hold_all(words, held);
	struct task *task = write_all(&words[ROOM], ROOM + 1, 1, &waits[0]);
	(void)write_all(&words[ROOM + 1], ROOM + 2, 1, &waits[1]);
	(void)write_all(&words[ROOM + 2], ROOM + 1, 1, &behind);
	wait_for_tries(ROOM + 1);
	while (task_running(task))
		harness_turn(&h);
	atomic_fetch_add(&its_time, SPILL_WAIT_MOST_NS - 1);
	run_idle_turns();
	cr_assert(not(waits[0].done));
	atomic_fetch_add(&its_time, 2);
	expect_status(&waits[0], STATUS_MEMORY_ALLOCATION);
	cr_expect(strstr(waits[0].fault.text, "no memory of") != NULL, "%s", waits[0].fault.text);
	run_idle_turns();
	cr_assert(not(waits[1].done));
	cr_assert(not(behind.done));
	atomic_fetch_add(&its_time, SPILL_WAIT_MOST_NS + 1);
	expect_status(&waits[1], STATUS_MEMORY_ALLOCATION);
	run_idle_turns();
	cr_assert(not(behind.done));
	/* The session has its turn, and its time has only begun. */
	let_go(held);
	expect_status(&behind, STATUS_SUCCESS);
	(void)write_all(&words[ROOM], ROOM + 1, 1, &after);
	expect_status(&after, STATUS_SUCCESS);
	for (uint32_t i = 0; i < ROOM + 3; i++)
		if (i != ROOM + 1)
			expect_counted(&words[i], 0);
	drop(words, ROOM + 3);
	harness_expect_stopped(&h);
}

Test(spill, TG15_a_device_that_is_lost_when_a_copy_is_sent_is_lost)
{
	struct words words[ROOM + 1];
	struct probe probe;
	begin_full(words, ROOM + 1);
	uint64_t before = calls(FAKE_SUBMIT);
	cr_assert(zero(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	(void)write_all(&words[ROOM], 1, 1, &probe);
	expect_status(&probe, STATUS_DEVICE_LOST);
	cr_expect(eq(u64, calls(FAKE_SUBMIT), before + 1), "it was tried with the next ones");
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* Objects that a change took out of a graph may end, and then the graph, of a device that was lost
 * with that change. */
Test(spill, TG15_L13_a_graph_ends_behind_what_it_named_before_a_change_that_lost_the_device)
{
	struct words words[2];
	struct probe built = {.done = false}, probe;
	struct sched_graph *graph;
	struct sched_graph_node *changes = NULL;
	begin_spill(ROOM, BACKEND_FEATURE_GRAPH | BACKEND_FEATURE_GRAPH_UPDATE,
		    &(struct scheduler_config){.processors = 2});
	make_words(words, 2);
	const struct task_argument argument = {.kind = BACKEND_ARGUMENT_GLOBAL};
	struct task_requirement requirements[2];
	for (uint32_t i = 0; i < 2; i++)
		requirements[i] = (struct task_requirement){.buffer = words[i].buffer,
							    .mode = ACCESS_MODE_READ_WRITE,
							    .size_bytes = BYTES};
	struct task_request request = {.device = h.devices[0],
				       .action = TASK_LAUNCH,
				       .requirements = &requirements[0],
				       .requirement_count = 1};
	request.launch.kernel = harness_kernel(&h, 0, "increment_u32");
	request.launch.dimensions = 1;
	request.launch.global[0] = WORDS;
	request.launch.arguments = &argument;
	request.launch.argument_count = 1;
	cr_assert(zero(int, sched_graph_create(h.devices[0], 1, true, &built, &graph)));
	cr_assert(zero(int, sched_graph_add(graph, &request, NULL, 0)));
	sched_graph_build(graph);
	expect_status(&built, STATUS_SUCCESS);
	request.requirements = &requirements[1];
	cr_assert(zero(int, sched_graph_change(graph, 0, &request, NULL, 0, &changes)));
	cr_assert(
		zero(int, fake_fail(FAKE_GRAPH_UPDATE, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	struct task_request launch = {.device = h.devices[0],
				      .what = "graph",
				      .home_lane = 1,
				      .requirements = requirements,
				      .requirement_count = 2,
				      .action = TASK_GRAPH,
				      .graph = {graph, changes}};
	(void)harness_submit(&h, &launch, &probe);
	expect_status(&probe, STATUS_DEVICE_LOST);
	drop(&words[0], 1);
	sched_graph_release(graph);
	drop(&words[1], 1);
	harness_expect_stopped(&h);
}

Test(spill, TG15_what_is_on_its_way_back_is_not_away_any_more_when_the_device_is_lost)
{
	struct words words[ROOM + 1];
	struct probe probe;
	begin_spill(ROOM, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM + 1; i++)
		run_increment(0, &words[i]);
	harness_words_free(&h, &words[ROOM]);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u64, spilled(0).away_bytes, BYTES));
	/* There is room: the copy back is the next that ends. */
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	(void)increment_words(0, &words[0], &probe);
	expect_status(&probe, STATUS_DEVICE_LOST);
	drop(words, ROOM);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, spilled(0).away_bytes, 0));
	harness_expect_stopped(&h);
}

Test(spill, TG15_small_memory_is_not_worth_it)
{
	struct words words[ROOM + 1];
	struct probe probe;
	begin_spill(ROOM, 0,
		    &(struct scheduler_config){.processors = 2, .spill_least_bytes = BYTES + 1});
	make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM; i++)
		run_increment(0, &words[i]);
	(void)write_all(&words[ROOM], 1, 1, &probe);
	expect_status(&probe, STATUS_MEMORY_ALLOCATION);
	cr_expect(eq(u64, spilled(0).spills, 0));
	drop(words, ROOM + 1);
	harness_expect_stopped(&h);
}

/* ---------------------------------- what a spill costs ---------------------------------- */

#define PINS (BACKEND_FEATURE_HOST_REGISTER | BACKEND_FEATURE_LOADER)

static uint64_t pinned(void)
{
	struct fake_counters counters;
	fake_counters(0, &counters);
	return counters.hosts;
}

static void wait_for_pinned(uint64_t count)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (pinned() != count && clock_now_ns() < deadline)
		harness_turn(&h);
	cr_assert(eq(u64, pinned(), count));
}

/* Memory of the device goes from one to the next, and so does what the host has for it, which is
 * pinned. */
Test(spill, TG15_a_sweep_that_comes_again_asks_the_driver_for_no_memory)
{
	enum { COUNT = ROOM + 2 };
	struct words words[COUNT];
	begin_spill(ROOM, PINS, &(struct scheduler_config){.processors = 2});
	make_words(words, COUNT);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			run_increment(0, &words[i]);
	wait_for_pinned(3); /* two are away, and one goes before another comes */
	uint64_t made = calls(FAKE_MEMORY_CREATE), returns = spilled(0).returns;
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			run_increment(0, &words[i]);
	cr_expect(gt(u64, spilled(0).returns, returns));
	cr_expect(eq(u64, calls(FAKE_MEMORY_CREATE), made));
	cr_expect(eq(u64, pinned(), 3));
	for (uint32_t i = 0; i < COUNT; i++)
		expect_counted(&words[i], i * 1000 + 5);
	drop(words, COUNT);
	/* Nobody needs it for a while. */
	cr_assert(harness_settle(&h));
	wait_for_pinned(0);
	harness_expect_stopped(&h);
}

/* Its copies are of parts of it, each with host memory of its own. */
Test(spill, TG15_large_memory_goes_in_pieces)
{
	enum {
		LARGE_WORDS = (2 * SPILL_PIECE_BYTES + SPILL_PIECE_BYTES / 4) / 4 + 5,
		LARGE_PIECES = 10,
		COUNT = 3
	};
	struct words words[COUNT];
	struct scheduler_config config = {
		.processors = 2, .spills = true, .clock_ns = its_clock, .spill_least_bytes = 1};
	fake_reset();
	fake_device_options(0, (struct fake_device_options){.memory_bytes = 2ull * LARGE_WORDS * 4,
							    .features = PINS});
	harness_start_with(&h, 1, &config);
	for (uint32_t i = 0; i < COUNT; i++)
		harness_words(&h, &words[i], LARGE_WORDS, true, i * 1000);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			run_increment(0, &words[i]);
	cr_expect(gt(u64, spilled(0).returns, 0));
	cr_expect(eq(u64, spilled(0).away_bytes, (uint64_t)LARGE_WORDS * 4));
	uint64_t submitted = calls(FAKE_SUBMIT), returns = spilled(0).returns,
		 spills = spilled(0).spills;
	run_increment(0, &words[0]);
	cr_expect(eq(u64, spilled(0).returns, returns + 1));
	cr_expect(eq(u64, calls(FAKE_SUBMIT),
		     submitted + 1 + LARGE_PIECES * (spilled(0).spills - spills + 1)));
	for (uint32_t i = 0; i < COUNT; i++)
		expect_counted(&words[i], i * 1000 + (i == 0 ? 3 : 2));
	/* A part that fails is not without the others: what it was to save stays, and another goes.
	 */
	run_increment(0, &words[1]);
	run_increment(0, &words[2]);
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 1, 1, STATUS_RUNTIME, false, "no copy")));
	run_increment(0, &words[0]);
	for (uint32_t i = 0; i < COUNT; i++)
		expect_counted(&words[i], i * 1000 + (i == 0 ? 4 : 3));
	drop(words, COUNT);
	harness_expect_stopped(&h);
}

/* --------------------------------- one follows another ---------------------------------- */

enum { PARTS = 8, HAS_OF_PARTS = 2, OF_PARTS = HAS_OF_PARTS + 1 };

/* Memory that goes in parts: what comes has each part when that of what goes has left. The first is
 * away. */
static void begin_parts(struct words *words)
{
	const uint64_t bytes = PARTS * PAGE;
	struct scheduler_config config = {
		.processors = 2, .spills = true, .clock_ns = its_clock, .spill_least_bytes = 1};
	fake_reset();
	fake_device_options(0,
			    (struct fake_device_options){.memory_bytes = HAS_OF_PARTS * bytes,
							 .features = BACKEND_FEATURE_COPY_LANES});
	harness_start_with(&h, 1, &config);
	for (uint32_t i = 0; i < OF_PARTS; i++)
		harness_words(&h, &words[i], (uint32_t)(bytes / sizeof(uint32_t)), true, i * 1000);
	for (uint32_t i = 0; i < OF_PARTS; i++)
		run_increment(0, &words[i]);
	cr_assert(eq(u64, spilled(0).away_bytes, bytes));
}

Test(spill, TG15_what_comes_follows_what_goes_part_by_part)
{
	enum { ENTRIES = 64 };
	static struct fake_log_entry log[ENTRIES];
	struct words words[OF_PARTS];
	begin_parts(words);
	fake_delay(0, 3000000);
	cr_assert(zero(int, fake_log_start(ENTRIES)));
	run_increment(0, &words[0]);
	uint32_t count = fake_log_read(log, ENTRIES), ways[2] = {0}, early = 0;
	fake_delay(0, 0);
	/* Never more is in than out, and some before all is out. */
	for (uint32_t i = 0; i < count; i++) {
		ways[0] += log[i].kind == BACKEND_COMMAND_READ;
		ways[1] += log[i].kind == BACKEND_COMMAND_WRITE;
		cr_expect(le(u32, ways[1], ways[0]));
		early += log[i].kind == BACKEND_COMMAND_WRITE && ways[0] < PARTS;
	}
	cr_expect(eq(u32, ways[0], PARTS));
	cr_expect(eq(u32, ways[1], PARTS));
	cr_expect(gt(u32, early, 0));
	for (uint32_t i = 0; i < OF_PARTS; i++)
		expect_counted(&words[i], i * 1000 + (i == 0 ? 2 : 1));
	drop(words, OF_PARTS);
	harness_expect_stopped(&h);
}

/* Whichever of the parts it is: what goes stays, with all that was overwritten, or what comes has
 * failed and nothing else. */
Test(spill, TG15_a_part_that_fails_harms_nobody_else)
{
	const enum fake_entry entries[] = {FAKE_COMPLETION, FAKE_SUBMIT};
	for (uint32_t skip = 0; skip < 2 * 2 * PARTS; skip++) {
		struct words words[OF_PARTS];
		struct probe probe;
		begin_parts(words);
		cr_assert(zero(int, fake_fail(entries[skip % 2], 0, skip / 2, 1, STATUS_RUNTIME,
					      false, "no copy")));
		(void)increment_words(0, &words[0], &probe);
		cr_assert(harness_wait(&h, &probe));
		for (uint32_t i = probe.fault.status == STATUS_SUCCESS ? 0 : 1; i < OF_PARTS; i++)
			expect_counted(&words[i], i * 1000 + (i == 0 ? 2 : 1));
		drop(words, OF_PARTS);
		cr_assert(harness_settle(&h));
		cr_expect(eq(u64, spilled(0).away_bytes, 0), "%u", skip);
		harness_expect_stopped(&h);
	}
}

Test(spill, TG15_a_device_may_be_lost_at_each_part)
{
	const enum fake_entry entries[] = {FAKE_COMPLETION, FAKE_SUBMIT};
	for (uint32_t skip = 0; skip < 2 * 2 * PARTS; skip++) {
		struct words words[OF_PARTS];
		struct probe probe;
		begin_parts(words);
		cr_assert(zero(int, fake_fail(entries[skip % 2], 0, skip / 2, 1, STATUS_DEVICE_LOST,
					      true, "gone")));
		(void)increment_words(0, &words[0], &probe);
		expect_status(&probe, STATUS_DEVICE_LOST);
		drop(words, OF_PARTS);
		cr_assert(harness_settle(&h));
		cr_expect(eq(u64, spilled(0).away_bytes, 0), "%u", skip);
		harness_expect_stopped(&h);
	}
}

/* Its place is another one's by then. */
Test(spill, TG15_what_goes_may_end_while_another_comes_into_its_place)
{
	struct words words[OF_PARTS];
	struct probe probe;
	begin_parts(words);
	uint64_t submitted = calls(FAKE_SUBMIT);
	fake_device_gate_close(0);
	(void)increment_words(0, &words[0], &probe);
	scheduler_flush(h.scheduler);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (calls(FAKE_SUBMIT) < submitted + PARTS && clock_now_ns() < deadline)
		harness_turn(&h);
	for (uint32_t i = 1; i < OF_PARTS; i++)
		sched_buffer_release(words[i].buffer);
	run_idle_turns();
	fake_device_gate_open(0);
	expect_status(&probe, STATUS_SUCCESS);
	for (uint32_t i = 1; i < OF_PARTS; i++) {
		cr_assert(harness_wait(&h, &words[i].freed));
		free(words[i].host);
	}
	expect_counted(&words[0], 2);
	drop(words, 1);
	harness_expect_stopped(&h);
}

/* --------------------------------- what waits is known ---------------------------------- */

enum { SWEEP_MOST = 48, SWEEP_LEAST_AWAY = 16, SWEEPS_COUNTED = 16 };

/* All of a sweep is queued, in order, before any of it is waited for. So often memory came back. */
static uint64_t returns_of_sweeps(struct words *words, uint32_t count, uint32_t sweeps)
{
	struct probe probes[SWEEP_MOST];
	uint64_t before = spilled(0).returns;
	for (uint32_t round = 0; round < sweeps; round++) {
		for (uint32_t i = 0; i < count; i++)
			(void)increment_on(0, &words[i], 1, &probes[i]);
		for (uint32_t i = 0; i < count; i++)
			expect_status(&probes[i], STATUS_SUCCESS);
	}
	return spilled(0).returns - before;
}

Test(spill, TG15_sweeps_move_little_more_than_what_has_no_room)
{
	enum { COUNT = 4 * ROOM, HAS = 3 * ROOM, SWEEPS = 20 };
	struct words words[COUNT];
	begin_spill(HAS, 0, &(struct scheduler_config){.processors = 2});
	make_words(words, COUNT);
	(void)returns_of_sweeps(words, COUNT, 3);
	uint64_t returns = returns_of_sweeps(words, COUNT, SWEEPS);
	cr_expect(ge(u64, returns, SWEEPS * (COUNT - HAS)));
	cr_expect(le(u64, returns, 2 * SWEEPS * (COUNT - HAS)));
	for (uint32_t i = 0; i < COUNT; i++)
		expect_counted(&words[i], i * 1000 + SWEEPS + 3);
	drop(words, COUNT);
	harness_expect_stopped(&h);
}

/*
 * Half as much again as there is room for, all of it in parts. What is on its way keeps little of
 * the device from those who could use it. Returns how often memory came back.
 */
static uint64_t sweep_over_more(bool is_back)
{
	enum { COUNT = SWEEP_MOST, HAS = SWEEP_LEAST_AWAY * 2, SWEEPS = SWEEPS_COUNTED };
	const uint32_t count = (uint32_t)(PARTS * PAGE / sizeof(uint32_t));
	struct words words[COUNT], backwards[COUNT];
	struct scheduler_config config = {
		.processors = 2, .spills = true, .clock_ns = its_clock, .spill_least_bytes = 1};
	uint64_t returns = 0;
	fake_reset();
	fake_device_options(
		0, (struct fake_device_options){.memory_bytes = HAS * count * sizeof(uint32_t),
						.features = BACKEND_FEATURE_COPY_LANES});
	harness_start_with(&h, 1, &config);
	for (uint32_t i = 0; i < COUNT; i++)
		harness_words(&h, &words[i], count, true, i * 1000);
	for (uint32_t i = 0; i < COUNT; i++)
		backwards[i] = words[COUNT - 1 - i];
	fake_delay(0, 20000);
	(void)returns_of_sweeps(words, COUNT, 3);
	for (uint32_t i = 0; i < SWEEPS; i++)
		returns += returns_of_sweeps(is_back && i % 2 == 0 ? backwards : words, COUNT, 1);
	fake_delay(0, 0);
	for (uint32_t i = 0; i < COUNT; i++)
		expect_counted(&words[i], i * 1000 + SWEEPS + 3);
	drop(words, COUNT);
	harness_expect_stopped(&h);
	return returns;
}

Test(spill, TG15_sweeps_over_one_and_a_half_times_the_device)
{
	uint64_t returns = sweep_over_more(false);
	cr_expect(le(u64, returns * 100, 110ull * SWEEPS_COUNTED * SWEEP_LEAST_AWAY), "%llu",
		  (unsigned long long)returns);
}

Test(spill, TG15_sweeps_there_and_back)
{
	uint64_t returns = sweep_over_more(true);
	cr_expect(le(u64, returns * 100, 110ull * SWEEPS_COUNTED * SWEEP_LEAST_AWAY), "%llu",
		  (unsigned long long)returns);
}

static bool is_beside(const struct fake_log_entry *one, const struct fake_log_entry *other)
{
	return one->start_order < other->end_order && other->start_order < one->end_order;
}

static uint32_t pairs(const struct fake_log_entry *log, uint32_t count,
		      enum backend_command_kind one, enum backend_command_kind other)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count && log[i].kind == one; k++)
			found += log[k].kind == other && is_beside(&log[i], &log[k]);
	return found;
}

/* The next memory comes while unneeded memory goes, and both beside kernels. */
Test(spill, TG15_copies_go_both_ways_at_once_beside_kernels)
{
	enum { COUNT = 4 * ROOM, HAS = 3 * ROOM, ENTRIES = 4096 };
	static struct fake_log_entry log[ENTRIES];
	struct words words[COUNT];
	begin_spill(HAS, BACKEND_FEATURE_COPY_LANES, &(struct scheduler_config){.processors = 2});
	make_words(words, COUNT);
	(void)returns_of_sweeps(words, COUNT, 2);
	/* So long that whatever may be under way at one time is. */
	fake_delay(0, 3000000);
	cr_assert(zero(int, fake_log_start(ENTRIES)));
	(void)returns_of_sweeps(words, COUNT, 3);
	uint32_t count = fake_log_read(log, ENTRIES);
	fake_delay(0, 0);
	cr_expect(gt(u32, pairs(log, count, BACKEND_COMMAND_READ, BACKEND_COMMAND_WRITE), 0));
	cr_expect(gt(u32, pairs(log, count, BACKEND_COMMAND_READ, BACKEND_COMMAND_LAUNCH), 0));
	cr_expect(gt(u32, pairs(log, count, BACKEND_COMMAND_WRITE, BACKEND_COMMAND_LAUNCH), 0));
	for (uint32_t i = 0; i < COUNT; i++)
		expect_counted(&words[i], i * 1000 + 5);
	drop(words, COUNT);
	harness_expect_stopped(&h);
}

/* ----------------------------------- the order alone ------------------------------------ */

struct world {
	struct spill_order order;
	struct spill_entry entries[8];
};

static void enter(struct world *world, uint32_t entry, uint64_t owner, uint64_t bytes)
{
	world->order.now = ++world->order.clock;
	spill_order_enter(&world->order, &world->entries[entry], (const void *)(uintptr_t)owner,
			  bytes);
}

static void use_entry(struct world *world, uint32_t entry)
{
	world->order.now = ++world->order.clock;
	spill_order_use(&world->order, &world->entries[entry]);
}

static int choose(struct world *world, uint64_t owner, bool *waits)
{
	const struct spill_entry *entry =
		spill_order_choose(&world->order, (const void *)(uintptr_t)owner, waits);
	return entry ? (int)(entry - world->entries) : -1;
}

static void clear(struct world *world)
{
	for (uint32_t i = 0; i < 8; i++)
		spill_order_leave(&world->order, &world->entries[i]);
	cr_expect(eq(u32, world->order.holder_count, 0));
	cr_expect(eq(u64, world->order.bytes, 0));
}

Test(spill, TG15_of_one_holder_the_least_recently_used)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	for (uint32_t i = 0; i < 8; i++)
		enter(&world, i, 1, 10);
	static const uint32_t used[] = {3, 0, 7, 5, 0, 1, 2, 4, 6};
	static const int expected[] = {3, 7, 5, 0, 1, 2, 4, 6, -1};
	for (uint32_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		use_entry(&world, used[i]);
	world.order.clock += 1000; /* none of them is expected any more */
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		int chosen = choose(&world, 1, &waits);
		cr_assert(eq(int, chosen, expected[i]));
		cr_expect(not(waits));
		if (chosen >= 0)
			spill_order_leave(&world.order, &world.entries[chosen]);
	}
	clear(&world);
}

Test(spill, TG15_first_of_those_with_more_than_their_part_then_ones_own_then_anybodys)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	enter(&world, 0, 1, 30);
	enter(&world, 1, 2, 20);
	enter(&world, 2, 2, 30);
	use_entry(&world, 1);
	use_entry(&world, 2);
	world.order.clock += 1000;
	/* 40 is a part: the second has more, though the first's was used before. */
	cr_expect(eq(int, choose(&world, 1, &waits), 1));
	spill_order_leave(&world.order, &world.entries[1]);
	/* 30 each: one's own. */
	cr_expect(eq(int, choose(&world, 2, &waits), 2));
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	/* That is in use: it is waited for, and nobody else has to give. */
	spill_order_unmark(&world.order);
	spill_order_mark_in_use(&world.order, &world.entries[0]);
	cr_expect(eq(int, choose(&world, 1, &waits), -1));
	cr_expect(waits);
	/* No memory will become free, so that of any session is taken. */
	spill_order_mark_kept(&world.order, &world.entries[0]);
	cr_expect(eq(int, choose(&world, 1, &waits), 2));
	/* A third one has a part, too. */
	spill_order_unmark(&world.order);
	cr_expect(eq(int, choose(&world, 3, &waits), 0));
	clear(&world);
}

/* Three of them again and again, in one order: what was used just now is needed last. One that was
 * used once goes before. */
Test(spill, TG15_what_is_used_again_and_again_goes_when_it_is_needed_last)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	for (uint32_t i = 0; i < 4; i++)
		enter(&world, i, 1, 10);
	for (uint32_t i = 0; i < 6; i++)
		use_entry(&world, i % 3);
	cr_expect(eq(int, choose(&world, 1, &waits), 3));
	spill_order_leave(&world.order, &world.entries[3]);
	cr_expect(eq(int, choose(&world, 1, &waits), 2));
	use_entry(&world, 0);
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	/* The memory was not used for so long that no use is expected any more: as if it had been
	 * used once. */
	for (uint32_t i = 0; i < 20; i++)
		use_entry(&world, 1 + i % 2);
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	clear(&world);
}

Test(spill, TG15_what_stands_in_line_goes_last_and_nobodys_ahead_of_those_who_need_it_sooner)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	for (uint32_t i = 0; i < 4; i++)
		enter(&world, i, 1, 10);
	static const uint32_t line[] = {2, 0, 2, 3, 1, 0};
	spill_order_line(&world.order);
	for (uint32_t i = 0; i < 6; i++) {
		spill_order_next(&world.order);
		spill_order_expect(&world.order, &world.entries[line[i]]);
	}
	cr_expect(eq(int, choose(&world, 1, &waits), 1),
		  "the fifth is the last that is needed first");
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)1, 4), &world.entries[1]));
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)1, 5), NULL));
	/* A new line: the least recently used, of all. */
	spill_order_line(&world.order);
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	/* Memory of a session within its part does not leave ahead of time for another. */
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)2, 1), &world.entries[0]),
		  "40 is more than 20");
	enter(&world, 4, 2, 40);
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)3, 1), &world.entries[0]),
		  "40 is more than 26");
	enter(&world, 5, 3, 1000);
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)3, 1), &world.entries[5]));
	spill_order_leave(&world.order, &world.entries[5]);
	clear(&world);
}
