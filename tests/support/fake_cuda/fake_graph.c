/* Graphs: their nodes, and copies of these. */
#include "fake_code.h"
#include "fake_graph.h"

#include <stdlib.h>
#include <string.h>

static void cuda_graph_node_clear(struct CUgraphNode_st *node)
{
	if (node->kind == NODE_KERNEL)
		fake_launch_free(&node->launch);
	fake_instance_free(&node->child);
	free(node->after);
	node->after = NULL;
	node->after_count = 0;
}

void fake_instance_free(struct fake_instance *instance)
{
	for (unsigned i = 0; i < instance->count; i++)
		cuda_graph_node_clear(&instance->nodes[i]);
	free(instance->nodes);
	*instance = (struct fake_instance){0};
}

static void fake_node_each_kernel(struct CUgraphNode_st *node,
				  void (*act)(struct CUgraphNode_st *node))
{
	if (node->kind == NODE_KERNEL)
		act(node);
	for (unsigned i = 0; i < node->child.count; i++)
		fake_node_each_kernel(&node->child.nodes[i], act);
}

void fake_instance_each_kernel(struct fake_instance *instance,
			       void (*act)(struct CUgraphNode_st *node))
{
	for (unsigned i = 0; i < instance->count; i++)
		fake_node_each_kernel(&instance->nodes[i], act);
}

void fake_node_name(struct CUgraphNode_st *node)
{
	node->launch.function->named++;
}

void fake_node_unname(struct CUgraphNode_st *node)
{
	node->launch.function->named--;
}

