/*
 * Counts of delays in buckets, which get wider as the delays get longer. The size is fixed, and
 * noting a delay takes a few instructions. Quantiles are known to an eighth.
 *
 *   bucket 0        less than 1024 ns
 *   1 .. 96         four for each power of two: [1024, 1280), [1280, 1536), [1536, 1792),
 *                   [1792, 2048), [2048, 2560) ...
 *   97              2^34 ns (17 s) and more
 *
 * The numbers of the buckets cross process borders (DeviceUsage.delays) and services: they stay as
 * they are.
 */
#ifndef SYCL_SHARED_DELAY_HISTOGRAM_H
#define SYCL_SHARED_DELAY_HISTOGRAM_H

#include <stdint.h>

#define DELAY_FIRST_POWER 10u
#define DELAY_LAST_POWER  34u
#define DELAY_BUCKETS     (2u + 4u * (DELAY_LAST_POWER - DELAY_FIRST_POWER))

struct delay_histogram {
	uint64_t counts[DELAY_BUCKETS];
};

static inline uint32_t delay_bucket(uint64_t ns)
{
	if (ns < 1ull << DELAY_FIRST_POWER)
		return 0;
	uint32_t power = 63u - (uint32_t)__builtin_clzll(ns);
	if (power >= DELAY_LAST_POWER)
		return DELAY_BUCKETS - 1;
	return 1u + 4u * (power - DELAY_FIRST_POWER) + (uint32_t)(ns >> (power - 2u) & 3u);
}

/* Adds `count` delays of `ns`. */
static inline void delay_note(struct delay_histogram *histogram, uint64_t ns, uint64_t count)
{
	histogram->counts[delay_bucket(ns)] += count;
}

/* Adds counts of another process, which may be wrong. A sum that is too large becomes the largest
 * number. */
void delay_add(struct delay_histogram *histogram, uint32_t first, const uint64_t *counts,
	       uint64_t count);

/* The number of all delays, or the largest number if there are more. */
uint64_t delay_total(const struct delay_histogram *histogram);

/*
 * A quantile: the time, in ns, that `permille` thousandths of the delays did not exceed. The result
 * is the middle of a bucket, so its error is at most an eighth or 512 ns. For the last bucket it is
 * the bucket's beginning. 0: no delay was counted.
 */
uint64_t delay_quantile(const struct delay_histogram *histogram, uint32_t permille);

/* The number of buckets from the first to the last that is not empty; `*first_out` is the first. 0:
 * all are empty. */
uint32_t delay_span(const struct delay_histogram *histogram, uint32_t *first_out);

#endif
