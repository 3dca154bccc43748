/* The state of a wait for a moment in which nothing runs on a device: device/quiesce.h. */
#ifndef SYCL_ENGINE_WORKER_STATE_QUIESCE_H
#define SYCL_ENGINE_WORKER_STATE_QUIESCE_H

#include "base/lane_limits.h"
#include "base/quiet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The first command of a lane, and since when it has been the first. */
struct worker_lane_head {
	uint64_t sequence, since_ns;
};

/* The state of one device. The loader requests, the device thread grants (quiesce.c). */
struct worker_quiesce {
	_Atomic uint32_t requested; /* set by the loader, until it has finished */
	_Atomic uint32_t granted;   /* set by the device's thread */
	/* the device thread's own */
	bool loader_holds;
	/* A quiet moment has passed, in which the backend may have freed memory; cleared when that
	 * was noted. */
	bool has_passed;
	struct sched_quiet quiet;
	struct worker_lane_head heads[SCHED_LANES_ALL];
};

#endif
