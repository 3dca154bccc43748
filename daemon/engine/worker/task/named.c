/* See named.h. */
#include "worker/task/named.h"

#include "scheduler/state/task.h"

void worker_named_number(uint64_t *numbers, struct task *task)
{
	if (atomic_load_explicit(&task->is_aside, memory_order_relaxed))
		return;
	task->command.wait_number = ++*numbers;
	atomic_store(&task->is_aside, true);
}

void worker_named_note(struct worker_named *named, const struct task_command *command)
{
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		uint64_t *first = &named->first[predecessor->lane],
			 *last = &named->last[predecessor->lane];
		if (*first == 0 || predecessor->sequence < *first)
			*first = predecessor->sequence;
		if (predecessor->sequence > *last)
			*last = predecessor->sequence;
	}
}

bool worker_named_may_have(const struct worker_named *named, const struct task_command *failed)
{
	return failed->sequence >= named->first[failed->lane] &&
	       failed->sequence <= named->last[failed->lane];
}

bool worker_named_waits(const uint64_t *from, const struct task_command *command)
{
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		if (from[predecessor->lane] != 0 &&
		    predecessor->sequence >= from[predecessor->lane])
			return true;
	}
	return false;
}

static bool command_names(const struct task_command *command, const struct task_command *failed)
{
	for (uint32_t i = 0; i < command->predecessor_count; i++)
		if (command->predecessors[i].lane == failed->lane &&
		    command->predecessors[i].sequence == failed->sequence)
			return true;
	return false;
}

bool worker_named_in(const struct sched_message_list *list, const struct task_command *failed)
{
	for (const struct sched_message *message = list->first; message; message = message->next)
		if (message->kind == SCHED_MESSAGE_COMMAND &&
		    command_names(&((const struct task *)(const void *)message)->command, failed))
			return true;
	return false;
}
