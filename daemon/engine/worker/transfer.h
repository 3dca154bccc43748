/* When large transfers will be over, by what the latest took (device thread). */
#ifndef SYCL_ENGINE_SCHED_TRANSFER_H
#define SYCL_ENGINE_SCHED_TRANSFER_H

#include "base/expect.h"
#include "scheduler/state/task.h"
#include "worker/worker.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool sched_transfer_is_large(const struct backend_command *command)
{
	return (command->kind == BACKEND_COMMAND_WRITE || command->kind == BACKEND_COMMAND_READ) &&
	       command->transfer.size_bytes >= SCHED_EXPECT_BYTES_MIN;
}

void sched_transfer_expect_large(struct sched_worker *worker, struct sched_worker_lane *lane,
				 struct task_command *command);
void sched_transfer_learn_large(struct sched_worker *worker, const struct task_command *command,
				struct task_command *next);

/* The command was submitted behind all that is on its lane. */
static inline void sched_transfer_expect(struct sched_worker *worker,
					 struct sched_worker_lane *lane,
					 struct task_command *command)
{
	command->begin_ns = command->expected_ns = 0;
	if (sched_transfer_is_large(&command->backend))
		sched_transfer_expect_large(worker, lane, command);
}

/* The command is over, and the next one of its lane begins. */
static inline void sched_transfer_learn(struct sched_worker *worker,
					const struct sched_worker_lane *lane,
					const struct task_command *command)
{
	struct task_command *next = lane->first ? &lane->first->command : NULL;
	if (command->begin_ns || (next && next->begin_ns))
		sched_transfer_learn_large(worker, command, next);
}

#endif
