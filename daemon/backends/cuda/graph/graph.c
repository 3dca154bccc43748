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

CUDA_KERNEL_NODE_PARAMS cuda_graph_kernel(const struct cuda_launch *launch)
{
	return (CUDA_KERNEL_NODE_PARAMS){
		.func = launch->function,
		.gridDimX = launch->grid[0],
		.gridDimY = launch->grid[1],
		.gridDimZ = launch->grid[2],
		.blockDimX = launch->block[0],
		.blockDimY = launch->block[1],
		.blockDimZ = launch->block[2],
		.sharedMemBytes = launch->shared_bytes,
		.kernelParams = launch->parameters,
	};
}

static int invalid_graph(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "%s", what);
}

/* Room for `more` entries behind `count`. The array stays as it is on failure. */
static int reserve_array(void *array_pointer, uint32_t *capacity, uint32_t count, uint32_t more,
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

static int note_unsettled(struct backend_graph *graph, struct backend_memory *memory,
			  struct backend_fault *fault_out)
{
	if (!memory || !memory->zeroed ||
	    atomic_load_explicit(&memory->settled, memory_order_acquire))
		return 0;
	int error =
		reserve_array(&graph->unsettled, &graph->unsettled_capacity, graph->unsettled_count,
			      1, sizeof(struct backend_memory *), fault_out);
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
				error = note_unsettled(graph,
						       command->launch.arguments[i].global.memory,
						       fault_out);
		return error;
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		error = note_unsettled(graph, command->copy.source, fault_out);
		return error < 0 ? error
				 : note_unsettled(graph, command->copy.destination, fault_out);
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return note_unsettled(graph, command->transfer.memory, fault_out);
	case BACKEND_COMMAND_FILL:
		return note_unsettled(graph, command->fill.memory, fault_out);
	case BACKEND_COMMAND_CONDITION:
		return note_unsettled(graph, command->condition.memory, fault_out);
	case BACKEND_COMMAND_NATIVE:
		for (uint32_t i = 0; error == 0 && i < command->native.memory_count; i++)
			error = note_unsettled(graph, command->native.memories[i], fault_out);
		return error;
	default:
		return 0;
	}
}

/* ---------------------------------------- nodes ----------------------------------------- */

static CUresult set_shape(const struct cuda_library *cu, CUgraphNode node,
			  const struct cuda_launch *launch)
{
	CUlaunchAttributeValue value;
	CUresult result = CUDA_SUCCESS;

	memset(&value, 0, sizeof(value));
	if (launch->cooperative) {
		value.cooperative = 1;
		result = cu->cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
							   &value);
	}
	if (result != CUDA_SUCCESS || launch->cluster[0] == 0)
		return result;
	memset(&value, 0, sizeof(value));
	value.clusterDim.x = launch->cluster[0];
	value.clusterDim.y = launch->cluster[1];
	value.clusterDim.z = launch->cluster[2];
	return cu->cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						 &value);
}

/* The nodes before a node. */
struct place {
	const CUgraphNode *after;
	uint32_t count;
	struct cuda_graph_node *only; /* where that is one; NULL otherwise */
	bool overlaps;                /* out: it begins while that one ends, */
	bool is_early;                /* out: and perhaps before what that one waited for is over */
};

static bool cuda_graph_is_plain(const struct cuda_launch *launch)
{
	return !launch->cooperative && launch->cluster[0] == 0;
}

/*
 * May a kernel begin while its only predecessor ends, or while it runs, if the program requests
 * that (R5)? The kernel waits by itself and is the predecessor's first follower: edges of both
 * kinds are not needed. Not in a graph with memory: the driver removes no node from it, should it
 * refuse the edge.
 */
static bool may_overlap(const struct backend_graph *graph, const struct cuda_plan *plan,
			const struct place *place)
{
	const struct cuda_graph_node *only = place->only;

	return only && graph->temporary_count == 0 && only->form == CUDA_FORM_KERNEL &&
	       !only->is_waited_for && only->is_plain &&
	       (plan->launch.waits || plan->launch.early) && cuda_graph_is_plain(&plan->launch) &&
	       graph->device->backend->library.cuGraphAddDependencies;
}

