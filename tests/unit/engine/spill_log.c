/* Copies of spilled memory on their way from a device's thread to the front thread. */
#include "base/spill_log.h"

#include <pthread.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(spill_log, .timeout = 30);

static struct spill_log spill_log_of_test;

static void note(uint64_t number)
{
	const struct spill_log_event event = {.start_ns = number, .bytes = 2 * number};
	spill_log_note(&spill_log_of_test, &event);
}

/* The number of the oldest event; 0: there is none. */
static uint64_t taken(void)
{
	struct spill_log_event event;
	if (!spill_log_take(&spill_log_of_test, &event))
		return 0;
	cr_expect(eq(u64, event.bytes, 2 * event.start_ns));
	return event.start_ns;
}

Test(spill_log, events_are_taken_in_order)
{
	cr_assert(zero(int, spill_log_begin(&spill_log_of_test)));
	for (uint64_t i = 1; i <= 3; i++)
		note(i);
	for (uint64_t i = 1; i <= 3; i++)
		cr_expect(eq(u64, taken(), i));
	cr_expect(eq(u64, taken(), 0));
	spill_log_fini(&spill_log_of_test);
}

Test(spill_log, without_a_trace_nothing_is_kept)
{
	note(1);
	cr_expect(not(spill_log_is_on(&spill_log_of_test)));
	cr_expect(eq(u64, taken(), 0));
	cr_assert(zero(int, spill_log_begin(&spill_log_of_test)));
	note(2);
	spill_log_end(&spill_log_of_test);
	note(3);
	cr_expect(eq(u64, taken(), 2), "what was there is not lost");
	cr_expect(eq(u64, taken(), 0));
	cr_assert(zero(int, spill_log_begin(&spill_log_of_test)));
	note(4);
	cr_assert(zero(int, spill_log_begin(&spill_log_of_test)));
	cr_expect(eq(u64, taken(), 0), "it is of the trace before");
	spill_log_fini(&spill_log_of_test);
}

Test(spill_log, events_without_room_are_counted)
{
	cr_assert(zero(int, spill_log_begin(&spill_log_of_test)));
	for (uint64_t i = 1; i <= SPILL_LOG_EVENTS + 5; i++)
		note(i);
	cr_expect(eq(u64, spill_log_take_missed(&spill_log_of_test), 5));
	cr_expect(eq(u64, spill_log_take_missed(&spill_log_of_test), 0));
	cr_expect(eq(u64, taken(), 1));
	note(9999);
	for (uint64_t i = 2; i <= SPILL_LOG_EVENTS; i++)
		cr_assert(eq(u64, taken(), i));
	cr_expect(eq(u64, taken(), 9999));
	spill_log_fini(&spill_log_of_test);
}

enum { MANY = 200000 };

static void *note_many(void *unused)
{
	for (uint64_t i = 1; i <= MANY; i++)
		note(i);
	return unused;
}

/* Each event arrives whole and in order, or is counted. */
Test(spill_log, two_threads_lose_nothing_without_counting_it)
{
	pthread_t writer;
	uint64_t count = 0, last = 0, missed = 0;
	cr_assert(zero(int, spill_log_begin(&spill_log_of_test)));
	cr_assert(zero(int, pthread_create(&writer, NULL, note_many, NULL)));
	while (count + missed < MANY) {
		uint64_t number = taken();
		missed += spill_log_take_missed(&spill_log_of_test);
		if (number == 0)
			continue;
		cr_assert(gt(u64, number, last));
		last = number;
		count++;
	}
	cr_assert(zero(int, pthread_join(writer, NULL)));
	cr_expect(eq(u64, taken(), 0));
	spill_log_fini(&spill_log_of_test);
}
