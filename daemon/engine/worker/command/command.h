/* The objects that a command names (device thread). */
#ifndef SYCL_ENGINE_WORKER_COMMAND_H
#define SYCL_ENGINE_WORKER_COMMAND_H

#include "scheduler/state/task.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;

/* The lane has a handle, made here if need be. */
int worker_command_need_lane(struct scheduler_device *device, uint32_t index,
			     struct backend_fault *fault);
/*
 * The command at hand: its memories stay while others leave. Returns the one before, for the end: a
 * graph's launch, of which this is a node.
 */
const struct task_command *worker_command_begin(struct scheduler_device *device,
						const struct task_command *command);
void worker_command_end(struct scheduler_device *device, const struct task_command *before);
/* Fills the backend's handles into a command of sched_command_fill that launches no graph.
 * WORKER_SPILL_WAIT: not yet. */
int worker_command_resolve(struct scheduler_device *device, struct task_command *command,
			   struct backend_fault *fault);

#endif
