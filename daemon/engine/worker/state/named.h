/* The commands that are named as predecessors: task/named.h. */
#ifndef SYCL_ENGINE_WORKER_STATE_NAMED_H
#define SYCL_ENGINE_WORKER_STATE_NAMED_H

#include "base/lane_limits.h"

#include <stdint.h>

/* For each lane, the first and last sequence that is named; 0: none. */
struct worker_named {
	uint64_t first[SCHED_LANES_ALL], last[SCHED_LANES_ALL];
};

#endif