static CUresult add_kernel(struct backend_graph *graph, const struct cuda_plan *plan,
			   struct place *place, CUgraphNode *node_out)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	const CUDA_KERNEL_NODE_PARAMS kernel = cuda_graph_kernel(&plan->launch);
	bool overlaps = place->after && may_overlap(graph, plan, place);

	CUresult result = cu->cuGraphAddKernelNode(node_out, cuda_graph_target(graph), place->after,
						   overlaps ? 0 : place->count, &kernel);
	if (result != CUDA_SUCCESS || !overlaps)
		return result;
	place->overlaps =
		cuda_chain_overlap(cu, graph->graph, place->after[0], *node_out) == CUDA_SUCCESS;
	place->is_early = place->overlaps && !plan->launch.waits;
	if (place->overlaps)
		return CUDA_SUCCESS;
	(void)cu->cuGraphDestroyNode(*node_out);
	return cu->cuGraphAddKernelNode(node_out, graph->graph, place->after, place->count,
					&kernel);
}

static CUresult add_planned(struct backend_graph *graph, const struct cuda_plan *plan,
			    struct place *place, CUgraphNode *node_out)
{
	const struct cuda_library *cu = &graph->device->backend->library;

	switch (plan->form) {
	case CUDA_FORM_KERNEL:
		return add_kernel(graph, plan, place, node_out);
	case CUDA_FORM_COPY:
		return cu->cuGraphAddMemcpyNode(node_out, cuda_graph_target(graph), place->after,
						place->count, &plan->copy, graph->device->context);
	case CUDA_FORM_EMPTY:
	case CUDA_FORM_HINT:
	case CUDA_FORM_CHILD:
	case CUDA_FORM_CONDITION:
		break;
	}
	return cu->cuGraphAddEmptyNode(node_out, cuda_graph_target(graph), place->after,
				       place->count);
}

static int add_plain(struct backend_graph *graph, const struct backend_command *command,
		     struct place *place, struct cuda_graph_node *node,
		     struct backend_fault *fault_out)
{
	struct backend_device *device = graph->device;
	struct cuda_plan plan = {.form = CUDA_FORM_EMPTY};

	int error = cuda_plan_make(device, command, &plan, fault_out);
	if (error < 0)
		return error;
	error = cuda_check(graph->device, add_planned(graph, &plan, place, &node->node), fault_out,
			   "cannot add to a graph");
	if (error < 0)
		return error;
	node->form = plan.form;
	if (plan.form == CUDA_FORM_COPY)
		node->copy = plan.copy;
	if (plan.form == CUDA_FORM_HINT)
		node->hint = *command;
	if (plan.form != CUDA_FORM_KERNEL)
		return 0;
	node->cooperative = plan.launch.cooperative;
	node->is_plain = cuda_graph_is_plain(&plan.launch);
	memcpy(node->cluster, plan.launch.cluster, sizeof(node->cluster));
	error = cuda_check(graph->device,
			   set_shape(&device->backend->library, node->node, &plan.launch),
			   fault_out, "cannot add to a graph");
	if (error < 0) {
		(void)device->backend->library.cuGraphDestroyNode(node->node);
		return error;
	}
	if (command->kind == BACKEND_COMMAND_LAUNCH) {
		node->kernel = command->launch.kernel;
		cuda_kernel_hold(node->kernel);
	}
	return 0;
}

/* This graph takes over what another graph holds, and what must be done before that runs. Room
 * is there. */
static void inherit_child(struct backend_graph *graph, const struct backend_graph *child)
{
	for (uint32_t i = 0; i < child->count + child->kernel_count; i++) {
		struct backend_kernel *kernel = i < child->count ? child->nodes[i].kernel
								 : child->kernels[i - child->count];
		if (!kernel)
			continue;
		cuda_kernel_hold(kernel);
		graph->kernels[graph->kernel_count++] = kernel;
	}
	for (uint32_t i = 0; i < child->unsettled_count; i++)
		graph->unsettled[graph->unsettled_count++] = child->unsettled[i];
	for (uint32_t i = 0; i < child->count; i++)
		if (child->nodes[i].form == CUDA_FORM_HINT)
			graph->hints[graph->hint_count++] = child->nodes[i].hint;
	for (uint32_t i = 0; i < child->hint_count; i++)
		graph->hints[graph->hint_count++] = child->hints[i];
}

