/* Keeps a device quiet for what must not run beside anything. */
#ifndef SYCL_ENGINE_SCHED_QUIESCE_H
#define SYCL_ENGINE_SCHED_QUIESCE_H

#include "base/lane_limits.h"
#include "base/quiet.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;

/* Since when a lane's first command has been seen there. */
struct sched_lane_head {
	uint64_t sequence, since_ns;
};

/* Keeps a device quiet for what must not run beside anything (quiesce.c). */
struct sched_quiesce {
	_Atomic uint32_t asked;   /* by the loader, until it is done */
	_Atomic uint32_t granted; /* by the device's thread */
	/* the device thread's own */
	bool loader_holds;
	struct sched_quiet quiet;
	struct sched_lane_head heads[SCHED_LANES_ALL];
};

/* The loader's thread, around what needs a quiet device. */
void sched_quiesce_begin(struct scheduler_device *device);
/* The same without waiting: ask, and has it been given (or is there no need)? */
void sched_quiesce_ask(struct scheduler_device *device);
bool sched_quiesce_is_granted(struct scheduler_device *device);
void sched_quiesce_end(struct scheduler_device *device);
/* The device's thread, in every turn. True: nothing may be sent now. */
bool sched_quiesce_step(struct scheduler_device *device);

#endif
