#include "harness/arrivals.h"

#include "clock.h"

#include <math.h>

enum { SPIN_NS = 100000 };

uint64_t arrivals_next_gap_ns(uint64_t *state, double mean_ns)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	double chance = ((double)(*state >> 11) + 1) / 9007199254740993.0;
	return (uint64_t)(-log(chance) * mean_ns);
}

void arrivals_wait_until_ns(uint64_t when_ns)
{
	uint64_t early = when_ns - SPIN_NS;
	const struct timespec until = {(time_t)(early / 1000000000u), (long)(early % 1000000000u)};
	if (clock_now_ns() < early)
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	while (clock_now_ns() < when_ns)
		;
}
