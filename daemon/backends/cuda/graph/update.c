/* Changes of a finished graph (L13). Running launches keep their parameters. The graph itself is
 * changed too, for later uses as a child. */
#include "cuda/graph/graph.h"
#include "cuda/lane/chain.h"
#include "status.h"

#include <errno.h>
#include <string.h>

static int refuse_update(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED, "%s", what);
}

static int update_kernel(struct backend_graph *graph, const struct cuda_graph_node *node,
			 const struct cuda_plan *plan, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	const CUDA_KERNEL_NODE_PARAMS kernel = cuda_launch_node(&plan->launch);

	if (node->cooperative != plan->launch.cooperative ||
	    memcmp(node->cluster, plan->launch.cluster, sizeof(node->cluster)) != 0)
		return refuse_update(
			fault_out,
			"an update cannot make a node cooperative or not, or change its clusters");
	CUresult result =
		cu->cuGraphExecKernelNodeSetParams(graph->executable, node->node, &kernel);
	if (result != CUDA_SUCCESS)
		return cuda_fault(graph->device, cu, result, fault_out, "cannot change a node");
	if (cu->cuGraphKernelNodeSetParams(node->node, &kernel) != CUDA_SUCCESS)
		graph->differs = true;
	cuda_series_update(graph, (uint32_t)(node - graph->nodes), plan);
	return 0;
}

/* Skips the same nodes again in a new executable of the graph. */
static int graph_update_skip_same(const struct backend_graph *graph, CUgraphExec executable,
				  struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	CUresult result = CUDA_SUCCESS;

	for (uint32_t i = 0; result == CUDA_SUCCESS && i < graph->count; i++)
		if (graph->nodes[i].is_skipped && graph->nodes[i].form != CUDA_FORM_EMPTY)
			result = cu->cuGraphNodeSetEnabled(executable, graph->nodes[i].node, 0);
	return result == CUDA_SUCCESS
		       ? 0
		       : cuda_fault(graph->device, cu, result, fault_out, "cannot skip a node");
}

/*
 * Skips a node, or stops skipping it (R3). A node that begins while its predecessor ends relies on
 * the predecessor's wait. So a graph is rebuilt if that predecessor is skipped. A skipped node
 * would run if this graph became a child of others.
 */
static int skip_node(struct backend_graph *graph, struct cuda_graph_node *node, bool skips,
		     struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &graph->device->backend->library;
	CUresult result = CUDA_SUCCESS;

	if (node->is_skipped == skips)
		return 0;
	if (!cu->cuGraphNodeSetEnabled || node->overlaps || node->form == CUDA_FORM_CHILD ||
	    node->form == CUDA_FORM_HINT)
		return refuse_update(fault_out, "this node cannot be skipped in place");
	if (node->form != CUDA_FORM_EMPTY)
		result = cu->cuGraphNodeSetEnabled(graph->executable, node->node, !skips);
	if (result != CUDA_SUCCESS)
		return cuda_fault(graph->device, cu, result, fault_out, "cannot skip a node");
	node->is_skipped = skips;
	graph->differs = true;
	cuda_series_skip(graph, (uint32_t)(node - graph->nodes), skips);
	return 0;
}

/* The driver changes a copy in place only if it is of one row. Otherwise the executable is made
 * again. */
static int update_copy(struct backend_graph *graph, struct cuda_graph_node *node,
		       const struct cuda_plan *plan, struct backend_fault *fault_out)
{
	struct backend_device *device = graph->device;
	const struct cuda_library *cu = &device->backend->library;
	CUgraphExec executable = NULL;

	CUresult result = cu->cuGraphMemcpyNodeSetParams(node->node, &plan->copy);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot change a node");
	result = cu->cuGraphExecMemcpyNodeSetParams(graph->executable, node->node, &plan->copy,
						    device->context);
	/* A graph with memory cannot be instantiated a second time. */
	if (result != CUDA_SUCCESS && graph->temporary_count > 0) {
		(void)cu->cuGraphMemcpyNodeSetParams(node->node, &node->copy);
		return refuse_update(fault_out, "this copy cannot be changed in place");
	}
	if (result != CUDA_SUCCESS) {
		int error = cuda_graph_instantiate(graph, &executable, fault_out);
		if (error == 0)
			error = graph_update_skip_same(graph, executable, fault_out);
		if (error < 0) {
			if (executable)
				(void)cu->cuGraphExecDestroy(executable);
			graph->differs |= cu->cuGraphMemcpyNodeSetParams(node->node, &node->copy) !=
					  CUDA_SUCCESS;
			return error;
		}
		(void)cu->cuGraphExecDestroy(graph->executable);
		graph->executable = executable;
	}
	node->copy = plan->copy;
	return 0;
}

int cuda_graph_update(struct backend_graph *graph, uint32_t index,
		      const struct backend_command *command, struct backend_fault *fault_out)
{
	struct cuda_plan plan = {.form = CUDA_FORM_EMPTY};

	if (!graph->executable || !graph->updatable || index >= graph->count)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"there is no such node that can be changed");
	struct cuda_graph_node *node = &graph->nodes[index];
	if (command->kind == BACKEND_COMMAND_NOP && node->kind != BACKEND_COMMAND_NOP) {
		int entered = cuda_enter(graph->device, fault_out);
		return entered < 0 ? entered : skip_node(graph, node, true, fault_out);
	}
	if (command->kind != node->kind ||
	    (command->kind == BACKEND_COMMAND_LAUNCH && command->launch.kernel != node->kernel))
		return refuse_update(fault_out, "an update cannot change a node's kind or kernel");
	if (node->form == CUDA_FORM_CHILD)
		return refuse_update(fault_out,
				     "a graph in a graph, or a native command, cannot be changed");
	/* The waits would outlive the node that named them, and their memory may be freed with that
	 * node. A rebuilt graph does not have them. */
	if (graph->unsettled_count > 0)
		return refuse_update(fault_out,
				     "a graph that waits for new memory cannot be changed");
	uint64_t uses = 0;
	int error = cuda_graph_uses(graph, command, &uses, fault_out);
	if (error == 0 && uses != node->uses)
		error = refuse_update(
			fault_out,
			"an update cannot change which memories of the graph a node uses");
	if (error == 0)
		error = cuda_enter(graph->device, fault_out);
	if (error == 0)
		error = cuda_plan_make(graph->device, command, &plan, fault_out);
	if (error == 0 && plan.form != node->form)
		error = refuse_update(fault_out,
				      "an update cannot change whether a node has bytes");
	if (error == 0)
		error = cuda_graph_note(graph, command, fault_out);
	if (error == 0)
		error = skip_node(graph, node, false, fault_out);
	if (error == 0 && plan.form == CUDA_FORM_KERNEL)
		error = update_kernel(graph, node, &plan, fault_out);
	else if (error == 0 && plan.form == CUDA_FORM_COPY)
		error = update_copy(graph, node, &plan, fault_out);
	else if (error == 0 && plan.form == CUDA_FORM_HINT)
		node->hint = *command;
	return error;
}
