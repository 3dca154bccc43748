/* Full devices: the cost of a spill's copies, their parts, and how many a sweep over memory
 * needs. */
#include "worker/spill_fixture.h"
#include "scheduler/harness_checks.h"
#include "worker/spill/spill.h"
#include "worker/spill/host.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

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
		harness_turn(&spill_harness);
	cr_assert(eq(u64, pinned(), count));
}

/* One buffer's device memory is used for the next, and so is the pinned host memory of the
 * spill. */
Test(spill, TG15_a_sweep_that_comes_again_asks_the_driver_for_no_memory)
{
	enum { COUNT = ROOM + 2 };
	struct words words[COUNT];
	spill_begin(ROOM, PINS, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, COUNT);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			spill_run_increment(0, &words[i]);
	wait_for_pinned(3); /* two are spilled, and one is spilled before another returns */
	uint64_t made = spill_calls(FAKE_MEMORY_CREATE), returns = spill_counts(0).returns;
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			spill_run_increment(0, &words[i]);
	cr_expect(gt(u64, spill_counts(0).returns, returns));
	cr_expect(eq(u64, spill_calls(FAKE_MEMORY_CREATE), made));
	cr_expect(eq(u64, pinned(), 3));
	for (uint32_t i = 0; i < COUNT; i++)
		spill_expect_counted(&words[i], i * 1000 + 5);
	spill_free_words(words, COUNT);
	/* It is not used for a while. */
	cr_assert(harness_settle(&spill_harness));
	wait_for_pinned(0);
	harness_expect_stopped(&spill_harness);
}

/* It is copied in parts, each with its own host memory. */
Test(spill, TG15_large_memory_goes_in_pieces)
{
	enum {
		LARGE_WORDS = (2 * SPILL_PIECE_BYTES + SPILL_PIECE_BYTES / 4) / 4 + 5,
		LARGE_PIECES = 10,
		COUNT = 3
	};
	struct words words[COUNT];
	struct scheduler_config config = {
		.processors = 2, .spills = true, .clock_ns = spill_clock, .spill_least_bytes = 1};
	fake_reset();
	fake_device_options(0, (struct fake_device_options){.memory_bytes = 2ull * LARGE_WORDS * 4,
							    .features = PINS});
	harness_start_with(&spill_harness, 1, &config);
	for (uint32_t i = 0; i < COUNT; i++)
		harness_words(&spill_harness, &words[i], LARGE_WORDS, true, i * 1000);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			spill_run_increment(0, &words[i]);
	cr_expect(gt(u64, spill_counts(0).returns, 0));
	cr_expect(eq(u64, spill_counts(0).away_bytes, (uint64_t)LARGE_WORDS * 4));
	uint64_t submitted = spill_calls(FAKE_SUBMIT), returns = spill_counts(0).returns,
		 spills = spill_counts(0).spills;
	spill_run_increment(0, &words[0]);
	cr_expect(eq(u64, spill_counts(0).returns, returns + 1));
	cr_expect(eq(u64, spill_calls(FAKE_SUBMIT),
		     submitted + 1 + LARGE_PIECES * (spill_counts(0).spills - spills + 1)));
	for (uint32_t i = 0; i < COUNT; i++)
		spill_expect_counted(&words[i], i * 1000 + (i == 0 ? 3 : 2));
	/* If one part fails, the others do not count either. The memory that was to be saved stays,
	 * and another buffer is spilled. */
	spill_run_increment(0, &words[1]);
	spill_run_increment(0, &words[2]);
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 1, 1, STATUS_RUNTIME, false, "no copy")));
	spill_run_increment(0, &words[0]);
	for (uint32_t i = 0; i < COUNT; i++)
		spill_expect_counted(&words[i], i * 1000 + (i == 0 ? 4 : 3));
	spill_free_words(words, COUNT);
	harness_expect_stopped(&spill_harness);
}

/* --------------------------------- one follows another ---------------------------------- */

enum { PARTS = 8, HAS_OF_PARTS = 2, OF_PARTS = HAS_OF_PARTS + 1 };

/* Memory is moved in parts: each part is filled when the former part has left. The first buffer is
 * spilled. */
static void spill_copies_begin_parts(struct words *words)
{
	const uint64_t bytes = PARTS * PAGE;
	struct scheduler_config config = {
		.processors = 2, .spills = true, .clock_ns = spill_clock, .spill_least_bytes = 1};
	fake_reset();
	fake_device_options(0,
			    (struct fake_device_options){.memory_bytes = HAS_OF_PARTS * bytes,
							 .features = BACKEND_FEATURE_COPY_LANES});
	harness_start_with(&spill_harness, 1, &config);
	for (uint32_t i = 0; i < OF_PARTS; i++)
		harness_words(&spill_harness, &words[i], (uint32_t)(bytes / sizeof(uint32_t)), true,
			      i * 1000);
	for (uint32_t i = 0; i < OF_PARTS; i++)
		spill_run_increment(0, &words[i]);
	cr_assert(eq(u64, spill_counts(0).away_bytes, bytes));
}

