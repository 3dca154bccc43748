#include "cuda/graph/graph.h"

#include "cuda/lane/chain.h"
#include "cuda/memory/state.h"
#include "cuda/lane/partition.h"
#include "cuda/lane/streams.h"
#include "status.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8u

bool cuda_graphs_are_possible(const struct cuda_library *library)
{
	return cuda_chains_are_possible(library) && library->cuGraphAddEmptyNode &&
	       library->cuGraphAddMemcpyNode && library->cuGraphAddChildGraphNode &&
	       library->cuGraphDestroyNode && library->cuGraphKernelNodeSetParams &&
	       library->cuGraphKernelNodeSetAttribute && library->cuGraphMemcpyNodeSetParams &&
	       library->cuGraphExecMemcpyNodeSetParams && library->cuStreamIsCapturing &&
	       library->cuStreamEndCapture && library->cuThreadExchangeStreamCaptureMode;
}

int cuda_graph_invalid(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "%s", what);
}

int cuda_graph_reserve(void *array_pointer, uint32_t *capacity, uint32_t count, uint32_t more,
		       size_t entry_bytes, struct backend_fault *fault_out)
{
	void *array = NULL;
	uint64_t wanted = *capacity ? *capacity : FIRST_CAPACITY;

	if ((uint64_t)count + more <= *capacity)
		return 0;
	while (wanted < (uint64_t)count + more)
		wanted *= 2;
	memcpy(&array, array_pointer, sizeof(array));
	void *grown = wanted <= UINT32_MAX ? reallocarray(array, wanted, entry_bytes) : NULL;
	if (!grown)
		return cuda_no_memory(fault_out, "a graph");
	memcpy(array_pointer, &grown, sizeof(grown));
	*capacity = (uint32_t)wanted;
	return 0;
}

int cuda_graph_create(struct backend_device *device, struct backend_graph **graph_out,
		      struct backend_fault *fault_out)
{
	int error = cuda_enter(device, fault_out);

	if (error < 0)
		return error;
	struct backend_graph *graph = calloc(1, sizeof(*graph));
	if (!graph)
		return cuda_no_memory(fault_out, "a graph");
	graph->device = device;
	graph->place = CUDA_GRAPH_TOP;
	error = cuda_check(graph->device, device->backend->library.cuGraphCreate(&graph->graph, 0),
			   fault_out, "cannot make a graph");
	if (error < 0) {
		free(graph);
		return error;
	}
	*graph_out = graph;
	return 0;
}

void cuda_graph_free(struct backend_graph *graph)
{
	if (!graph)
		return;
	const struct cuda_library *cu = &graph->device->backend->library;

	(void)cuda_enter(graph->device, NULL);
	if (graph->executable)
		(void)cu->cuGraphExecDestroy(graph->executable);
	(void)cu->cuGraphDestroy(graph->graph);
	cuda_graph_memory_end(graph);
	cuda_series_refuse(graph);
	for (uint32_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].kernel)
			cuda_kernel_free(graph->nodes[i].kernel);
	for (uint32_t i = 0; i < graph->kernel_count; i++)
		cuda_kernel_free(graph->kernels[i]);
	free(graph->kernels);
	free(graph->nodes);
	free(graph->unsettled);
	free(graph->hints);
	free(graph);
}

/* ------------------------------ what a graph must wait for ------------------------------ */

static int graph_note_unsettled_memory(struct backend_graph *graph, struct backend_memory *memory,
				       struct backend_fault *fault_out)
{
	if (!memory || !memory->zeroed ||
	    atomic_load_explicit(&memory->settled, memory_order_acquire))
		return 0;
	int error = cuda_graph_reserve(&graph->unsettled, &graph->unsettled_capacity,
				       graph->unsettled_count, 1, sizeof(struct backend_memory *),
				       fault_out);
	if (error == 0)
		graph->unsettled[graph->unsettled_count++] = memory;
	return error;
}

