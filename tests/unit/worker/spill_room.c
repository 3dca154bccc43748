/* Memory that is given to another engine, on simulated devices. */
#include "scheduler/harness_checks.h"
#include "worker/spill_fixture.h"

#include "clock.h"
#include "scheduler/state/device.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(sched_spill_room, .timeout = 240);

#define HOUR_NS 3600000000000u

/* These devices have no UUID: the first one is used. */
static uint64_t begin_request(uint64_t bytes, uint64_t within_ns, uint64_t hold_ns)
{
	static const uint8_t none[16];
	static uint64_t number;
	const struct room_request request = {++number, bytes, within_ns, hold_ns};
	cr_assert(eq(int, scheduler_room_request(spill_harness.scheduler, none, &request), 0));
	return number;
}

static struct room_figures await_request(uint64_t number)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (spill_harness.room_request != number && clock_now_ns() < deadline)
		harness_turn(&spill_harness);
	cr_assert(eq(u64, spill_harness.room_request, number));
	return spill_harness.room;
}

static uint64_t device_bytes(void)
{
	struct fake_counters counters;
	fake_counters(0, &counters);
	return counters.memory_bytes;
}

static void await_device_bytes(uint64_t most)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (device_bytes() > most && clock_now_ns() < deadline)
		harness_turn(&spill_harness);
	cr_expect(le(u64, device_bytes(), most));
}

Test(sched_spill_room, TG15_what_is_needed_last_is_given_and_comes_back)
{
	struct words words[ROOM];
	spill_begin_full(words, ROOM);
	struct room_figures figures = await_request(begin_request(2 * BYTES, HOUR_NS, 0));
	cr_expect(eq(u64, figures.freed_bytes, 2 * BYTES));
	cr_expect(eq(u64, figures.held_bytes, (ROOM - 2) * BYTES));
	cr_expect(eq(u64, device_bytes(), (ROOM - 2) * BYTES));
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_counted(&words[i], i * 1000 + 1);
	spill_free_words(words, ROOM);
	harness_expect_stopped(&spill_harness);
}

Test(sched_spill_room, TG15_a_question_alone_takes_nothing_away)
{
	struct words words[ROOM];
	spill_begin_full(words, ROOM);
	struct room_figures figures = await_request(begin_request(0, HOUR_NS, 0));
	cr_expect(eq(u64, figures.freed_bytes, 0));
	cr_expect(eq(u64, figures.held_bytes, ROOM * BYTES));
	cr_expect(eq(u64, figures.spillable_bytes, ROOM * BYTES));
	cr_expect(eq(u64, spill_counts(0).spills, 0));
	spill_free_words(words, ROOM);
	harness_expect_stopped(&spill_harness);
}

Test(sched_spill_room, TG15_what_commands_use_is_not_given_and_the_wait_has_an_end)
{
	struct words words[ROOM];
	struct probe held[ROOM];
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM);
	spill_hold_all(words, held);
	uint64_t number = begin_request(BYTES, HOUR_NS, 0);
	spill_run_idle_turns();
	cr_expect(ne(u64, spill_harness.room_request, number));
	/* The hour begins when the device's thread takes the request, which may be late. */
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (spill_harness.room_request != number && clock_now_ns() < deadline) {
		atomic_fetch_add(&spill_time_ns, HOUR_NS);
		spill_run_idle_turns();
	}
	cr_expect(eq(u64, await_request(number).freed_bytes, 0));
	spill_release_held(held);
	spill_free_words(words, ROOM);
	harness_expect_stopped(&spill_harness);
}

Test(sched_spill_room, TG15_what_was_given_is_not_taken_back_for_a_while)
{
	struct words words[ROOM + 1];
	spill_begin_full(words, ROOM + 1);
	(void)await_request(begin_request(BYTES, HOUR_NS, HOUR_NS));
	/* New memory gets the room of other memory of this engine. */
	spill_run_increment(0, &words[ROOM]);
	await_device_bytes((ROOM - 1) * BYTES);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &words[i]);
	await_device_bytes((ROOM - 1) * BYTES);
	/* Then any engine can use the room. */
	atomic_fetch_add(&spill_time_ns, HOUR_NS);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_counted(&words[i], i * 1000 + 2);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* These devices have no UUID, by which other engines would identify them. */
Test(sched_spill_room, TG15_a_command_whose_answer_does_not_come_gets_room_of_its_own_engine)
{
	struct words words[ROOM + 1];
	struct probe probe;
	spill_begin_full(words, ROOM + 1);
	spill_harness.devices[0]->asks_for_room = true;
	(void)spill_increment(0, &words[ROOM], &probe);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (spill_harness.rooms_wanted == 0 && clock_now_ns() < deadline)
		harness_turn(&spill_harness);
	cr_assert(eq(u32, spill_harness.rooms_wanted, 1));
	/* This is longer than a command usually waits for room. The device's thread has checked
	 * once before it takes the second request. */
	atomic_fetch_add(&spill_time_ns, 3000000000u);
	for (uint32_t i = 0; i < 2; i++)
		(void)await_request(begin_request(0, HOUR_NS, 0));
	cr_assert(not(probe.done), "%s", probe.fault.text);
	atomic_fetch_add(&spill_time_ns, HOUR_NS);
	spill_expect_status(&probe, STATUS_SUCCESS);
	cr_expect(eq(u32, spill_harness.rooms_wanted, 1), "it asks no more for a while");
	/* No command waits for it now. */
	scheduler_room_answer(spill_harness.scheduler, BYTES);
	for (uint32_t i = 0; i <= ROOM; i++)
		spill_expect_counted(&words[i], i * 1000 + 1);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

static _Atomic uint32_t trims;

static void count_trim(struct backend_device *device, uint64_t *capacity_out)
{
	(void)device;
	*capacity_out = 7 * BYTES;
	atomic_fetch_add(&trims, 1);
}

Test(sched_spill_room, TG15_questions_do_not_take_away_what_is_kept_for_reuse_each_time)
{
	struct words words[ROOM];
	spill_begin_full(words, ROOM);
	struct backend_ops ops = *spill_harness.devices[0]->ops;
	const struct backend_ops *before = spill_harness.devices[0]->ops;
	ops.memory_trim = count_trim;
	spill_harness.devices[0]->ops = &ops;
	for (uint32_t i = 0; i < 3; i++)
		cr_expect(eq(u64, await_request(begin_request(0, HOUR_NS, 0)).capacity_bytes,
			     7 * BYTES));
	cr_expect(eq(u32, trims, 1));
	/* The freed memory must become free on the device. */
	(void)await_request(begin_request(BYTES, HOUR_NS, 0));
	cr_expect(eq(u32, trims, 2));
	atomic_fetch_add(&spill_time_ns, HOUR_NS);
	(void)await_request(begin_request(0, HOUR_NS, 0));
	cr_expect(eq(u32, trims, 3));
	spill_harness.devices[0]->ops = before;
	spill_free_words(words, ROOM);
	harness_expect_stopped(&spill_harness);
}