Test(spill, TG15_what_comes_follows_what_goes_part_by_part)
{
	enum { ENTRIES = 64 };
	static struct fake_log_entry log[ENTRIES];
	struct words words[OF_PARTS];
	spill_copies_begin_parts(words);
	fake_delay(0, 3000000);
	cr_assert(zero(int, fake_log_start(ENTRIES)));
	spill_run_increment(0, &words[0]);
	uint32_t count = fake_log_read(log, ENTRIES), ways[2] = {0}, early = 0;
	fake_delay(0, 0);
	/* Never are more in than out, and some are in before all are out. */
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
		spill_expect_counted(&words[i], i * 1000 + (i == 0 ? 2 : 1));
	spill_free_words(words, OF_PARTS);
	harness_expect_stopped(&spill_harness);
}

/* Any of the parts may fail. If a part of the old memory fails, it stays, with all that was
 * overwritten. If a part of the new memory fails, only that fails. */
Test(spill, TG15_a_part_that_fails_harms_nobody_else)
{
	const enum fake_entry entries[] = {FAKE_COMPLETION, FAKE_SUBMIT};
	for (uint32_t skip = 0; skip < 2 * 2 * PARTS; skip++) {
		struct words words[OF_PARTS];
		struct probe probe;
		spill_copies_begin_parts(words);
		cr_assert(zero(int, fake_fail(entries[skip % 2], 0, skip / 2, 1, STATUS_RUNTIME,
					      false, "no copy")));
		(void)spill_increment(0, &words[0], &probe);
		cr_assert(harness_wait(&spill_harness, &probe));
		for (uint32_t i = probe.fault.status == STATUS_SUCCESS ? 0 : 1; i < OF_PARTS; i++)
			spill_expect_counted(&words[i], i * 1000 + (i == 0 ? 2 : 1));
		spill_free_words(words, OF_PARTS);
		cr_assert(harness_settle(&spill_harness));
		cr_expect(eq(u64, spill_counts(0).away_bytes, 0), "%u", skip);
		harness_expect_stopped(&spill_harness);
	}
}

Test(spill, TG15_a_device_may_be_lost_at_each_part)
{
	const enum fake_entry entries[] = {FAKE_COMPLETION, FAKE_SUBMIT};
	for (uint32_t skip = 0; skip < 2 * 2 * PARTS; skip++) {
		struct words words[OF_PARTS];
		struct probe probe;
		spill_copies_begin_parts(words);
		cr_assert(zero(int, fake_fail(entries[skip % 2], 0, skip / 2, 1, STATUS_DEVICE_LOST,
					      true, "gone")));
		(void)spill_increment(0, &words[0], &probe);
		spill_expect_status(&probe, STATUS_DEVICE_LOST);
		spill_free_words(words, OF_PARTS);
		cr_assert(harness_settle(&spill_harness));
		cr_expect(eq(u64, spill_counts(0).away_bytes, 0), "%u", skip);
		harness_expect_stopped(&spill_harness);
	}
}

/* Its place belongs to another buffer by then. */
Test(spill, TG15_what_goes_may_end_while_another_comes_into_its_place)
{
	struct words words[OF_PARTS];
	struct probe probe;
	spill_copies_begin_parts(words);
	uint64_t submitted = spill_calls(FAKE_SUBMIT);
	fake_device_gate_close(0);
	(void)spill_increment(0, &words[0], &probe);
	scheduler_flush(spill_harness.scheduler);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (spill_calls(FAKE_SUBMIT) < submitted + PARTS && clock_now_ns() < deadline)
		harness_turn(&spill_harness);
	for (uint32_t i = 1; i < OF_PARTS; i++)
		sched_buffer_release(words[i].buffer);
	spill_run_idle_turns();
	fake_device_gate_open(0);
	spill_expect_status(&probe, STATUS_SUCCESS);
	for (uint32_t i = 1; i < OF_PARTS; i++) {
		cr_assert(harness_wait(&spill_harness, &words[i].freed));
		free(words[i].host);
	}
	spill_expect_counted(&words[0], 2);
	spill_free_words(words, 1);
	harness_expect_stopped(&spill_harness);
}

/* ----------------------------- the use of waiting commands ------------------------------ */

enum { SWEEP_MOST = 48, SWEEP_LEAST_AWAY = 16, SWEEPS_COUNTED = 16 };

