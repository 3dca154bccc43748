/* When large transfers are expected to end, and how a thread that polls for them sleeps. */
#include "base/expect.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(sched_expect, .timeout = 10);

#define MIB (1ull << 20)

Test(sched_expect, nothing_is_expected_before_one_was_seen)
{
	struct sched_expect expect = {{0}};
	cr_assert(eq(u64, sched_expect_end(&expect, SCHED_EXPECT_IN, 1000, 256 * MIB), 0));
	sched_expect_update(&expect, SCHED_EXPECT_IN, 256 * MIB, 5000000);
	cr_assert(ne(u64, sched_expect_end(&expect, SCHED_EXPECT_IN, 1000, 256 * MIB), 0));
	cr_assert(eq(u64, sched_expect_end(&expect, SCHED_EXPECT_OUT, 1000, 256 * MIB), 0));
	cr_assert(eq(u64, sched_expect_end(&expect, SCHED_EXPECT_IN, 1000, 4096), 0));
}

Test(sched_expect, what_was_seen_is_expected_by_size)
{
	struct sched_expect expect = {{0}};
	sched_expect_update(&expect, SCHED_EXPECT_OUT, 256 * MIB, 5000000);
	uint64_t end = sched_expect_end(&expect, SCHED_EXPECT_OUT, 1000000, 128 * MIB);
	cr_assert(ge(u64, end, 1000000 + 2400000));
	cr_assert(le(u64, end, 1000000 + 2500000));
}

/* A launch that waited for a kernel does not count as slower. */
Test(sched_expect, a_slow_one_counts_little)
{
	struct sched_expect expect = {{0}};
	sched_expect_update(&expect, SCHED_EXPECT_IN, 256 * MIB, 5000000);
	uint64_t before = sched_expect_end(&expect, SCHED_EXPECT_IN, 0, 256 * MIB);
	sched_expect_update(&expect, SCHED_EXPECT_IN, 256 * MIB, 10000000);
	uint64_t after = sched_expect_end(&expect, SCHED_EXPECT_IN, 0, 256 * MIB);
	cr_assert(gt(u64, after, before));
	cr_assert(le(u64, after, before + before / 10));
	sched_expect_update(&expect, SCHED_EXPECT_IN, 256 * MIB, 4000000);
	cr_assert(le(u64, sched_expect_end(&expect, SCHED_EXPECT_IN, 0, 256 * MIB), 4000000));
}

Test(sched_expect, it_sleeps_until_shortly_before_and_asks_until_shortly_after)
{
	const uint64_t end = 10000000, margin = SCHED_EXPECT_MARGIN_NS;
	cr_assert(eq(u64, sched_expect_sleep_ns(250000, end - 200000, end, true), 200000 - margin));
	cr_assert(eq(u64, sched_expect_sleep_ns(250000, end - margin, end, true), 0));
	cr_assert(eq(u64, sched_expect_sleep_ns(250000, end + margin, end, true), 0));
	cr_assert(eq(u64, sched_expect_sleep_ns(250000, end + 2 * margin, end, true), 250000));
}

/* A small kernel beside the transfer is polled as often as without it. */
Test(sched_expect, nothing_else_in_flight_is_told_later_for_it)
{
	for (uint64_t rest = 0; rest <= 1000000; rest += 20000)
		for (uint64_t before = 0; before < 9000000; before += 100000)
			cr_assert(le(u64,
				     sched_expect_sleep_ns(rest, 10000000 - before, 10000000, true),
				     rest));
}

Test(sched_expect, without_processors_to_spare_nothing_changes)
{
	cr_assert(eq(u64, sched_expect_sleep_ns(250000, 10000000, 10000000, false), 250000));
	cr_assert(eq(u64, sched_expect_sleep_ns(250000, 10000000, 0, true), 250000));
}
