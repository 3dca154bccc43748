/* See hold.h. */
#include "worker/task/hold.h"

#include "scheduler/state/device.h"
#include "scheduler/state/task.h"
#include "worker/task/named.h"
#include "worker/state/worker.h"

#include <string.h>

/* True if a predecessor of the command is held. If commands of its lane wait for memory, it waits
 * behind those. */
static bool command_is_behind_held(const struct scheduler_device *device,
				   const struct task_command *command)
{
	const struct worker_hold *hold = &device->worker.hold;
	if (device->worker.spill.aside_from[command->lane] != 0)
		return false;
	return worker_named_waits(hold->from, command);
}

static bool command_is_named_held(const struct worker_hold *hold, const struct task_command *failed)
{
	if (!worker_named_may_have(&hold->named, failed))
		return false;
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		if (worker_named_in(&hold->lanes[i], failed))
			return true;
	return false;
}

bool worker_hold_keeps(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_hold *hold = &device->worker.hold;
	if (hold->count == 0 || device->worker.unusable)
		return false;
	if (message->kind == SCHED_MESSAGE_FORGET &&
	    command_is_named_held(hold, &worker_task_of(message)->command)) {
		sched_message_append(&hold->forget, message);
		return true;
	}
	if (message->kind != SCHED_MESSAGE_COMMAND ||
	    (hold->from[worker_task_of(message)->command.lane] == 0 &&
	     !command_is_behind_held(device, &worker_task_of(message)->command)))
		return false;
	worker_hold_add(device, worker_task_of(message));
	return true;
}

void worker_hold_add(struct scheduler_device *device, struct task *task)
{
	struct worker_hold *hold = &device->worker.hold;
	const struct task_command *command = &task->command;
	struct sched_message_list *list = &hold->lanes[command->lane];
	uint64_t from = hold->from[command->lane];
	worker_named_number(&device->worker.wait_numbers, task);
	if (list->first && command->sequence < from) {
		task->message.next = list->first;
		list->first = &task->message;
	} else {
		sched_message_append(list, &task->message);
	}
	if (from == 0 || command->sequence < from)
		hold->from[command->lane] = command_first_sequence(command);
	hold->count++;
	worker_named_note(&hold->named, command);
}

bool worker_hold_has(const struct scheduler_device *device, uint32_t lane, uint64_t sequence)
{
	const struct worker_hold *hold = &device->worker.hold;
	return hold->from[lane] != 0 && sequence >= hold->from[lane];
}

struct task *worker_hold_take(struct scheduler_device *device, uint32_t lane)
{
	struct worker_hold *hold = &device->worker.hold;
	struct sched_message_list *list = &hold->lanes[lane];
	if (!list->first || command_is_behind_held(device, &worker_task_of(list->first)->command))
		return NULL;
	struct task *task = worker_task_of(sched_message_take(list));
	hold->from[lane] =
		list->first ? command_first_sequence(&worker_task_of(list->first)->command) : 0;
	hold->tries++;
	if (--hold->count == 0)
		memset(&hold->named, 0, sizeof(hold->named));
	return task;
}

struct sched_message_list worker_hold_take_forget(struct scheduler_device *device)
{
	struct worker_hold *hold = &device->worker.hold;
	struct sched_message_list list = hold->forget, free = {.first = NULL};
	struct sched_message *message;
	hold->forget = (struct sched_message_list){.first = NULL};
	while ((message = sched_message_take(&list)))
		sched_message_append(command_is_named_held(hold, &worker_task_of(message)->command)
					     ? &hold->forget
					     : &free,
				     message);
	return free;
}
