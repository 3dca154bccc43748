/* Adds commands to a graph as nodes, each after the nodes that it names. */
#include "cuda/graph/graph.h"

#include "cuda/lane/chain.h"
#include "status.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* The predecessors of a node. */
struct place {
	const CUgraphNode *after;
	uint32_t count;
	struct cuda_graph_node *only; /* the only predecessor; NULL: there are several, or none */
	bool overlaps;                /* out: the node begins while `only` ends */
	bool is_early; /* out: and perhaps before the predecessors of `only` are complete */
};

static bool cuda_graph_is_plain(const struct cuda_launch *launch)
{
	return !launch->cooperative && launch->cluster[0] == 0;
}

/*
 * True if a kernel may begin while its only predecessor ends, or while it runs if the program
 * requests that (R5). The kernel must wait by itself, and be the predecessor's first follower, so
 * that edges of both kinds are not needed. Not in a graph with memory: if the driver refused the
 * edge there, it could not remove the node.
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
	const CUDA_KERNEL_NODE_PARAMS kernel = cuda_launch_node(&plan->launch);
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

/* True if the node comes behind all others. A node that begins early does not. */
static bool is_behind_last(const struct backend_graph *graph, const struct place *place)
{
	return !place->is_early &&
	       (graph->count == 0 ? place->count == 0
				  : place->only == &graph->nodes[graph->count - 1]);
}

static int cuda_add_plain(struct backend_graph *graph, const struct backend_command *command,
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
	if (plan.form != CUDA_FORM_KERNEL) {
		cuda_series_add(graph, &plan, NULL, is_behind_last(graph, place));
		return 0;
	}
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
	cuda_series_add(graph, &plan, node->kernel, is_behind_last(graph, place));
	return 0;
}

/* This graph takes over what a child graph holds, and the work that must precede its launch. There
 * is room for both. */
static void graph_inherit_child_node(struct backend_graph *graph, const struct backend_graph *child)
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
		return cuda_graph_invalid(
			fault_out,
			"a graph that becomes a node must be finished, and belong to the same device");
	if (child->temporary_count > 0)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"a graph with memory of its own cannot be a node");
	if (child->has_conditions)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"a graph with conditions cannot be a node");
	if (child->differs)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"a graph that was updated cannot be a node");
	int error = cuda_graph_reserve(&graph->kernels, &graph->kernel_capacity,
				       graph->kernel_count, child->count + child->kernel_count,
				       sizeof(struct backend_kernel *), fault_out);
	if (error == 0)
		error = cuda_graph_reserve(&graph->unsettled, &graph->unsettled_capacity,
					   graph->unsettled_count, child->unsettled_count,
					   sizeof(struct backend_memory *), fault_out);
	if (error == 0)
		error = cuda_graph_reserve(&graph->hints, &graph->hint_capacity, graph->hint_count,
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
		graph_inherit_child_node(graph, child);
	return error;
}

static int cuda_graph_add_node(struct backend_graph *graph, const struct backend_command *command,
			       struct place *place, struct cuda_graph_node *node,
			       struct backend_fault *fault_out)
{
	int error = cuda_graph_note(graph, command, fault_out);

	if (error < 0)
		return error;
	if (command->kind == BACKEND_COMMAND_CONDITION) {
		cuda_series_refuse(graph);
		return cuda_graph_add_condition(graph, command, place->after, place->count, node,
						fault_out);
	}
	if (command->kind != BACKEND_COMMAND_GRAPH && command->kind != BACKEND_COMMAND_NATIVE)
		return cuda_add_plain(graph, command, place, node, fault_out);
	cuda_series_refuse(graph);
	if (graph->place != CUDA_GRAPH_TOP)
		return cuda_fault_words(
			fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
			"the body of a condition can have neither graphs nor native commands");
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
 * Finds the nodes after which the driver runs this one, and returns their number. Leaves out nodes
 * that already come before another one of these. A program's queue names the previous node, and its
 * buffers name earlier ones. Each edge costs device time at each launch.
 */
static uint32_t cuda_gather_before(const struct backend_graph *graph, const uint32_t *after,
				   uint32_t count, struct cuda_graph_node *node,
				   CUgraphNode *before_out, uint32_t *only_out)
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
		return cuda_graph_invalid(fault_out, "a finished graph takes no more nodes");
	for (uint32_t i = 0; i < after_count; i++)
		if (after[i] >= graph->count || graph->nodes[after[i]].place != graph->place)
			return cuda_graph_invalid(fault_out,
						  "a node waits for a node that does not exist");
	int error = cuda_graph_uses(graph, command, &node.uses, fault_out);
	if (error < 0)
		return error;
	before = calloc(after_count + graph->temporary_count + 1, sizeof(CUgraphNode));
	if (!before)
		return cuda_no_memory(fault_out, "a graph");
	kept = cuda_gather_before(graph, after, after_count, &node, before, &only);
	const uint32_t before_count =
		kept + cuda_graph_allocations(graph, node.uses & ~node.has, before + kept);
	node.has |= node.uses;
	node.last_uses = node.uses;
	error = cuda_graph_reserve(&graph->nodes, &graph->capacity, graph->count, 1,
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
