/* When large transfers will be over, by what the latest took (device thread). */
#ifndef SYCL_ENGINE_WORKER_TRANSFER_H
#define SYCL_ENGINE_WORKER_TRANSFER_H

#include "base/expect.h"
#include "scheduler/state/task.h"
#include "worker/state/worker.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool worker_transfer_is_large(const struct backend_command *command)
{
	return (command->kind == BACKEND_COMMAND_WRITE || command->kind == BACKEND_COMMAND_READ) &&
	       command->transfer.size_bytes >= SCHED_EXPECT_BYTES_MIN;
}

void worker_transfer_expect_large(struct worker *worker, struct worker_lane *lane,
				  struct task_command *command);
void worker_transfer_measure_large(struct worker *worker, const struct task_command *command,
				   struct task_command *next);

/* The command was submitted behind all that is on its lane. */
static inline void worker_transfer_expect(struct worker *worker, struct worker_lane *lane,
					  struct task_command *command)
{
	command->begin_ns = command->expected_ns = 0;
	if (worker_transfer_is_large(&command->backend))
		worker_transfer_expect_large(worker, lane, command);
}

/* The command is over, and the next one of its lane begins. */
static inline void worker_transfer_measure(struct worker *worker, const struct worker_lane *lane,
					   const struct task_command *command)
{
	struct task_command *next = lane->first ? &lane->first->command : NULL;
	if (command->begin_ns || (next && next->begin_ns))
		worker_transfer_measure_large(worker, command, next);
}

#endif