/* All of a sweep is queued, in order, before any wait. Returns how often memory was moved back. */
static uint64_t returns_of_sweeps(struct words *words, uint32_t count, uint32_t sweeps)
{
	struct probe probes[SWEEP_MOST];
	uint64_t before = spill_counts(0).returns;
	for (uint32_t round = 0; round < sweeps; round++) {
		for (uint32_t i = 0; i < count; i++)
			(void)spill_increment_on(0, &words[i], 1, &probes[i]);
		for (uint32_t i = 0; i < count; i++)
			spill_expect_status(&probes[i], STATUS_SUCCESS);
	}
	return spill_counts(0).returns - before;
}

Test(spill, TG15_sweeps_move_little_more_than_what_has_no_room)
{
	enum { COUNT = 4 * ROOM, HAS = 3 * ROOM, SWEEPS = 20 };
	struct words words[COUNT];
	spill_begin(HAS, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, COUNT);
	(void)returns_of_sweeps(words, COUNT, 3);
	uint64_t returns = returns_of_sweeps(words, COUNT, SWEEPS);
	cr_expect(ge(u64, returns, SWEEPS * (COUNT - HAS)));
	cr_expect(le(u64, returns, 2 * SWEEPS * (COUNT - HAS)));
	for (uint32_t i = 0; i < COUNT; i++)
		spill_expect_counted(&words[i], i * 1000 + SWEEPS + 3);
	spill_free_words(words, COUNT);
	harness_expect_stopped(&spill_harness);
}

/*
 * The buffers need half as much again as there is room for, all in parts. Memory in transit takes
 * little of the device from commands that could use it. Returns how often memory was moved back.
 */
static uint64_t sweep_over_more(bool is_back)
{
	enum { COUNT = SWEEP_MOST, HAS = SWEEP_LEAST_AWAY * 2, SWEEPS = SWEEPS_COUNTED };
	const uint32_t count = (uint32_t)(PARTS * PAGE / sizeof(uint32_t));
	struct words words[COUNT], backwards[COUNT];
	struct scheduler_config config = {
		.processors = 2, .spills = true, .clock_ns = spill_clock, .spill_least_bytes = 1};
	uint64_t returns = 0;
	fake_reset();
	fake_device_options(
		0, (struct fake_device_options){.memory_bytes = HAS * count * sizeof(uint32_t),
						.features = BACKEND_FEATURE_COPY_LANES});
	harness_start_with(&spill_harness, 1, &config);
	for (uint32_t i = 0; i < COUNT; i++)
		harness_words(&spill_harness, &words[i], count, true, i * 1000);
	for (uint32_t i = 0; i < COUNT; i++)
		backwards[i] = words[COUNT - 1 - i];
	fake_delay(0, 20000);
	(void)returns_of_sweeps(words, COUNT, 3);
	for (uint32_t i = 0; i < SWEEPS; i++)
		returns += returns_of_sweeps(is_back && i % 2 == 0 ? backwards : words, COUNT, 1);
	fake_delay(0, 0);
	for (uint32_t i = 0; i < COUNT; i++)
		spill_expect_counted(&words[i], i * 1000 + SWEEPS + 3);
	spill_free_words(words, COUNT);
	harness_expect_stopped(&spill_harness);
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

/* The next memory comes while unneeded memory leaves, and both beside kernels. */
Test(spill, TG15_copies_go_both_ways_at_once_beside_kernels)
{
	enum { COUNT = 4 * ROOM, HAS = 3 * ROOM, ENTRIES = 4096 };
	static struct fake_log_entry log[ENTRIES];
	struct words words[COUNT];
	spill_begin(HAS, BACKEND_FEATURE_COPY_LANES, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, COUNT);
	(void)returns_of_sweeps(words, COUNT, 2);
	/* So long that everything that may run at one time does. */
	fake_delay(0, 3000000);
	cr_assert(zero(int, fake_log_start(ENTRIES)));
	(void)returns_of_sweeps(words, COUNT, 3);
	uint32_t count = fake_log_read(log, ENTRIES);
	fake_delay(0, 0);
	cr_expect(gt(u32, pairs(log, count, BACKEND_COMMAND_READ, BACKEND_COMMAND_WRITE), 0));
	cr_expect(gt(u32, pairs(log, count, BACKEND_COMMAND_READ, BACKEND_COMMAND_LAUNCH), 0));
	cr_expect(gt(u32, pairs(log, count, BACKEND_COMMAND_WRITE, BACKEND_COMMAND_LAUNCH), 0));
	for (uint32_t i = 0; i < COUNT; i++)
		spill_expect_counted(&words[i], i * 1000 + 5);
	spill_free_words(words, COUNT);
	harness_expect_stopped(&spill_harness);
}
