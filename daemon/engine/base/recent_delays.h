/*
 * Which of the delays in a histogram are of the last minute. A few copies of the histogram are kept
 * with their times; the difference to a copy is what came since. The memory is fixed, and most
 * delays cost one comparison. Only the thread that owns the histogram may call these functions.
 */
#ifndef SYCL_ENGINE_BASE_RECENT_DELAYS_H
#define SYCL_ENGINE_BASE_RECENT_DELAYS_H

#include "delay_histogram.h"

#include <stdint.h>

#define RECENT_DELAYS_NS      60000000000ull
#define RECENT_DELAYS_STEP_NS 15000000000ull
#define RECENT_DELAYS_COPIES  4u

/* Zeros: no delay so far. */
struct recent_delays {
	uint64_t next_ns; /* when the next copy is due */
	uint32_t next;    /* the oldest copy, which the next one replaces */
	struct {
		uint64_t at_ns; /* 0: none */
		struct delay_histogram before;
	} copies[RECENT_DELAYS_COPIES];
};

void recent_delays_copy(struct recent_delays *recent, const struct delay_histogram *all,
			uint64_t now_ns);

/* Called before a delay is counted in `all`. `now_ns`: CLOCK_MONOTONIC. */
static inline void recent_delays_step(struct recent_delays *recent,
				      const struct delay_histogram *all, uint64_t now_ns)
{
	if (now_ns >= recent->next_ns)
		recent_delays_copy(recent, all, now_ns);
}

/* Adds to `sum` the delays in `all` that were counted in the last minute. The first quarter of that
 * minute may be missing. */
void recent_delays_add(const struct recent_delays *recent, const struct delay_histogram *all,
		       uint64_t now_ns, struct delay_histogram *sum);

#endif
