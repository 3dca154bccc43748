/* How long a kernel's launches take, as those did that came back lately, and which of them may
 * stand in a chain. The device thread's. */
#ifndef SYCL_BACKENDS_CUDA_PACE_H
#define SYCL_BACKENDS_CUDA_PACE_H

#include "surprise.h"

#include <stdbool.h>
#include <stdint.h>

#define CUDA_CHAIN_NS 100000u /* what a chain may take, by what its kernels took lately */

struct cuda_launch;

struct cuda_pace {
	uint64_t period_ns; /* 0: not known */
	uint64_t items;     /* work-items of the largest launch that has come back; 0: not known */
	struct surprise surprise;
};

/* Work-items, with those that end at once. */
uint64_t cuda_launch_items(const struct cuda_launch *launch);
/* Nothing is known of launches like this one: after a surprise, or as none had half as many
 * work-items. */
bool cuda_pace_is_open(const struct cuda_pace *pace, uint64_t items);
/* `took_ns`: of one launch; `together_ns`: of all that went with it, which have one reported end;
 * 0: nothing did. */
void cuda_pace_update(struct cuda_pace *pace, uint64_t items, uint64_t took_ns,
		      uint64_t together_ns);

#endif
