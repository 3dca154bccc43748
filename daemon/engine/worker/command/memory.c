/* Makes sure that the memory of a command is on the device (device thread). */
#include "worker/command/memory.h"

#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/public/device.h"
#include "worker/command/graph_memory.h"
#include "worker/task/native_command.h"
#include "worker/spill/spill.h"

#include <errno.h>

int worker_memory(struct scheduler_device *device, struct sched_memory *memory,
		  struct backend_fault *fault)
{
	if (!memory)
		return 0;
	if (memory->is_temporary && device->worker.making && !device->worker.unusable) {
		int result = worker_graph_need(device, memory, fault);
		if (result < 0 || worker_graph_memory(memory))
			return result;
	}
	if (atomic_load_explicit(&memory->handle, memory_order_relaxed)) {
		spill_order_use(&device->worker.spill.order, &memory->spill.entry);
		return 0;
	}
	if (!device->worker.unusable)
		return worker_spill_need(device, memory, fault);
	*fault = *sched_gone_fault(device);
	return -EIO;
}

/* Memory of the graph's own needs no room now. */
static int graph_need_memory(const struct sched_graph *graph, struct sched_memory *memory,
			     struct backend_fault *fault)
{
	bool has = memory && worker_graph_has_memory(graph, memory);
	return has ? 0 : worker_memory(graph->device, memory, fault);
}

static int worker_need_memories(const struct sched_graph *graph, const struct task_command *command,
				struct backend_fault *fault)
{
	struct sched_memory *memory;
	int result = graph_need_memory(graph, command->source, fault);
	if (result == 0)
		result = graph_need_memory(graph, command->destination, fault);
	for (uint32_t i = 0; result == 0 && command->backend.kind == BACKEND_COMMAND_LAUNCH &&
			     i < command->backend.launch.argument_count;
	     i++)
		result = graph_need_memory(graph, command->argument_memories[i], fault);
	for (uint32_t i = 0; result == 0 && command->native_command &&
			     worker_native_command_has(command->native_command, i, &memory);
	     i++)
		result = graph_need_memory(graph, memory, fault);
	return result;
}

int worker_memory_need_graph(const struct sched_graph_launch *launch, struct backend_fault *fault)
{
	const struct sched_graph *graph = launch->graph;
	int result = 0;
	if (graph->handle && !graph->is_stale && !launch->changes)
		return 0;
	for (uint32_t i = 0; result == 0 && i < graph->node_count; i++)
		result = worker_need_memories(graph, &graph->nodes[i]->command, fault);
	for (const struct sched_graph_node *node = launch->changes; result == 0 && node;
	     node = node->next)
		result = worker_need_memories(graph, &node->command, fault);
	return result;
}
