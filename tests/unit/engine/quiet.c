/* When a device is kept quiet for a load: soon if that is possible, and never at the cost of other
 * sessions if it is not. */
#include "base/quiet.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(sched_quiet, .timeout = 10);

#define MS 1000000ull

Test(sched_quiet, F11_an_idle_device_grants_at_once)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	cr_assert(not(sched_quiet_step(&quiet, 5 * MS, 0, 0)), "nobody asked");
	sched_quiet_request(&quiet, 5 * MS);
	cr_assert(not(sched_quiet_holds(&quiet)));
	cr_assert(sched_quiet_step(&quiet, 5 * MS, 0, 0));
	cr_assert(sched_quiet_holds(&quiet));
	sched_quiet_end(&quiet);
	cr_assert(not(sched_quiet_holds(&quiet)));
}

Test(sched_quiet, F11_a_stream_of_short_kernels_is_held_back_for_a_moment)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	uint64_t now = 1000 * MS;
	sched_quiet_request(&quiet, now);
	uint64_t held_since = 0;
	for (; now < 1100 * MS && !held_since; now += MS) {
		cr_assert(not(sched_quiet_step(&quiet, now, 40, now - MS)));
		held_since = sched_quiet_holds(&quiet) ? now : 0;
	}
	cr_assert(eq(u64, held_since, 1000 * MS + SCHED_QUIET_PATIENCE_NS));
	cr_assert(sched_quiet_step(&quiet, now + MS, 0, 0), "what was in flight has ended");
}

Test(sched_quiet, F11_nobody_is_held_back_behind_a_long_kernel)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	uint64_t began = 1000 * MS, now;
	sched_quiet_request(&quiet, began + SCHED_QUIET_LONG_NS);
	for (now = began + SCHED_QUIET_LONG_NS; now < began + 20000 * MS; now += MS) {
		cr_assert(not(sched_quiet_step(&quiet, now, 3, began)));
		cr_assert(not(sched_quiet_holds(&quiet)), "sends are held back at %llu ms",
			  (unsigned long long)(now / MS));
	}
	cr_assert(sched_quiet_step(&quiet, now, 0, 0), "it has ended");
}

/* It was short when the holding began, and then it does not end: all others may continue. */
Test(sched_quiet, F11_holding_ends_when_what_runs_turns_out_to_be_long)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	uint64_t now = 0, held = 0, began = SCHED_QUIET_PATIENCE_NS - MS;
	sched_quiet_request(&quiet, now);
	for (; now < 2000 * MS; now += MS / 2) {
		(void)sched_quiet_step(&quiet, now, 1, began > now ? now : began);
		held += sched_quiet_holds(&quiet) ? MS / 2 : 0;
	}
	cr_assert(gt(u64, held, 0));
	cr_assert(le(u64, held, SCHED_QUIET_HOLD_NS + MS));
}

/* Kernels of 100 ms, of two sessions, without a gap. Each ends when it has run for that long, and
 * another one follows if it may. */
Test(sched_quiet, F11_a_load_is_not_put_off_for_ever)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	uint64_t begun[2] = {0, 50 * MS}, now;
	bool runs[2] = {true, true}, granted = false;
	sched_quiet_request(&quiet, 0);
	for (now = 0; now < 60000 * MS && !granted; now += MS) {
		for (unsigned i = 0; i < 2; i++) {
			runs[i] = runs[i] && now < begun[i] + 100 * MS;
			if (!runs[i] && !sched_quiet_holds(&quiet)) {
				runs[i] = true;
				begun[i] = now;
			}
		}
		uint64_t oldest =
			!runs[0] || (runs[1] && begun[1] < begun[0]) ? begun[1] : begun[0];
		granted = sched_quiet_step(&quiet, now, (uint32_t)runs[0] + (uint32_t)runs[1],
					   oldest);
		if (granted)
			cr_assert(not(runs[0] || runs[1]), "granted while something runs");
	}
	cr_assert(granted);
}

/* The kernel has no end at all. A load never delays other sessions for it, because that would not
 * help. */
