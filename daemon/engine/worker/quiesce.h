/* Keeps a device quiet for what must not run beside anything. */
#ifndef SYCL_ENGINE_WORKER_QUIESCE_H
#define SYCL_ENGINE_WORKER_QUIESCE_H

#include "base/lane_limits.h"
#include "base/quiet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;

/* The first command of a lane, and since when it has been the first. */
struct worker_lane_head {
	uint64_t sequence, since_ns;
};

/* The state of one device. The loader requests, the device thread grants (quiesce.c). */
struct worker_quiesce {
	_Atomic uint32_t requested; /* by the loader, until it has finished */
	_Atomic uint32_t granted;   /* by the device's thread */
	/* the device thread's own */
	bool loader_holds;
	bool has_passed; /* a moment in which the backend may have freed memory; until it is noted
			  */
	struct sched_quiet quiet;
	struct worker_lane_head heads[SCHED_LANES_ALL];
};

/* The loader, around work that needs a quiet device: waits until it is granted. */
void worker_quiesce_begin(struct scheduler_device *device);
/* The same without waiting: request, then check whether it is granted or not needed. */
void worker_quiesce_request(struct scheduler_device *device);
bool worker_quiesce_is_granted(struct scheduler_device *device);
void worker_quiesce_end(struct scheduler_device *device);
/* Device thread, in every turn. True: nothing may be sent now. */
bool worker_quiesce_step(struct scheduler_device *device);

#endif