static int add_child(struct backend_graph *graph, struct backend_graph *child,
		     const struct place *place, struct cuda_graph_node *node,
		     struct backend_fault *fault_out)
{
	if (!child || !child->executable || child == graph || child->device != graph->device)
		return invalid_graph(fault_out,
				     "a graph in a graph is finished, and of the same device");
	if (child->temporary_count > 0)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"a graph with memory of its own cannot be a node");
	if (child->has_conditions)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"a graph with conditions cannot be a node");
	if (child->differs)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"a graph that was updated cannot be a node");
	int error = reserve_array(&graph->kernels, &graph->kernel_capacity, graph->kernel_count,
				  child->count + child->kernel_count,
				  sizeof(struct backend_kernel *), fault_out);
	if (error == 0)
		error = reserve_array(&graph->unsettled, &graph->unsettled_capacity,
				      graph->unsettled_count, child->unsettled_count,
				      sizeof(struct backend_memory *), fault_out);
	if (error == 0)
		error = reserve_array(&graph->hints, &graph->hint_capacity, graph->hint_count,
				      child->count + child->hint_count, sizeof(*graph->hints),
				      fault_out);
	if (error < 0)
		return error;
	error = cuda_check(
		graph->device,
		graph->device->backend->library.cuGraphAddChildGraphNode(
			&node->node, graph->graph, place->after, place->count, child->graph),
		fault_out, "cannot add a graph to a graph");
	if (error == 0)
		inherit_child(graph, child);
	return error;
}

static int cuda_graph_add_node(struct backend_graph *graph, const struct backend_command *command,
			       struct place *place, struct cuda_graph_node *node,
			       struct backend_fault *fault_out)
{
	int error = cuda_graph_note(graph, command, fault_out);

	if (error < 0)
		return error;
	if (command->kind == BACKEND_COMMAND_CONDITION)
		return cuda_graph_add_condition(graph, command, place->after, place->count, node,
						fault_out);
	if (command->kind != BACKEND_COMMAND_GRAPH && command->kind != BACKEND_COMMAND_NATIVE)
		return add_plain(graph, command, place, node, fault_out);
	if (graph->place != CUDA_GRAPH_TOP)
		return cuda_fault_words(
			fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
			"the body of a condition has neither graphs nor native commands");
	node->form = CUDA_FORM_CHILD;
	if (command->kind == BACKEND_COMMAND_GRAPH)
		return add_child(graph, command->graph, place, node, fault_out);
	return cuda_graph_add_native(graph, command, place->after, place->count, &node->node,
				     fault_out);
}

static bool is_known_before(const uint64_t *before, uint32_t index)
{
	return index < CUDA_GRAPH_KNOWN && (before[index / 64] >> index % 64 & 1) != 0;
}

/*
 * The nodes after which the driver runs this one; how many. Without those that come before another
 * one of them: a program's queue names the node before, its buffers name earlier ones, and each
 * edge costs the device time at each launch.
 */
static uint32_t gather_before(const struct backend_graph *graph, const uint32_t *after,
			      uint32_t count, struct cuda_graph_node *node, CUgraphNode *before_out,
			      uint32_t *only_out)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct cuda_graph_node *other = &graph->nodes[after[i]];
		for (uint32_t word = 0; word < CUDA_GRAPH_KNOWN / 64; word++)
			node->before[word] |= other->before[word];
		node->has |= other->has;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (is_known_before(node->before, after[i]))
			continue;
		*only_out = after[i];
		before_out[kept++] = graph->nodes[after[i]].node;
	}
	for (uint32_t i = 0; i < count; i++)
		if (after[i] < CUDA_GRAPH_KNOWN)
			node->before[after[i] / 64] |= 1ull << after[i] % 64;
	return kept;
}

