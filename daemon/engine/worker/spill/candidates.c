/*
 * Which memories may be spilled (device thread): those that are PRESENT and not pinned. What
 * commands in flight use or the command at hand needs stays.
 */
#include "base/lane_limits.h"
#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/task/native_command.h"
#include "worker/spill/spill.h"
#include "worker/spill/internal.h"

static bool memory_may_leave(const struct sched_memory *memory)
{
	const struct scheduler *scheduler = memory->device->scheduler;
	return scheduler->spills && memory->size_bytes >= scheduler->spill_least_bytes &&
	       !memory->host && !memory->imported && !memory->native &&
	       memory->export_kind == BACKEND_EXPORT_NONE && memory->spill.pins == 0;
}

void worker_spill_be_present(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory *handle)
{
	memory->spill.state = SPILL_PRESENT;
	atomic_store(&memory->spill.away, 0);
	atomic_store_explicit(&memory->handle, handle, memory_order_release);
	if (memory_may_leave(memory))
		spill_order_enter(&spill_of(device)->order, &memory->spill.entry,
				  memory->spill.owner, memory->size_bytes);
}

void worker_spill_pin(struct scheduler_device *device, struct sched_memory *memory)
{
	memory->spill.pins++;
	spill_order_leave(&spill_of(device)->order, &memory->spill.entry);
}

void worker_spill_unpin(struct scheduler_device *device, struct sched_memory *memory)
{
	memory->spill.pins--;
	if (memory->spill.state == SPILL_PRESENT && memory_may_leave(memory))
		spill_order_enter(&spill_of(device)->order, &memory->spill.entry,
				  memory->spill.owner, memory->size_bytes);
}

static void mark_memory(struct scheduler_device *device, struct sched_memory *memory,
			spill_mark_function *mark)
{
	if (memory && memory->device == device)
		mark(&spill_of(device)->order, &memory->spill.entry);
}

void worker_spill_mark(struct scheduler_device *device, const struct task_command *command,
		       spill_mark_function *mark)
{
	struct sched_memory *memory;
	mark_memory(device, command->source, mark);
	mark_memory(device, command->destination, mark);
	if (command->backend.kind == BACKEND_COMMAND_LAUNCH)
		for (uint32_t i = 0; i < command->backend.launch.argument_count; i++)
			mark_memory(device, command->argument_memories[i], mark);
	for (uint32_t i = 0; command->native_command &&
			     worker_native_command_has(command->native_command, i, &memory);
	     i++)
		mark_memory(device, memory, mark);
}

static void mark_sending(struct scheduler_device *device, const struct task_command *command)
{
	if (!command)
		return;
	worker_spill_mark(device, command, spill_order_mark_kept);
	if (!command->graph)
		return;
	const struct sched_graph *graph = command->graph->graph;
	for (uint32_t i = 0; i < graph->node_count; i++)
		worker_spill_mark(device, &graph->nodes[i]->command, spill_order_mark_kept);
	for (const struct sched_graph_node *node = command->graph->changes; node; node = node->next)
		worker_spill_mark(device, &node->command, spill_order_mark_kept);
}

void worker_spill_mark_all(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	spill_order_unmark(&spill->order);
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		for (const struct task *task = device->worker.lanes[i].first; task;
		     task = task->command.lane_next)
			worker_spill_mark(device, &task->command, spill_order_mark_in_use);
	mark_sending(device, spill->sending);
}
