/* Temporaries in memory of the backend's graph that is being made (device thread). */
#include "worker/command/graph_memory.h"

#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"

#include "status.h"

#include <errno.h>
#include <stdlib.h>

struct backend_memory *worker_graph_find_memory(const struct sched_graph *graph,
						const struct sched_memory *memory)
{
	for (uint32_t i = 0; i < graph->temporary_count; i++)
		if (graph->temporaries[i].memory == memory)
			return graph->temporaries[i].handle;
	return NULL;
}

/* A temporary that has memory of its own keeps it: its session is charged for one memory only. */
static bool may_have_graph_memory(const struct sched_graph *graph,
				  const struct sched_memory *memory)
{
	return memory->is_temporary && graph->device->ops->graph_temporary && !graph->has_native &&
	       !graph->has_condition && graph->temporary_count < SCHED_GRAPH_TEMPORARIES &&
	       !atomic_load_explicit(&memory->handle, memory_order_relaxed);
}

struct backend_memory *worker_graph_memory(const struct sched_memory *memory)
{
	const struct sched_graph *making =
		memory->is_temporary ? memory->device->worker.making : NULL;
	return making ? worker_graph_find_memory(making, memory) : NULL;
}

bool worker_graph_has_memory(const struct sched_graph *graph, const struct sched_memory *memory)
{
	return memory->is_temporary &&
	       (worker_graph_find_memory(graph, memory) || may_have_graph_memory(graph, memory));
}

int worker_graph_need(struct scheduler_device *device, struct sched_memory *memory,
		      struct backend_fault *fault)
{
	struct sched_graph *graph = device->worker.making;
	if (!graph || !may_have_graph_memory(graph, memory) ||
	    worker_graph_find_memory(graph, memory))
		return 0;
	if (!graph->temporaries)
		graph->temporaries = calloc(SCHED_GRAPH_TEMPORARIES, sizeof(*graph->temporaries));
	if (!graph->temporaries) {
		*fault = (struct backend_fault){.status = STATUS_MEMORY_ALLOCATION,
						.text = "the engine has no memory for a graph"};
		return -ENOMEM;
	}
	struct worker_graph_memory made = {.memory = memory};
	int result = device->ops->graph_temporary(graph->handle, memory->size_bytes, &made.handle,
						  fault);
	if (result == 0) {
		graph->temporaries[graph->temporary_count++] = made;
		atomic_fetch_add_explicit(&device->graph_memories, 1, memory_order_relaxed);
	}
	if (result != -EOPNOTSUPP)
		return result;
	*fault = (struct backend_fault){.status = STATUS_SUCCESS};
	return 0;
}
