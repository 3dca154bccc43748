/* Delays in buckets: quantiles have the documented accuracy, whatever the delays are. */
#include "delay_histogram.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

TestSuite(delay_histogram, .timeout = 30);

enum { MANY = 20000 };

static uint64_t seed = 88172645463325252ull;

static uint64_t delay_histogram_random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int delay_histogram_compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
	return a < b ? -1 : a > b;
}

/* From sorted numbers: returns the first one that at least so many of a thousand do not exceed. */
static uint64_t exact(const uint64_t *sorted, uint64_t count, uint64_t permille)
{
	uint64_t rank = (count * permille + 999) / 1000;
	return sorted[rank > 0 ? rank - 1 : 0];
}

static void expect_near(uint64_t found, uint64_t right)
{
	uint64_t apart = found > right ? found - right : right - found;
	uint64_t most = right < 1024 ? 512 : right / 8;
	if (right >= 1ull << DELAY_LAST_POWER)
		cr_assert(eq(u64, found, 1ull << DELAY_LAST_POWER));
	else
		cr_assert(le(u64, apart, most), "%lu instead of %lu", (unsigned long)found,
			  (unsigned long)right);
}

/* All of one size, of very different sizes, and a few that are far from the others. */
static uint64_t delay_histogram_sample(int manner, int i)
{
	switch (manner) {
	case 0:
		return 1700;
	case 1:
		return delay_histogram_random_number() % 4096;
	case 2:
		return delay_histogram_random_number() >>
		       (24 + delay_histogram_random_number() % 40);
	case 3:
		return i % 64 == 0 ? 90000000 + delay_histogram_random_number() % 1000
				   : 3000 + delay_histogram_random_number() % 100;
	default:
		return delay_histogram_random_number() >> (delay_histogram_random_number() % 64);
	}
}

Test(delay_histogram, quantiles_are_within_an_eighth_of_the_exact_ones)
{
	static const uint32_t permilles[] = {0, 1, 250, 500, 900, 990, 999, 1000};
	for (int manner = 0; manner < 5; manner++) {
		static uint64_t delays[MANY];
		struct delay_histogram histogram = {.counts = {0}};
		for (int i = 0; i < MANY; i++) {
			delays[i] = delay_histogram_sample(manner, i);
			delay_note(&histogram, delays[i], 1);
		}
		qsort(delays, MANY, sizeof(*delays), delay_histogram_compare);
		cr_assert(eq(u64, delay_total(&histogram), MANY));
		for (size_t i = 0; i < sizeof(permilles) / sizeof(*permilles); i++)
			expect_near(delay_quantile(&histogram, permilles[i]),
				    exact(delays, MANY, permilles[i]));
	}
}

Test(delay_histogram, few_are_exact_as_well)
{
	for (uint64_t count = 1; count < 40; count++) {
		uint64_t delays[40];
		struct delay_histogram histogram = {.counts = {0}};
		for (uint64_t i = 0; i < count; i++) {
			delays[i] = 2000 + 700 * i * i;
			delay_note(&histogram, delays[i], 1);
		}
		for (uint32_t permille = 0; permille <= 1000; permille += 5)
			expect_near(delay_quantile(&histogram, permille),
				    exact(delays, count, permille));
	}
}

/* Each bucket begins where the one before ends, and all numbers have one. */
Test(delay_histogram, buckets_have_no_gaps)
{
	uint32_t before = 0;
	for (uint64_t ns = 0; ns < 1ull << 36; ns += ns < 4096 ? 1 : ns / 97) {
		uint32_t bucket = delay_bucket(ns);
		cr_assert(bucket == before || bucket == before + 1, "%lu", (unsigned long)ns);
		before = bucket;
	}
	cr_assert(eq(u32, before, DELAY_BUCKETS - 1));
	cr_assert(eq(u32, delay_bucket(UINT64_MAX), DELAY_BUCKETS - 1));
	/* In the form of the first release that wrote them. */
	cr_assert(eq(u32, delay_bucket(1023), 0));
	cr_assert(eq(u32, delay_bucket(1024), 1));
	cr_assert(eq(u32, delay_bucket(1280), 2));
	cr_assert(eq(u32, delay_bucket(1000000), 40));
	cr_assert(eq(u32, delay_bucket((1ull << 34) - 1), 96));
	cr_assert(eq(u32, delay_bucket(1ull << 34), 97));
}

Test(delay_histogram, an_empty_one_has_no_quantile)
{
	struct delay_histogram histogram = {.counts = {0}};
	uint32_t first = 7;
	cr_assert(eq(u64, delay_quantile(&histogram, 500), 0));
	cr_assert(eq(u64, delay_total(&histogram), 0));
	cr_assert(eq(u32, delay_span(&histogram, &first), 0));
}

Test(delay_histogram, what_is_passed_on_is_what_was_noted)
{
	struct delay_histogram one = {.counts = {0}}, other = {.counts = {0}};
	uint32_t first;
	delay_note(&one, 5000, 3);
	delay_note(&one, 900000, 4);
	uint32_t count = delay_span(&one, &first);
	cr_assert(eq(u32, first, delay_bucket(5000)));
	cr_assert(eq(u32, first + count - 1, delay_bucket(900000)));
	delay_add(&other, first, &one.counts[first], count);
	for (uint32_t i = 0; i < DELAY_BUCKETS; i++)
		cr_assert(eq(u64, other.counts[i], one.counts[i]));
}

/* Counts from another process are claims. */
Test(delay_histogram, wrong_claims_stay_inside_and_large_sums_stay_large)
{
	uint64_t claims[2 * DELAY_BUCKETS];
	struct delay_histogram histogram = {.counts = {0}};
	for (uint32_t i = 0; i < 2 * DELAY_BUCKETS; i++)
		claims[i] = UINT64_MAX - 1;
	delay_add(&histogram, DELAY_BUCKETS, claims, 5);
	delay_add(&histogram, UINT32_MAX, claims, UINT64_MAX);
	cr_assert(eq(u64, delay_total(&histogram), 0));
	delay_add(&histogram, 3, claims, 2 * DELAY_BUCKETS);
	delay_add(&histogram, 3, claims, UINT64_MAX >> 1);
	cr_assert(eq(u64, histogram.counts[2], 0));
	cr_assert(eq(u64, histogram.counts[3], UINT64_MAX));
	cr_assert(eq(u64, histogram.counts[DELAY_BUCKETS - 1], UINT64_MAX));
	cr_assert(eq(u64, delay_total(&histogram), UINT64_MAX));
	cr_assert(gt(u64, delay_quantile(&histogram, 990), 0));
	cr_assert(gt(u64, delay_quantile(&histogram, 1000), 0));
}
