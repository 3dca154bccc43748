#include "cuda/program/pace.h"

#include "cuda/program/launch.h"

/* A longer time is too long for a chain, even if the end was read late. */
#define SURPRISE_NS (UINT64_C(4) * CUDA_CHAIN_NS)

uint64_t cuda_launch_items(const struct cuda_launch *launch)
{
	uint64_t items = 1;

	for (int i = 0; i < 3; i++)
		if (__builtin_mul_overflow(items, (uint64_t)launch->grid[i] * launch->block[i],
					   &items))
			return UINT64_MAX;
	return items;
}

bool cuda_pace_is_open(const struct cuda_pace *pace, uint64_t items)
{
	return surprise_lasts(&pace->surprise) || (pace->items > 0 && items / 2 > pace->items);
}

/* Moves the pace by half of the difference to the nearest time that is possible, so that no sample
 * has a lasting effect. If the pace itself is possible, by an eighth to the least time: a device
 * that is too busy to find ends in time must try launches as one again. */
void cuda_pace_update(struct cuda_pace *pace, uint64_t items, uint64_t least_ns, uint64_t most_ns,
		      uint64_t together_ns)
{
	if (pace->period_ns == 0)
		pace->period_ns = most_ns;
	else if (pace->period_ns > most_ns)
		pace->period_ns = (pace->period_ns + most_ns) / 2;
	else if (pace->period_ns < least_ns)
		pace->period_ns = (pace->period_ns + least_ns) / 2;
	else
		pace->period_ns -= (pace->period_ns - least_ns) / 8;
	if (pace->period_ns == 0)
		pace->period_ns = 1; /* 0 would mean that it is unknown */
	if (items > pace->items)
		pace->items = items;
	if (together_ns > SURPRISE_NS)
		surprise_note(&pace->surprise);
}