Test(sched_quiet, F8_F11_a_kernel_without_end_stops_nobody)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	sched_quiet_request(&quiet, 0);
	for (uint64_t now = SCHED_QUIET_LONG_NS; now < 600000 * MS; now += MS) {
		cr_assert(not(sched_quiet_step(&quiet, now, 1, 0)), "granted while a kernel runs");
		cr_assert(not(sched_quiet_holds(&quiet)));
	}
}

/* The same kernels, and a command that waits for memory: it waits a moment, not half a minute. */
Test(sched_quiet, F11_what_is_urgent_holds_back_medium_kernels_soon)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO, .is_urgent = true};
	uint64_t begun = 0, now;
	bool granted = false;
	sched_quiet_request(&quiet, 0);
	for (now = 0; now < 2000 * MS && !granted; now += MS) {
		bool runs = now < begun + 100 * MS;
		if (!runs && !sched_quiet_holds(&quiet)) {
			runs = true;
			begun = now;
		}
		granted = sched_quiet_step(&quiet, now, runs, begun);
	}
	cr_assert(granted);
}

/* It lets others run in between, because the commands in flight might wait for them. */
Test(sched_quiet, F8_F11_what_is_urgent_holds_back_for_half_of_the_time)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO, .is_urgent = true};
	uint64_t held = 0, now;
	sched_quiet_request(&quiet, 0);
	for (now = 0; now < 10000 * MS; now += MS) {
		cr_assert(not(sched_quiet_step(&quiet, now, 1, now)));
		held += sched_quiet_holds(&quiet) ? MS : 0;
	}
	cr_expect(le(u64, held, 10000 * MS / 2 + SCHED_QUIET_STARVED_HOLD_NS));
	cr_expect(ge(u64, held, 10000 * MS / 3));
}

Test(sched_quiet, asking_again_changes_nothing)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	sched_quiet_request(&quiet, 0);
	sched_quiet_request(&quiet, 10 * MS);
	cr_assert(eq(u64, quiet.wanted_ns, 0));
}

/* Work that is worth a brief moment only. */
Test(sched_quiet, B18_TG9_a_brief_moment_is_no_longer_than_its_owner_allows)
{
	enum { STEP = 1000, BRIEF = 60000 };
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO, .is_brief = true, .brief_ns = BRIEF};
	uint64_t held = 0, longest = 0;
	sched_quiet_request(&quiet, 0);
	for (uint64_t now = 0; now < 100 * MS; now += STEP) {
		cr_assert(not(sched_quiet_step(&quiet, now, 1, now)));
		held = sched_quiet_holds(&quiet) ? held + STEP : 0;
		longest = held > longest ? held : longest;
	}
	cr_assert(eq(u64, longest, BRIEF));
}

Test(sched_quiet, B18_TG9_nothing_is_held_back_where_its_owner_allows_no_time)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO, .is_brief = true};
	sched_quiet_request(&quiet, 0);
	for (uint64_t now = 0; now < 40000 * MS; now += MS) {
		cr_assert(not(sched_quiet_step(&quiet, now, 1, now)));
		cr_assert(not(sched_quiet_holds(&quiet)));
	}
	cr_assert(sched_quiet_step(&quiet, 40000 * MS, 0, 0), "nothing runs by itself");
}

/* The load for which sends are held back was withdrawn. */
Test(sched_quiet, B18_a_long_moment_ends_when_only_a_brief_one_is_requested)
{
	struct sched_quiet quiet = {.state = SCHED_QUIET_NO};
	uint64_t now = SCHED_QUIET_PATIENCE_NS;
	sched_quiet_request(&quiet, 0);
	(void)sched_quiet_step(&quiet, now, 1, now);
	cr_assert(sched_quiet_holds(&quiet));
	quiet.is_brief = true;
	quiet.brief_ns = 50000;
	now += 60000;
	(void)sched_quiet_step(&quiet, now, 1, now);
	cr_assert(not(sched_quiet_holds(&quiet)));
}