int cuda_graph_note(struct backend_graph *graph, const struct backend_command *command,
		    struct backend_fault *fault_out)
{
	int error = 0;

	switch (command->kind) {
	case BACKEND_COMMAND_LAUNCH:
		for (uint32_t i = 0; error == 0 && i < command->launch.argument_count; i++)
			if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_GLOBAL)
				error = graph_note_unsettled_memory(
					graph, command->launch.arguments[i].global.memory,
					fault_out);
		return error;
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		error = graph_note_unsettled_memory(graph, command->copy.source, fault_out);
		return error < 0 ? error
				 : graph_note_unsettled_memory(graph, command->copy.destination,
							       fault_out);
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return graph_note_unsettled_memory(graph, command->transfer.memory, fault_out);
	case BACKEND_COMMAND_FILL:
		return graph_note_unsettled_memory(graph, command->fill.memory, fault_out);
	case BACKEND_COMMAND_CONDITION:
		return graph_note_unsettled_memory(graph, command->condition.memory, fault_out);
	case BACKEND_COMMAND_NATIVE:
		for (uint32_t i = 0; error == 0 && i < command->native.memory_count; i++)
			error = graph_note_unsettled_memory(graph, command->native.memories[i],
							    fault_out);
		return error;
	default:
		return 0;
	}
}

/* -------------------------------------- the whole --------------------------------------- */

static CUDA_MEMSET_NODE_PARAMS graph_word_parameters(CUdeviceptr address, uint32_t value)
{
	return (CUDA_MEMSET_NODE_PARAMS){
		.dst = address, .value = value, .elementSize = 4, .width = 1, .height = 1};
}

/* Adds the node that writes the word. It comes after every node without followers, and after the
 * frees, because commands behind a launch may reuse its memory. */
static int graph_add_end_word(struct backend_graph *graph, struct backend_fault *fault_out)
{
	struct backend_device *device = graph->device;
	const CUDA_MEMSET_NODE_PARAMS word = graph_word_parameters(
		device->lanes->words_device + (CUdeviceptr)CUDA_WORDS_MAX * CUDA_WORD_STRIDE, 0);
	CLEANUP(free_pointer)
	CUgraphNode *last =
		calloc((size_t)graph->count + graph->temporary_count + 1, sizeof(CUgraphNode));
	uint32_t count = 0;

	if (!last)
		return cuda_no_memory(fault_out, "a graph");
	if (graph->word)
		return 0;
	int error = cuda_graph_add_frees(graph, fault_out);
	if (error < 0)
		return error;
	for (uint32_t i = 0; i < graph->temporary_count; i++)
		last[count++] = graph->temporaries[i]->release;
	for (uint32_t i = 0; i < graph->count; i++)
		if (!graph->nodes[i].is_waited_for && graph->nodes[i].place == CUDA_GRAPH_TOP)
			last[count++] = graph->nodes[i].node;
	return cuda_check(graph->device,
			  device->backend->library.cuGraphAddMemsetNode(
				  &graph->word, graph->graph, last, count, &word, device->context),
			  fault_out, "cannot add to a graph");
}

/* Moves the executable to the device before its first launch, which would otherwise do so. A
 * failure does not matter. */
static void upload_executable(struct backend_graph *graph)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	CUstream stream = NULL;

	if (cuda_stream_take(graph->device, BACKEND_LANE_COMPUTE, &stream, NULL) < 0)
		return;
	(void)cu->cuGraphUpload(graph->executable, stream);
	if (cu->cuStreamQuery(stream) == CUDA_SUCCESS)
		cuda_stream_give(graph->device, BACKEND_LANE_COMPUTE, stream);
	/* No later user of the stream must wait for the upload. */
	else
		(void)cu->cuStreamDestroy(stream);
}

int cuda_graph_instantiate(struct backend_graph *graph, CUgraphExec *executable_out,
			   struct backend_fault *fault_out)
{
	return cuda_check(graph->device,
			  graph->device->backend->library.cuGraphInstantiateWithFlags(
				  executable_out, graph->graph, 0),
			  fault_out, "cannot make a graph executable");
}

