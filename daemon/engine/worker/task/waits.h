/*
 * The waits of a command for other lanes of its device (device thread).
 *
 * A command that does not begin (it is skipped, or refused) passes its waits on. Others may have
 * been sent that come behind it and behind nothing else. Its lane inherits the waits, and so do
 * commands that name it as a predecessor.
 */
#ifndef SYCL_ENGINE_WORKER_WAITS_H
#define SYCL_ENGINE_WORKER_WAITS_H

#include "base/lane_limits.h"
#include "scheduler/state/task.h"
#include "worker/state/worker.h"

#include "backend.h"

#include <stdint.h>

/* The waits of one command: the other lanes, and the sequence that each must have reached. */
struct worker_waits {
	uint32_t count;
	uint32_t lanes[SCHED_LANES_ALL];
	struct backend_wait all[SCHED_LANES_ALL];
};

/* Appends the waits of worker_waits_fill. */
void worker_waits_collect(const struct worker *worker, const struct task_command *command,
			  struct worker_waits *waits);
/*
 * Collects one wait for each other lane. There is none for a predecessor that has failed: it is
 * over, or never began, and its waits are taken instead. There is none that an earlier command of
 * the same lane has.
 */
static inline void worker_waits_fill(const struct worker *worker,
				     const struct task_command *command, struct worker_waits *waits)
{
	waits->count = 0;
	/* Most commands wait for nothing. */
	if (command->predecessor_count > 0 || worker->has_inherited_waits)
		worker_waits_collect(worker, command, waits);
}
/* The command was submitted: later ones of its lane need none of these waits. An application's
 * queue may have no order of its own, so there they do: it is none of the first `lane_count`. */
static inline void worker_waits_note(struct worker *worker, const struct task_command *command,
				     uint32_t lane_count, const struct worker_waits *waits)
{
	for (uint32_t i = 0; i < waits->count && command->lane < lane_count; i++)
		worker->lanes[command->lane].waited[waits->lanes[i]] = waits->all[i].sequence;
}
/* The command does not begin: its lane inherits what it would have waited for, which is its
 * predecessors and the lane's last command. */
void worker_waits_pass_on(struct worker *worker, const struct task_command *command);
/* Nothing is in flight: there is nothing to wait for. */
void worker_waits_clear(struct worker *worker);

#endif