static CUresult launch_duplicate(const struct fake_launch *from, struct fake_launch *to)
{
	size_t bytes = from->function->parameter_bytes ? from->function->parameter_bytes : 1;

	*to = *from;
	to->bytes = malloc(bytes);
	if (!to->bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(to->bytes, from->bytes, bytes);
	return CUDA_SUCCESS;
}

static CUresult cuda_graph_node_copy(const struct CUgraphNode_st *from, struct CUgraphNode_st *to)
{
	CUresult result = CUDA_SUCCESS;

	*to = *from;
	to->child = (struct fake_instance){0};
	to->body = NULL;
	to->launch.bytes = NULL;
	to->after = malloc((from->after_count + 1) * sizeof(*to->after));
	if (!to->after) {
		to->kind = NODE_EMPTY;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (from->after_count)
		memcpy(to->after, from->after, from->after_count * sizeof(*to->after));
	if (from->kind == NODE_KERNEL)
		result = launch_duplicate(&from->launch, &to->launch);
	if (result == CUDA_SUCCESS && from->body)
		result = fake_graph_copy(from->body, &to->child);
	else if (result == CUDA_SUCCESS &&
		 (from->kind == NODE_CHILD || from->kind == NODE_CONDITION))
		result = fake_instance_copy(&from->child, &to->child);
	return result;
}

CUresult fake_instance_copy(const struct fake_instance *from, struct fake_instance *copy_out)
{
	struct fake_instance copy = {
		.nodes = calloc(from->count ? from->count : 1, sizeof(*copy.nodes))};

	if (!copy.nodes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	while (copy.count < from->count) {
		CUresult result =
			cuda_graph_node_copy(&from->nodes[copy.count], &copy.nodes[copy.count]);
		copy.count++;
		if (result != CUDA_SUCCESS) {
			fake_instance_free(&copy);
			return result;
		}
	}
	*copy_out = copy;
	return CUDA_SUCCESS;
}

/* Copies the nodes of a graph for an instance. */
CUresult fake_graph_copy(const struct CUgraph_st *graph, struct fake_instance *copy_out)
{
	struct fake_instance flat = {
		.nodes = calloc(graph->count ? graph->count : 1, sizeof(*flat.nodes)),
		.count = graph->count};

	if (!flat.nodes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (unsigned i = 0; i < graph->count; i++)
		flat.nodes[i] = *graph->nodes[i];
	CUresult result = fake_instance_copy(&flat, copy_out);
	free(flat.nodes);
	return result;
}

struct CUgraph_st *fake_graph_make(void)
{
	struct CUgraph_st *graph = calloc(1, sizeof(*graph));

	if (graph)
		fake_handle_add(FAKE_GRAPH, graph);
	return graph;
}

CUresult cuGraphCreate(CUgraph *graph_out, unsigned flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraph_st *graph = fake_graph_make();
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	fake_number_add("graphs", 1);
	*graph_out = graph;
	return CUDA_SUCCESS;
}

void fake_graph_end(struct CUgraph_st *graph)
{
	fake_conditions_gone(graph);
	for (unsigned i = 0; i < graph->count; i++) {
		if (graph->nodes[i]->body)
			fake_graph_end(graph->nodes[i]->body);
		fake_node_each_kernel(graph->nodes[i], fake_node_unname);
		cuda_graph_node_clear(graph->nodes[i]);
		fake_handle_retire(FAKE_GRAPH_NODE, graph->nodes[i]);
	}
	free(graph->nodes);
	graph->nodes = NULL;
	graph->count = 0;
	fake_handle_retire(FAKE_GRAPH, graph);
}

CUresult cuGraphDestroy(CUgraph graph)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!graph || !fake_handle_alive(FAKE_GRAPH, graph))
		return CUDA_ERROR_INVALID_HANDLE;
	if (graph->capturing) {
		fake_misuse("a graph is destroyed while a stream captures into it");
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (graph->is_body) {
		fake_misuse("the body of a condition is destroyed");
		return CUDA_ERROR_INVALID_VALUE;
	}
	fake_graph_memory_gone(graph);
	if (graph->executable)
		graph->executable->memory_of = NULL;
	fake_graph_end(graph);
	fake_number_add("graphs", -1);
	return CUDA_SUCCESS;
}

CUresult fake_graph_node_add(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
			     size_t count, const struct CUgraphNode_st *made)
{
	if (graph->is_body && (made->kind == NODE_VALUES || made->kind == NODE_ALLOCATION ||
			       made->kind == NODE_FREE)) {
		fake_misuse("a node of this kind cannot be in the body of a condition");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	for (size_t i = 0; i < count; i++) {
		if (!fake_handle_alive(FAKE_GRAPH_NODE, dependencies[i]) ||
		    dependencies[i]->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
		for (size_t j = 0; j < i; j++)
			if (dependencies[j] == dependencies[i])
				return CUDA_ERROR_INVALID_VALUE; /* this edge exists already */
	}
	struct CUgraphNode_st **nodes =
		reallocarray(graph->nodes, graph->count + 1, sizeof(*nodes));
	if (nodes)
		graph->nodes = nodes;
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));
	unsigned *after = calloc(count + 1, sizeof(*after));
	if (!nodes || !node || !after) {
		free(node);
		free(after);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*node = *made;
	for (size_t i = 0; i < count; i++)
		after[i] = dependencies[i]->index;
	node->after = after;
	node->after_count = (unsigned)count;
	node->graph = graph;
	node->index = graph->count;
	nodes[graph->count++] = node;
	fake_handle_add(FAKE_GRAPH_NODE, node);
	fake_node_each_kernel(node, fake_node_name);
	*node_out = node;
	return CUDA_SUCCESS;
}

CUresult fake_graph_kernel_of(const CUDA_KERNEL_NODE_PARAMS *parameters,
			      struct fake_launch *launch_out)
{
	const unsigned grid[3] = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
	const unsigned block[3] = {parameters->blockDimX, parameters->blockDimY,
				   parameters->blockDimZ};
	struct fake_launch launch;

	if (!parameters->func || !fake_handle_alive(FAKE_FUNCTION, parameters->func))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result =
		fake_launch_copy(parameters->func, grid, block, parameters->sharedMemBytes,
				 parameters->kernelParams, parameters->extra, &launch);
	if (result != CUDA_SUCCESS)
		return result;
	result = fake_launch_check(&launch);
	if (result != CUDA_SUCCESS)
		fake_launch_free(&launch);
	else
		*launch_out = launch;
	return result;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
			      size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraphNode_st node = {.kind = NODE_KERNEL};
	CUresult result = fake_graph_kernel_of(parameters, &node.launch);
	if (result != CUDA_SUCCESS)
		return result;
	result = fake_graph_node_add(node_out, graph, dependencies, count, &node);
	if (result != CUDA_SUCCESS)
		fake_launch_free(&node.launch);
	return result;
}

CUresult fake_graph_memset_check(const CUDA_MEMSET_NODE_PARAMS *parameters)
{
	const struct fake_range *range = fake_range_find(parameters->dst, 1);
	unsigned element = parameters->elementSize;

	if ((element != 1 && element != 2 && element != 4) || !parameters->width ||
	    !parameters->height)
		return CUDA_ERROR_INVALID_VALUE;
	if (range && range->kind == FAKE_POOL) {
		fake_misuse("a memset node may not write to memory of a pool");
		return CUDA_ERROR_INVALID_VALUE;
	}
	return fake_memset_check(parameters->dst,
				 (parameters->height - 1) * parameters->pitch +
					 parameters->width * element,
				 element);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
			      size_t count, const CUDA_MEMSET_NODE_PARAMS *parameters,
			      CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !fake_handle_alive(FAKE_CONTEXT, context) ||
	    !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_graph_memset_check(parameters);
	if (result != CUDA_SUCCESS)
		return result;
	const struct CUgraphNode_st node = {.kind = NODE_MEMSET, .memset = *parameters};
	return fake_graph_node_add(node_out, graph, dependencies, count, &node);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
			     size_t count)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph))
		return CUDA_ERROR_INVALID_VALUE;
	const struct CUgraphNode_st node = {.kind = NODE_EMPTY};
	return fake_graph_node_add(node_out, graph, dependencies, count, &node);
}

CUresult fake_graph_values_of(struct CUgraphNode_st *node,
			      const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
	if (parameters->count > 8 || parameters->flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < parameters->count; i++) {
		const CUstreamBatchMemOpParams *one = &parameters->paramArray[i];
		if (one->operation != CU_STREAM_MEM_OP_WRITE_VALUE_32)
			return CUDA_ERROR_NOT_SUPPORTED;
		if (fake_memset_check(one->writeValue.address, 4, 4) != CUDA_SUCCESS)
			return CUDA_ERROR_INVALID_VALUE;
	}
	node->kind = NODE_VALUES;
	node->value_count = parameters->count;
	memcpy(node->values, parameters->paramArray, parameters->count * sizeof(node->values[0]));
	return CUDA_SUCCESS;
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node_out, CUgraph graph,
				  const CUgraphNode *dependencies, size_t count,
				  const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraphNode_st node = {.kind = NODE_EMPTY};
	CUresult result = fake_graph_values_of(&node, parameters);
	return result == CUDA_SUCCESS
		       ? fake_graph_node_add(node_out, graph, dependencies, count, &node)
		       : result;
}
