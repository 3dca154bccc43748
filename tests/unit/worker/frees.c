/*
 * Devices that give memory back when nothing is in flight, though they load beside commands (no
 * QUIET_LOAD). When that happens, and what happens to commands without room until then.
 */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "scheduler/state/task.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { WORDS = 256, BYTES = WORDS * 4 };

#define SECOND 1000000000ull

static struct harness h;
static _Atomic uint64_t its_time = 1000 * SECOND;

static uint64_t frees_clock_ns(void)
{
	return atomic_load(&its_time);
}

static void frees_begin(bool spills, uint32_t features)
{
	struct scheduler_config config = {.processors = 2,
					  .spills = spills,
					  .clock_ns = frees_clock_ns,
					  .spill_least_bytes = 1};
	fake_reset();
	fake_device_options(0, (struct fake_device_options){.memory_bytes = 2 * BYTES,
							    .frees_when_quiet = true,
							    .features = features});
	harness_start_with(&h, 1, &config);
	(void)harness_kernel(&h, 0,
			     "hold"); /* so that its launch needs no turn of the front thread */
	cr_assert(harness_settle(&h));
}

TestSuite(sched_frees, .timeout = 60);

static struct task *frees_increment(struct words *words, struct probe *probe)
{
	const struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	return harness_launch(
		&h, &(struct launch){.kernel = "increment_u32", .uses = &use, .use_count = 1},
		probe);
}

static void make_used(struct words *words)
{
	struct probe probe;
	harness_words(&h, words, WORDS, true, 0);
	(void)frees_increment(words, &probe);
	harness_expect_success(&h, &probe);
}

static void hold(struct probe *held)
{
	uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	(void)harness_hold(&h, 0, 1, NULL, 0, held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, before + 1, HARNESS_TIMEOUT_NS));
}

static bool becomes(uint64_t memory_bytes)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (fake_counters_of(0).memory_bytes != memory_bytes && clock_now_ns() < deadline)
		harness_turn(&h);
	return fake_counters_of(0).memory_bytes == memory_bytes;
}

/* Waits until the device's thread has tried that often to get memory. */
static void wait_for_tries(enum fake_entry entry, uint64_t count)
{
	scheduler_flush(h.scheduler);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (fake_counters_of(0).calls[entry] < count && clock_now_ns() < deadline)
		harness_turn(&h);
	cr_assert(ge(u64, fake_counters_of(0).calls[entry], count));
}

static void frees_end(void)
{
	cr_expect(eq(u64, fake_counters_of(0).quiet_misuses, 0));
	harness_expect_stopped(&h);
}

Test(sched_frees, F8_memory_is_given_back_when_nothing_is_in_flight)
{
	struct words words;
	struct probe held, another;
	frees_begin(false, 0);
	make_used(&words);
	hold(&held);
	harness_words_free(&h, &words);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &another);
	harness_expect_success(&h, &another); /* it has no predecessors */
	cr_expect(eq(u64, fake_counters_of(0).memory_bytes, BYTES));
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	cr_expect(becomes(0));
	frees_end();
}

Test(sched_frees, F8_a_polled_device_with_a_loader_too)
{
	struct words words;
	struct probe held;
	frees_begin(false, BACKEND_FEATURE_POLLED | BACKEND_FEATURE_LOADER);
	make_used(&words);
	hold(&held);
	harness_words_free(&h, &words);
	cr_expect(eq(u64, fake_counters_of(0).memory_bytes, BYTES));
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	cr_expect(becomes(0));
	frees_end();
}

static void expect_room_after(bool spills)
{
	struct words words[3];
	struct probe held, waits;
	frees_begin(spills, 0);
	make_used(&words[0]);
	make_used(&words[1]);
	hold(&held);
	harness_words_free(&h, &words[0]);
	harness_words_free(&h, &words[1]);
	harness_words(&h, &words[2], WORDS, true, 7);
	uint64_t tries = fake_counters_of(0).calls[FAKE_MEMORY_CREATE];
	(void)frees_increment(&words[2], &waits);
	wait_for_tries(FAKE_MEMORY_CREATE, tries + 1);
	for (int i = 0; i < 20; i++)
		harness_turn(&h);
	cr_expect(not(waits.done));
	fake_gate_open(1);
	harness_expect_success(&h, &waits);
	harness_expect_success(&h, &held);
	harness_words_free(&h, &words[2]);
	frees_end();
}

Test(sched_frees, TG15_a_command_waits_for_memory_that_was_freed)
{
	expect_room_after(false);
}

Test(sched_frees, TG15_a_command_waits_for_memory_that_was_freed_rather_than_spill)
{
	expect_room_after(true);
}

/* The commands in flight may never end. */
Test(sched_frees, TG15_a_command_without_room_fails_in_the_end)
{
	struct words words[3];
	struct probe held, waits;
	frees_begin(false, 0);
	make_used(&words[0]);
	make_used(&words[1]);
	hold(&held);
	harness_words_free(&h, &words[0]);
	harness_words_free(&h, &words[1]);
	harness_words(&h, &words[2], WORDS, true, 7);
	uint64_t tries = fake_counters_of(0).calls[FAKE_MEMORY_CREATE];
	struct task *task = frees_increment(&words[2], &waits);
	wait_for_tries(FAKE_MEMORY_CREATE, tries + 1);
	while (!atomic_load(&task->is_aside)) /* its wait begins after the try */
		harness_turn(&h);
	atomic_fetch_add(&its_time, 100 * SECOND);
	cr_assert(harness_wait(&h, &waits));
	cr_expect(eq(i32, waits.fault.status, STATUS_MEMORY_ALLOCATION), "%s", waits.fault.text);
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	cr_expect(becomes(0));
	harness_words_free(&h, &words[2]);
	frees_end();
}

Test(sched_frees, TG15_usm_waits_for_memory_that_was_freed)
{
	struct words words;
	struct probe held, made = {.done = false};
	struct sched_usm *usm = NULL;
	frees_begin(false, BACKEND_FEATURE_USM);
	make_used(&words);
	hold(&held);
	harness_words_free(&h, &words);
	cr_assert(eq(int,
		     sched_usm_allocate(h.devices[0], BACKEND_USM_DEVICE, BYTES, 0, &made, &usm),
		     0));
	wait_for_tries(FAKE_USM_ALLOC, 1);
	for (int i = 0; i < 20; i++)
		harness_turn(&h);
	cr_expect(not(made.done));
	fake_gate_open(1);
	harness_expect_good(&h, &made);
	harness_expect_success(&h, &held);
	sched_usm_release(usm);
	frees_end();
}

Test(sched_frees, M6_a_lost_device_keeps_nothing)
{
	struct words words;
	struct probe held, loses;
	frees_begin(false, 0);
	make_used(&words);
	hold(&held);
	harness_words_free(&h, &words);
	(void)harness_launch(&h, &(struct launch){.kernel = "lose_device"}, &loses);
	cr_assert(harness_wait(&h, &loses));
	cr_assert(harness_wait(&h, &held));
	harness_expect_stopped(&h);
}
