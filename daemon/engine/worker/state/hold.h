/* Commands that wait for room in their lane: task/hold.h. */
#ifndef SYCL_ENGINE_WORKER_STATE_HOLD_H
#define SYCL_ENGINE_WORKER_STATE_HOLD_H

#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "worker/state/named.h"

#include <stdint.h>

struct worker_hold {
	struct sched_message_list lanes[SCHED_LANES_ALL]; /* commands, in the order of the lane */
	struct sched_message_list forget; /* messages about failures that held commands name */
	uint64_t from[SCHED_LANES_ALL];   /* the first held sequence of each lane; 0: none */
	struct worker_named named;
	uint32_t count; /* commands */
	uint64_t tries; /* how often a held command was tried again */
};

#endif
