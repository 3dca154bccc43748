/* From a request to the command that a device's thread sends. */
#ifndef SYCL_ENGINE_SCHED_FILL_H
#define SYCL_ENGINE_SCHED_FILL_H

#include "scheduler/public/task.h"

#include "backend.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scheduler;
struct task_command;

#define SCHED_STORAGE_ALIGNMENT 16u

static inline size_t sched_align_storage(uint64_t bytes)
{
	return (size_t)(bytes + SCHED_STORAGE_ALIGNMENT - 1) &
	       ~(size_t)(SCHED_STORAGE_ALIGNMENT - 1);
}

/* Makes room in scheduler.accesses. -ENOMEM. */
int sched_accesses_reserve(struct scheduler *scheduler, uint32_t count);
/* Bytes of a task's storage for its uses, and for its command. */
size_t sched_uses_storage(const struct task_request *request);
size_t sched_command_storage(const struct task_request *request);
/* `at`: storage of that size, 16-byte aligned. The memories are those of scheduler.accesses. */
void sched_command_fill(struct task_command *command, const struct task_request *request,
			uint8_t *at);
/* Fills a launch without its arguments; only their number is set. */
static inline void sched_launch_fill(struct backend_command *backend,
				     const struct task_launch *launch)
{
	backend->kind = BACKEND_COMMAND_LAUNCH;
	backend->timed = false;
	backend->launch.kernel = NULL;
	backend->launch.dimensions = launch->dimensions;
	memcpy(backend->launch.global, launch->global, sizeof(launch->global));
	memcpy(backend->launch.local, launch->local, sizeof(launch->local));
	memcpy(backend->launch.offset, launch->offset, sizeof(launch->offset));
	/* Sizes beyond the last dimension are normalised. */
	for (uint32_t i = launch->dimensions; i < 3; i++) {
		backend->launch.global[i] = 1;
		backend->launch.local[i] = launch->local[0] ? 1 : 0;
		backend->launch.offset[i] = 0;
	}
	backend->launch.argument_count = launch->argument_count;
	backend->launch.properties = NULL;
	backend->launch.part = (struct backend_part){.of = 0};
}

#endif
