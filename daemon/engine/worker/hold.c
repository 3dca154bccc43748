/* See hold.h. */
#include "worker/hold.h"

#include "scheduler/state/device.h"
#include "scheduler/state/task.h"
#include "worker/command.h"
#include "worker/worker.h"

#include <string.h>

static bool is_behind(const struct scheduler_device *device, const struct task_command *command)
{
	const struct worker_hold *hold = &device->worker.hold;
	if (hold->from[command->lane] != 0)
		return true;
	if (device->worker.spill.aside_from[command->lane] != 0)
		return false;
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		uint64_t from = hold->from[predecessor->lane];
		if (from != 0 && predecessor->sequence >= from)
			return true;
	}
	return false;
}

/* Does a command that is held name the failed one? Then it has to be known until that is handled.
 */
static bool is_named(const struct worker_hold *hold, const struct task_command *failed)
{
	if (failed->sequence < hold->named_first[failed->lane] ||
	    failed->sequence > hold->named_last[failed->lane])
		return false;
	for (const struct sched_message *message = hold->list.first; message;
	     message = message->next) {
		const struct task_command *command =
			&((const struct task *)(const void *)message)->command;
		for (uint32_t i = 0;
		     message->kind == SCHED_MESSAGE_COMMAND && i < command->predecessor_count; i++)
			if (command->predecessors[i].lane == failed->lane &&
			    command->predecessors[i].sequence == failed->sequence)
				return true;
	}
	return false;
}

bool worker_hold_keeps(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_hold *hold = &device->worker.hold;
	struct task *task = (struct task *)(void *)message;
	if (!hold->list.first || device->worker.unusable)
		return false;
	if (message->kind == SCHED_MESSAGE_FORGET && is_named(hold, &task->command)) {
		sched_message_append(&hold->list, message);
		return true;
	}
	if (message->kind != SCHED_MESSAGE_COMMAND || !is_behind(device, &task->command))
		return false;
	worker_hold_add(device, task);
	return true;
}

static void note_named(struct worker_hold *hold, const struct task_predecessor *predecessor)
{
	uint64_t *first = &hold->named_first[predecessor->lane],
		 *last = &hold->named_last[predecessor->lane];
	if (*first == 0 || predecessor->sequence < *first)
		*first = predecessor->sequence;
	if (predecessor->sequence > *last)
		*last = predecessor->sequence;
}

void worker_hold_add(struct scheduler_device *device, struct task *task)
{
	struct worker_hold *hold = &device->worker.hold;
	const struct task_command *command = &task->command;
	sched_message_append(&hold->list, &task->message);
	atomic_store(&task->is_aside, true);
	if (hold->from[command->lane] == 0)
		hold->from[command->lane] = command->sequence - worker_launch_count(command) + 1;
	for (uint32_t i = 0; i < command->predecessor_count; i++)
		note_named(hold, &command->predecessors[i]);
}

bool worker_hold_has(const struct scheduler_device *device, uint32_t lane, uint64_t sequence)
{
	const struct worker_hold *hold = &device->worker.hold;
	return hold->from[lane] != 0 && sequence >= hold->from[lane];
}

struct sched_message_list worker_hold_take(struct scheduler_device *device)
{
	struct worker_hold *hold = &device->worker.hold;
	struct sched_message_list list = hold->list;
	if (list.first)
		memset(hold, 0, sizeof(*hold));
	return list;
}
