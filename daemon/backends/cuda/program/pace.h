/* The time of a kernel's launches, estimated from the latest ones, and whether a launch may be in a
 * chain. For the device thread. */
#ifndef SYCL_BACKENDS_CUDA_PACE_H
#define SYCL_BACKENDS_CUDA_PACE_H

#include "surprise.h"

#include <stdbool.h>
#include <stdint.h>

#define CUDA_CHAIN_NS 100000u /* limit of a chain, by the latest times of its kernels */

struct cuda_launch;

struct cuda_pace {
	uint64_t period_ns; /* 0: not known */
	uint64_t items;     /* work-items of the largest launch that has ended; 0: not known */
	struct surprise surprise;
};

/* The number of work-items, with those beyond the range. */
uint64_t cuda_launch_items(const struct cuda_launch *launch);
/* True if the time of such a launch is unknown: after a surprise, or if no launch had half as many
 * work-items. */
bool cuda_pace_is_open(const struct cuda_pace *pace, uint64_t items);
/* `least_ns`, `most_ns`: the time of one launch is between these. `together_ns`: time of all
 * launches that were sent with it and have one reported end; 0: it was alone. */
void cuda_pace_update(struct cuda_pace *pace, uint64_t items, uint64_t least_ns, uint64_t most_ns,
		      uint64_t together_ns);

#endif
