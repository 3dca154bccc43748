/* When a program that sends at regular times is expected to send. */
#include "base/arrival.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(arrival, .timeout = 10);

#define US 1000ull
#define MS 1000000ull

static uint64_t from_ns, until_ns;

static bool note_all(struct arrival *arrival, const uint64_t *pauses_ns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		arrival_note(arrival, pauses_ns[i]);
	return arrival_expect(arrival, &from_ns, &until_ns);
}

static bool note_same(struct arrival *arrival, uint64_t pause_ns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		arrival_note(arrival, pause_ns);
	return arrival_expect(arrival, &from_ns, &until_ns);
}

Test(arrival, TR3_nothing_is_expected_before_pauses_were_alike)
{
	struct arrival arrival = {.pause_ns = 0};
	cr_expect(not(arrival_expect(&arrival, &from_ns, &until_ns)));
	cr_expect(not(note_same(&arrival, 10 * MS, ARRIVAL_REGULAR)));
}

/* The thread is awake before and after that time, for an eighth of the pause at most. */
Test(arrival, TR3_after_pauses_that_are_alike_another_one_is_expected)
{
	struct arrival arrival = {.pause_ns = 0};
	cr_assert(note_same(&arrival, 10 * MS, 40));
	cr_expect(le(u64, from_ns, 10 * MS - ARRIVAL_LEAD_NS - ARRIVAL_MARGIN_NS));
	cr_expect(ge(u64, until_ns, 10 * MS + ARRIVAL_MARGIN_NS));
	cr_expect(le(u64, until_ns - from_ns, 10 * MS / ARRIVAL_PART));
	const uint64_t jitter_ns[] = {10050 * US, 9980 * US, 10100 * US,
				      10020 * US, 9950 * US, 10000 * US};
	cr_assert(note_all(&arrival, jitter_ns, 6));
	cr_expect(le(u64, until_ns - from_ns, 11 * MS / ARRIVAL_PART));
}

Test(arrival, TR3_a_new_rhythm_is_learned_anew)
{
	struct arrival arrival = {.pause_ns = 0};
	cr_assert(note_same(&arrival, 10 * MS, 40));
	cr_expect(not(note_same(&arrival, 20 * MS, 1)));
	cr_assert(note_same(&arrival, 20 * MS, 40));
	cr_expect(gt(u64, from_ns, 17 * MS));
}

/* For a program that sends at random times, no time is spent awake. */
Test(arrival, TR3_pauses_that_differ_are_not_expected)
{
	struct arrival arrival = {.pause_ns = 0};
	uint32_t seed = 1;
	for (int i = 0; i < 10000; i++) {
		seed = seed * 1664525u + 1013904223u;
		arrival_note(&arrival, 3 * MS + seed % (20 * MS));
		cr_expect(not(arrival_expect(&arrival, &from_ns, &until_ns)), "pause %d", i);
	}
}

/* It sleeps if the time awake would be a large part of the pause, and after long pauses. */
Test(arrival, TR3_short_and_long_pauses_are_slept_through)
{
	struct arrival arrival = {.pause_ns = 0};
	cr_expect(not(note_same(&arrival, MS, 40)));
	cr_expect(not(note_same(&arrival, ARRIVAL_PAUSE_MAX_NS + MS, 40)));
	cr_expect(not(note_same(&arrival, UINT64_MAX, 40)));
	cr_expect(not(note_same(&arrival, 0, 40)));
}
