#include "delay_histogram.h"

static uint64_t delay_sum(uint64_t one, uint64_t other)
{
	return other > UINT64_MAX - one ? UINT64_MAX : one + other;
}

void delay_add(struct delay_histogram *histogram, uint32_t first, const uint64_t *counts,
	       uint64_t count)
{
	if (first >= DELAY_BUCKETS)
		return;
	for (uint64_t i = 0; i < count && i < DELAY_BUCKETS - first; i++)
		histogram->counts[first + i] = delay_sum(histogram->counts[first + i], counts[i]);
}

uint64_t delay_total(const struct delay_histogram *histogram)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < DELAY_BUCKETS; i++)
		total = delay_sum(total, histogram->counts[i]);
	return total;
}

static uint64_t delay_bucket_middle_ns(uint32_t bucket)
{
	if (bucket == 0)
		return (1ull << DELAY_FIRST_POWER) / 2;
	uint32_t power = DELAY_FIRST_POWER + (bucket - 1u) / 4u;
	uint64_t width = 1ull << (power - 2u);
	if (bucket == DELAY_BUCKETS - 1)
		return 1ull << DELAY_LAST_POWER;
	return (1ull << power) + width * ((bucket - 1u) % 4u) + width / 2;
}

uint64_t delay_quantile(const struct delay_histogram *histogram, uint32_t permille)
{
	uint64_t total = delay_total(histogram), seen = 0;
	if (total == 0)
		return 0;
	/* The rank of the quantile, rounded up. The product of both numbers could overflow. */
	uint64_t rank = total / 1000u * permille + (total % 1000u * permille + 999u) / 1000u;
	for (uint32_t i = 0; i < DELAY_BUCKETS; i++) {
		seen = delay_sum(seen, histogram->counts[i]);
		if (seen >= rank && seen > 0)
			return delay_bucket_middle_ns(i);
	}
	return delay_bucket_middle_ns(DELAY_BUCKETS - 1);
}

uint32_t delay_span(const struct delay_histogram *histogram, uint32_t *first_out)
{
	uint32_t first = 0, end = DELAY_BUCKETS;
	while (end > 0 && histogram->counts[end - 1] == 0)
		end--;
	while (first < end && histogram->counts[first] == 0)
		first++;
	*first_out = first;
	return end - first;
}
