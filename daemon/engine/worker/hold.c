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

bool worker_hold_keeps(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_hold *hold = &device->worker.hold;
	if (!hold->list.first || device->worker.unusable)
		return false;
	/* A command that is held may depend on the failed one. */
	if (message->kind == SCHED_MESSAGE_FORGET) {
		sched_message_append(&hold->list, message);
		return true;
	}
	if (message->kind != SCHED_MESSAGE_COMMAND ||
	    !is_behind(device, &((struct task *)(void *)message)->command))
		return false;
	worker_hold_add(device, (struct task *)(void *)message);
	return true;
}

void worker_hold_add(struct scheduler_device *device, struct task *task)
{
	struct worker_hold *hold = &device->worker.hold;
	const struct task_command *command = &task->command;
	sched_message_append(&hold->list, &task->message);
	atomic_store(&task->is_aside, true);
	if (hold->from[command->lane] == 0)
		hold->from[command->lane] = command->sequence - worker_launch_count(command) + 1;
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
