/*
 * Memory of a graph: an allocation node before all nodes that name it, a free node after them. At
 * each launch the driver takes a piece of its graph memory on the device. So graphs that do not run
 * at the same time share it; memory/pool.c trims it.
 */
#include "cuda/graph/graph.h"
#include "cuda/memory/state.h"
#include "status.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int graph_memory_refuse(struct backend_fault *fault_out, const char *why)
{
	return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED, "%s", why);
}

static int add_allocation(struct backend_graph *graph, struct cuda_graph_temporary *made,
			  struct backend_fault *fault_out)
{
	struct backend_device *device = graph->device;
	const struct cuda_library *cu = &device->backend->library;
	CUDA_MEM_ALLOC_NODE_PARAMS parameters = {
		.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			      .handleTypes = CU_MEM_HANDLE_TYPE_NONE,
			      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
					   .id = device->facts->device}},
		.bytesize = made->memory.size_bytes,
	};

	CUresult result =
		cu->cuGraphAddMemAllocNode(&made->allocation, graph->graph, NULL, 0, &parameters);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot give a graph %llu bytes",
				  (unsigned long long)made->memory.size_bytes);
	made->memory.address = parameters.dptr;
	return 0;
}

int cuda_graph_temporary(struct backend_graph *graph, uint64_t size_bytes,
			 struct backend_memory **memory_out, struct backend_fault *fault_out)
{
	if (graph->executable)
		return graph_memory_refuse(fault_out, "a finished graph cannot get more memory");
	if (graph->has_conditions)
		return graph_memory_refuse(fault_out,
					   "a graph with conditions has no memory of its own");
	if (!cuda_graphs_have_memory(graph->device))
		return graph_memory_refuse(fault_out,
					   "this driver's graphs have no memory of their own");
	if (graph->temporary_count == CUDA_GRAPH_TEMPORARIES)
		return graph_memory_refuse(fault_out,
					   "the graph has as many memories as it may have");
	if (size_bytes == 0 || size_bytes > graph->device->memory->total_bytes)
		return cuda_fault_words(fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION,
					"a memory of %llu bytes", (unsigned long long)size_bytes);
	int error = cuda_enter(graph->device, fault_out);
	if (error < 0)
		return error;
	struct cuda_graph_temporary *made = calloc(1, sizeof(*made));
	if (!made)
		return cuda_no_memory(fault_out, "a graph");
	made->memory.device = graph->device;
	made->memory.size_bytes = size_bytes;
	made->memory.origin = CUDA_ORIGIN_GRAPH;
	made->graph = graph;
	made->bit = 1ull << graph->temporary_count;
	error = add_allocation(graph, made, fault_out);
	if (error < 0) {
		free(made);
		return error;
	}
	graph->device->memory->graphs_with_memory += graph->temporary_count == 0;
	graph->temporaries[graph->temporary_count++] = made;
	*memory_out = &made->memory;
	return 0;
}

/* ------------------------------------- which node names it -------------------------------------
 */

static int add_temporary_use(const struct backend_graph *graph, const struct backend_memory *memory,
			     uint64_t *uses)
{
	if (!memory || memory->origin != CUDA_ORIGIN_GRAPH)
		return 0;
	const struct cuda_graph_temporary *temporary =
		(const struct cuda_graph_temporary *)(const void *)memory;
	if (temporary->graph != graph)
		return -EINVAL;
	*uses |= temporary->bit;
	return 0;
}

int cuda_graph_uses(const struct backend_graph *graph, const struct backend_command *command,
		    uint64_t *uses_out, struct backend_fault *fault_out)
{
	uint64_t uses = 0;
	int error = 0;

	switch (command->kind) {
	case BACKEND_COMMAND_LAUNCH:
		for (uint32_t i = 0; error == 0 && i < command->launch.argument_count; i++)
			if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_GLOBAL)
				error = add_temporary_use(
					graph, command->launch.arguments[i].global.memory, &uses);
		break;
	case BACKEND_COMMAND_COPY:
		error = add_temporary_use(graph, command->copy.source, &uses);
		if (error == 0)
			error = add_temporary_use(graph, command->copy.destination, &uses);
		break;
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		error = add_temporary_use(graph, command->transfer.memory, &uses);
		break;
	case BACKEND_COMMAND_FILL:
		error = add_temporary_use(graph, command->fill.memory, &uses);
		break;
	default:
		break;
	}
	if (error < 0)
		return cuda_fault_words(fault_out, error, STATUS_INVALID,
					"a graph's memory is named by another graph");
	*uses_out = uses;
	return 0;
}

uint32_t cuda_graph_allocations(const struct backend_graph *graph, uint64_t uses,
				CUgraphNode *nodes_out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->temporary_count; i++)
		if (uses & graph->temporaries[i]->bit)
			nodes_out[count++] = graph->temporaries[i]->allocation;
	return count;
}

/* --------------------------------------- the end ---------------------------------------- */

/* Adds a free node after the last nodes that name the memory. If no node names it, the free node
 * follows the allocation. */
static int add_free(struct backend_graph *graph, struct cuda_graph_temporary *temporary,
		    CUgraphNode *after, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].last_uses & temporary->bit)
			after[count++] = graph->nodes[i].node;
	if (count == 0)
		after[count++] = temporary->allocation;
	CUresult result = cu->cuGraphAddMemFreeNode(&temporary->release, graph->graph, after, count,
						    temporary->memory.address);
	if (result != CUDA_SUCCESS)
		return cuda_fault(graph->device, cu, result, fault_out, "cannot add to a graph");
	return 0;
}

int cuda_graph_add_frees(struct backend_graph *graph, struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) CUgraphNode *after = calloc(graph->count + 1, sizeof(CUgraphNode));
	int error = 0;

	if (!after)
		return cuda_no_memory(fault_out, "a graph");
	while (error == 0 && graph->freed_count < graph->temporary_count) {
		error = add_free(graph, graph->temporaries[graph->freed_count], after, fault_out);
		graph->freed_count += error == 0;
	}
	for (uint32_t i = 0; error == 0 && i < graph->count; i++)
		graph->nodes[i].is_waited_for |= graph->nodes[i].last_uses != 0;
	return error;
}

uint64_t cuda_graph_memory_bytes(const struct backend_graph *graph)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < graph->temporary_count; i++)
		bytes += graph->temporaries[i]->memory.size_bytes;
	return bytes;
}

void cuda_graph_memory_end(struct backend_graph *graph)
{
	if (graph->temporary_count > 0) {
		graph->device->memory->graphs_with_memory--;
		cuda_graph_memory_gone(graph->device->memory);
	}
	for (uint32_t i = 0; i < graph->temporary_count; i++)
		free(graph->temporaries[i]);
	graph->temporary_count = 0;
}