int cuda_graph_finish(struct backend_graph *graph, bool updatable, struct backend_fault *fault_out)
{
	if (graph->executable)
		return cuda_graph_invalid(fault_out, "the graph is finished already");
	if (updatable && graph->has_conditions)
		return cuda_graph_invalid(fault_out, "a graph with conditions is not updated");
	int error = cuda_enter(graph->device, fault_out);
	if (error == 0)
		error = cuda_graph_close_bodies(graph, fault_out);
	if (error == 0)
		error = graph_add_end_word(graph, fault_out);
	if (error == 0 && graph->temporary_count > 0)
		error = cuda_graph_room(graph->device->memory, cuda_graph_memory_bytes(graph),
					fault_out);
	if (error == 0)
		error = cuda_graph_instantiate(graph, &graph->executable, fault_out);
	if (error < 0)
		return error;
	graph->updatable = updatable;
	upload_executable(graph);
	if (graph->temporary_count > 0)
		error = cuda_graph_room_left(graph->device->memory, fault_out);
	if (error < 0) {
		(void)graph->device->backend->library.cuGraphExecDestroy(graph->executable);
		graph->executable = NULL;
		cuda_graph_memory_gone(graph->device->memory);
	}
	return error;
}

/* Exported memory is zeroed once, before its first use. Zeroed memory is removed from the list. */
static int settle_memories(struct backend_graph *graph, struct backend_lane *lane,
			   struct backend_fault *fault_out)
{
	for (uint32_t i = 0; i < graph->unsettled_count;) {
		struct backend_memory *memory = graph->unsettled[i];
		int error = cuda_memory_settle(lane, memory, fault_out);
		if (error < 0)
			return error;
		if (atomic_load_explicit(&memory->settled, memory_order_acquire))
			graph->unsettled[i] = graph->unsettled[--graph->unsettled_count];
		else
			i++;
	}
	return 0;
}

/* Gives prefetches and advice before the launch, because they have no order. */
static int give_hints(struct backend_graph *graph, struct backend_lane *lane,
		      struct backend_fault *fault_out)
{
	struct cuda_finish *finish = NULL; /* a hint has nothing to finish */
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < graph->count; i++)
		if (graph->nodes[i].form == CUDA_FORM_HINT)
			error = cuda_usm_enqueue(lane, &graph->nodes[i].hint, &finish, fault_out);
	for (uint32_t i = 0; error == 0 && i < graph->hint_count; i++)
		error = cuda_usm_enqueue(lane, &graph->hints[i], &finish, fault_out);
	return error;
}

uint32_t cuda_graph_node_count(const struct backend_graph *graph)
{
	return graph->count;
}

int cuda_graph_launch(const struct cuda_lane_state *state, struct backend_graph *graph,
		      uint32_t value, struct backend_fault *fault_out)
{
	struct backend_lane *lane = state->lane;
	const struct cuda_library *cu = &lane->device->backend->library;
	const CUDA_MEMSET_NODE_PARAMS word = graph_word_parameters(state->word_device, value);

	if (!graph || !graph->executable || graph->device != lane->device ||
	    !backend_lane_computes(lane->kind))
		return cuda_graph_invalid(
			fault_out, "a finished graph of this device runs on a lane for computing");
	int error = settle_memories(graph, lane, fault_out);
	if (error == 0)
		error = give_hints(graph, lane, fault_out);
	if (error < 0)
		return error;
	CUresult result = cu->cuGraphExecMemsetNodeSetParams(graph->executable, graph->word, &word,
							     lane->device->context);
	if (result == CUDA_SUCCESS)
		result = cuda_whole_begin(state);
	if (result == CUDA_SUCCESS)
		result = cu->cuGraphLaunch(graph->executable, state->whole);
	if (result == CUDA_SUCCESS)
		result = cuda_whole_end(state);
	return cuda_check(graph->device, result, fault_out, "the graph was not launched");
}