int cuda_graph_add(struct backend_graph *graph, const struct backend_command *command,
		   const uint32_t *after, uint32_t after_count, uint32_t *node_out,
		   struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) CUgraphNode *before = NULL;
	struct cuda_graph_node node = {.kind = command->kind, .place = graph->place};
	uint32_t kept, only = 0;

	if (graph->executable)
		return invalid_graph(fault_out, "a finished graph takes no more nodes");
	for (uint32_t i = 0; i < after_count; i++)
		if (after[i] >= graph->count || graph->nodes[after[i]].place != graph->place)
			return invalid_graph(fault_out, "a node waits for one that is not there");
	int error = cuda_graph_uses(graph, command, &node.uses, fault_out);
	if (error < 0)
		return error;
	before = calloc(after_count + graph->temporary_count + 1, sizeof(CUgraphNode));
	if (!before)
		return cuda_no_memory(fault_out, "a graph");
	kept = gather_before(graph, after, after_count, &node, before, &only);
	const uint32_t before_count =
		kept + cuda_graph_allocations(graph, node.uses & ~node.has, before + kept);
	node.has |= node.uses;
	node.last_uses = node.uses;
	error = reserve_array(&graph->nodes, &graph->capacity, graph->count, 1,
			      sizeof(*graph->nodes), fault_out);
	if (error == 0)
		error = cuda_enter(graph->device, fault_out);
	struct place place = {.after = before_count > 0 ? before : NULL,
			      .count = before_count,
			      .only = kept == 1 && before_count == 1 &&
						      graph->place == CUDA_GRAPH_TOP
					      ? &graph->nodes[only]
					      : NULL};
	if (error == 0)
		error = cuda_graph_add_node(graph, command, &place, &node, fault_out);
	if (error < 0)
		return error;
	node.overlaps = place.overlaps;
	if (place.is_early)
		memset(node.before, 0, sizeof(node.before));
	if (place.overlaps)
		graph->nodes[only].overlaps = true;
	for (uint32_t i = 0; i < after_count; i++) {
		graph->nodes[after[i]].is_waited_for = true;
		graph->nodes[after[i]].last_uses &= ~node.uses;
	}
	graph->nodes[graph->count] = node;
	*node_out = graph->count++;
	cuda_graph_go_on(graph);
	return 0;
}

/* -------------------------------------- the whole --------------------------------------- */

static CUDA_MEMSET_NODE_PARAMS word_parameters(CUdeviceptr address, uint32_t value)
{
	return (CUDA_MEMSET_NODE_PARAMS){
		.dst = address, .value = value, .elementSize = 4, .width = 1, .height = 1};
}

/* The word comes after every node that no other one comes after, and after the frees: what is
 * behind a launch may have its memory. */
static int graph_add_end_word(struct backend_graph *graph, struct backend_fault *fault_out)
{
	struct backend_device *device = graph->device;
	const CUDA_MEMSET_NODE_PARAMS word = word_parameters(
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

/* On the device before the first launch, which would else bring it there. Whether it came or not:
 * nothing depends on it. */
static void upload_executable(struct backend_graph *graph)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	CUstream stream = NULL;

	if (cuda_stream_take(graph->device, BACKEND_LANE_COMPUTE, &stream, NULL) < 0)
		return;
	(void)cu->cuGraphUpload(graph->executable, stream);
	if (cu->cuStreamQuery(stream) == CUDA_SUCCESS)
		cuda_stream_give(graph->device, BACKEND_LANE_COMPUTE, stream);
	else
		(void)cu->cuStreamDestroy(stream); /* the next one's user must not wait for it */
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
		return invalid_graph(fault_out, "the graph is finished already");
	if (updatable && graph->has_conditions)
		return invalid_graph(fault_out, "a graph with conditions is not updated");
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

/* Exported memory is zeroed once, before its first use: memory that was zeroed is removed from the
 * list. */
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

/* Prefetches and advice have no order: they are given before the whole. */
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
	const CUDA_MEMSET_NODE_PARAMS word = word_parameters(state->word_device, value);

	if (!graph || !graph->executable || graph->device != lane->device ||
	    !backend_lane_computes(lane->kind))
		return invalid_graph(
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
