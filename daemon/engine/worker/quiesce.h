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
struct sched_gate_head {
	uint64_t sequence, since_ns;
};

/* Keeps a device quiet for what must not run beside anything (sched_gate.c). */
struct sched_gate {
	_Atomic uint32_t asked;   /* by the loader, until it is done */
	_Atomic uint32_t granted; /* by the device's thread */
	/* the device thread's own */
	bool loader_has_it;
	struct sched_quiet quiet;
	struct sched_gate_head heads[SCHED_LANES_ALL];
};

/* The loader's thread, around what needs a quiet device. */
void sched_gate_enter(struct scheduler_device *device);
/* The same without waiting: ask, and has it been given (or is there no need)? */
void sched_gate_ask(struct scheduler_device *device);
bool sched_gate_is_open(struct scheduler_device *device);
void sched_gate_leave(struct scheduler_device *device);
/* The device's thread, in every turn. True: nothing may be sent now. */
bool sched_gate_step(struct scheduler_device *device);

#endif
