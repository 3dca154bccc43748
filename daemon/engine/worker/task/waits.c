/* The waits of a command for other lanes of its device (device thread). */
#include "worker/task/waits.h"

#include "base/lane_limits.h"
#include "scheduler/state/task.h"
#include "worker/task/failed.h"
#include "worker/state/worker.h"

#include <string.h>

/* The command waits for another lane up to that sequence, unless its own lane does already. The
 * latest wait for each lane stands for all before it. */
static void add_wait(const struct worker *worker, const struct task_command *command,
		     uint32_t index, uint64_t sequence, struct worker_waits *waits)
{
	uint32_t at = 0;
	if (index == command->lane || sequence <= worker->lanes[command->lane].waited[index])
		return;
	while (at < waits->count && waits->lanes[at] != index)
		at++;
	if (at == waits->count) {
		waits->lanes[waits->count++] = index;
		waits->all[at] = (struct backend_wait){.lane = worker->lanes[index].handle,
						       .sequence = sequence};
	} else if (waits->all[at].sequence < sequence) {
		waits->all[at].sequence = sequence;
	}
}

/* The waits of commands of that lane that did not begin. */
static void add_inherited_waits(const struct worker *worker, const struct task_command *command,
				uint32_t index, struct worker_waits *waits)
{
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		if (worker->lanes[index].inherited_waits[i])
			add_wait(worker, command, i, worker->lanes[index].inherited_waits[i],
				 waits);
}

void worker_waits_collect(const struct worker *worker, const struct task_command *command,
			  struct worker_waits *waits)
{
	if (worker->has_inherited_waits)
		add_inherited_waits(worker, command, command->lane, waits);
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		if (!worker_failed_has_ended(worker, predecessor))
			add_wait(worker, command, predecessor->lane, predecessor->sequence, waits);
		else if (worker->has_inherited_waits)
			add_inherited_waits(worker, command, predecessor->lane, waits);
	}
}

static void inherit_wait(struct worker *worker, uint32_t lane, uint32_t index, uint64_t sequence)
{
	if (sequence > worker->lanes[lane].inherited_waits[index])
		worker->lanes[lane].inherited_waits[index] = sequence;
	worker->has_inherited_waits = true;
}

void worker_waits_pass_on(struct worker *worker, const struct task_command *command)
{
	const struct task *last = worker->lanes[command->lane].last;
	if (worker->in_flight == 0)
		return;
	if (last)
		inherit_wait(worker, command->lane, command->lane, last->command.sequence);
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		const uint64_t *inherited = worker->lanes[predecessor->lane].inherited_waits;
		if (!worker_failed_has_ended(worker, predecessor))
			inherit_wait(worker, command->lane, predecessor->lane,
				     predecessor->sequence);
		for (uint32_t k = 0; worker->has_inherited_waits && k < SCHED_LANES_ALL; k++)
			if (inherited[k])
				inherit_wait(worker, command->lane, k, inherited[k]);
	}
}

void worker_waits_clear(struct worker *worker)
{
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		memset(worker->lanes[i].inherited_waits, 0,
		       sizeof(worker->lanes[i].inherited_waits));
	worker->has_inherited_waits = false;
}
