/* How a device's thread sleeps: times only. */
#include "base/pace.h"

#include "spin_pace.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define START 1000000000ull

static struct sched_pace pace;

static void without_processors(void)
{
	sched_pace_init(&pace, false);
}

static void with_processors(void)
{
	sched_pace_init(&pace, true);
}

TestSuite(pace, .timeout = 20, .init = without_processors);
TestSuite(pace_spinning, .timeout = 20, .init = with_processors);

Test(pace, nothing_in_flight_sleeps_until_it_is_woken)
{
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START, false), UINT64_MAX));
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + 5000000000ull, false), UINT64_MAX));
}

Test(pace, steps_are_a_twentieth_of_what_was_waited_within_bounds)
{
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START, true), SCHED_PACE_STEP_MIN_NS));
	cr_expect(
		eq(u64, sched_pace_sleep_ns(&pace, START + 100000, true), SCHED_PACE_STEP_MIN_NS));
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + 2000000, true), 100000));
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + 10000000, true), 500000));
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + 60000000000ull, true),
		     SCHED_PACE_STEP_MAX_NS));
}

Test(pace, what_was_found_begins_the_steps_anew)
{
	(void)sched_pace_sleep_ns(&pace, START, true);
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + 100000000, true),
		     SCHED_PACE_STEP_MAX_NS));
	sched_pace_found(&pace, START + 101000000);
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + 101000000, true),
		     SCHED_PACE_STEP_MIN_NS));
}

Test(pace_spinning, a_spin_is_bounded)
{
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START, true), 0));
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + SPIN_PACE_MAX_NS - 1, true), 0));
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + SPIN_PACE_MAX_NS, true),
		     SCHED_PACE_STEP_MIN_NS));
}

Test(pace_spinning, with_nothing_in_flight_it_ends_in_sleep)
{
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START, false), 0));
	cr_expect(eq(u64, sched_pace_sleep_ns(&pace, START + SPIN_PACE_MAX_NS, false), UINT64_MAX));
}

/* Makes one wait of this length. Returns how long the thread spun. */
static uint64_t pace_make_wait(uint64_t now, uint64_t length, bool in_flight)
{
	uint64_t spun = 0;
	for (uint64_t at = 0; at < length; at += 500)
		if (sched_pace_sleep_ns(&pace, now + at, in_flight) == 0)
			spun = at;
	sched_pace_found(&pace, now + length);
	return spun;
}

Test(pace_spinning, long_waits_make_spins_short_and_short_ones_bring_them_back)
{
	uint64_t now = START, first = pace_make_wait(now, 1000000, true), last = first;
	for (uint32_t i = 0; i < 10; i++) {
		now += 2000000;
		uint64_t spun = pace_make_wait(now, 1000000, true);
		cr_expect(le(u64, spun, last));
		last = spun;
	}
	cr_expect(lt(u64, last, first / 10));
	cr_expect(le(u64, last, SPIN_PACE_MIN_NS));
	/* A spin can cover 20 us: the next wait of that length is spun through. */
	now += 2000000;
	(void)pace_make_wait(now, 20000, true);
	now += 2000000;
	cr_expect(ge(u64, pace_make_wait(now, 20000, true), 19000));
}

Test(pace_spinning, mail_and_completions_are_learned_apart)
{
	uint64_t now = START;
	for (uint32_t i = 0; i < 10; i++, now += 2000000)
		(void)pace_make_wait(now, 1000000, false);
	cr_expect(le(u64, pace_make_wait(now, 40000, false), SPIN_PACE_MIN_NS));
	now += 2000000;
	cr_expect(ge(u64, pace_make_wait(now, 40000, true), 39000));
}

Test(pace_spinning,
     TG9_beside_the_latency_class_kernels_and_pauses_of_its_length_are_looked_through)
{
	uint64_t now = START;
	pace.most_ns = SPIN_PACE_AMPLE_MAX_NS;
	for (uint32_t i = 0; i < 4; i++, now += 2000000)
		(void)pace_make_wait(now, 300000, true);
	cr_expect(ge(u64, pace_make_wait(now, 300000, true), 299000));
	/* A wait that is too long even for that costs almost nothing after a while, */
	for (uint32_t i = 0; i < 12; i++, now += 4000000)
		(void)pace_make_wait(now, 3000000, true);
	cr_expect(le(u64, pace_make_wait(now, 3000000, true), SPIN_PACE_AMPLE_MIN_NS));
	/* and when there are no such waits any more, their estimate is dropped. */
	for (uint32_t i = 0; i < 4; i++, now += 2000000)
		(void)pace_make_wait(now, 300000, true);
	pace.most_ns = SPIN_PACE_MAX_NS;
	cr_expect(lt(u64, pace_make_wait(now, 300000, true), SPIN_PACE_MAX_NS));
}

Test(spin_pace, longer_for_the_latency_class_and_where_there_are_processors_for_all)
{
	cr_expect(eq(u64, spin_pace_most(false, 64, UINT32_MAX), SPIN_PACE_MAX_NS));
	cr_expect(eq(u64, spin_pace_most(false, 64, 49), SPIN_PACE_MAX_NS));
	cr_expect(eq(u64, spin_pace_most(false, 64, 48), SPIN_PACE_AMPLE_MAX_NS));
	cr_expect(
		eq(u64, spin_pace_most(true, SPIN_PACE_AMPLE_PROCESSORS - 1, 1), SPIN_PACE_MAX_NS));
	cr_expect(eq(u64, spin_pace_most(false, SPIN_PACE_AMPLE_PROCESSORS - 1, 1),
		     SPIN_PACE_MAX_NS));
	cr_expect(eq(u64, spin_pace_most(true, SPIN_PACE_AMPLE_PROCESSORS, UINT32_MAX),
		     SPIN_PACE_AMPLE_MAX_NS));
}

/* One wait in a hundred is long. The thread still spins through those behind it. */
Test(spin_pace, TR1_long_waits_leave_a_spin_for_short_ones_where_there_are_processors)
{
	uint64_t spin_ns = SPIN_PACE_AMPLE_MAX_NS;
	for (uint32_t i = 0; i < 100; i++)
		spin_ns = spin_pace_update(spin_ns, 5000000, SPIN_PACE_AMPLE_MAX_NS);
	cr_expect(eq(u64, spin_ns, SPIN_PACE_AMPLE_MIN_NS));
	for (uint32_t i = 0; i < 100; i++)
		spin_ns = spin_pace_update(spin_ns, 5000000, SPIN_PACE_MAX_NS);
	cr_expect(eq(u64, spin_ns, SPIN_PACE_MIN_NS));
}

Test(pace, B18_a_device_that_wakes_is_asked_by_a_fraction_of_what_was_waited)
{
	cr_expect(eq(u64, sched_pace_look(&pace, START), SCHED_PACE_LOOK_MIN_NS));
	cr_expect(eq(u64, sched_pace_look(&pace, START + 40000000), 10000000));
	cr_expect(eq(u64, sched_pace_look(&pace, START + 60000000000ull), SCHED_PACE_LOOK_MAX_NS));
	sched_pace_found(&pace, START + 60000000000ull);
	cr_expect(eq(u64, sched_pace_look(&pace, START + 70000000000ull), SCHED_PACE_LOOK_MIN_NS));
}
