/*
 * Graphs. An executable graph holds copies of its nodes, in an order that their dependencies allow; a launch takes a copy
 * of all of it, so later changes touch later launches. Two launches of one graph never overlap.
 */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

enum node_kind { NODE_EMPTY, NODE_KERNEL, NODE_MEMSET, NODE_VALUES };

struct CUgraphNode_st {
	struct CUgraph_st *graph;
	enum node_kind kind;
	unsigned index;
	struct fake_launch launch;
	CUDA_MEMSET_NODE_PARAMS memset;
	unsigned value_count;
	CUstreamBatchMemOpParams values[8];
};

struct CUgraph_st {
	struct CUgraphNode_st **nodes;
	unsigned count;
};

/* One launch or instance's nodes; nodes of the graph stay the names of these. */
struct instance {
	struct CUgraphNode_st *nodes;
	unsigned count;
};

struct CUgraphExec_st {
	struct CUgraph_st *graph;
	struct instance instance;
	int device;
	unsigned running;
	bool uploaded;
};

static void instance_free(struct instance *instance)
{
	for (unsigned i = 0; i < instance->count; i++)
		if (instance->nodes[i].kind == NODE_KERNEL)
			fake_launch_free(&instance->nodes[i].launch);
	free(instance->nodes);
}

/* What a graph or an executable one names: the driver looks at it again when the node is changed or goes. */
static void name(const struct CUgraphNode_st *node)
{
	if (node->kind == NODE_KERNEL)
		node->launch.function->named++;
}

static void unname(const struct CUgraphNode_st *node)
{
	if (node->kind == NODE_KERNEL)
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

static CUresult instance_copy(const struct CUgraphNode_st *const *nodes, unsigned count, struct instance *copy_out)
{
	struct instance copy = {.nodes = calloc(count ? count : 1, sizeof(*copy.nodes))};

	if (!copy.nodes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (; copy.count < count; copy.count++) {
		copy.nodes[copy.count] = *nodes[copy.count];
		if (nodes[copy.count]->kind == NODE_KERNEL &&
		    launch_duplicate(&nodes[copy.count]->launch, &copy.nodes[copy.count].launch) != CUDA_SUCCESS) {
			instance_free(&copy);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
	}
	*copy_out = copy;
	return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *graph_out, unsigned flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraph_st *graph = calloc(1, sizeof(*graph));
	if (!graph || flags) {
		free(graph);
		return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
	}
	fake_handle_add(FAKE_GRAPH, graph);
	fake_number_add("graphs", 1);
	*graph_out = graph;
	return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!graph || !fake_handle_alive(FAKE_GRAPH, graph))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < graph->count; i++) {
		unname(graph->nodes[i]);
		if (graph->nodes[i]->kind == NODE_KERNEL)
			fake_launch_free(&graph->nodes[i]->launch);
		fake_handle_retire(FAKE_GRAPH_NODE, graph->nodes[i]);
	}
	free(graph->nodes);
	graph->nodes = NULL;
	fake_handle_retire(FAKE_GRAPH, graph);
	fake_number_add("graphs", -1);
	return CUDA_SUCCESS;
}

/* Dependencies are older nodes, so the order of making is an order of running. */
static CUresult node_add(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
			 struct CUgraphNode_st *node)
{
	struct CUgraphNode_st **nodes = reallocarray(graph->nodes, graph->count + 1, sizeof(*nodes));

	if (nodes)
		graph->nodes = nodes;
	for (size_t i = 0; i < count; i++)
		if (!fake_handle_alive(FAKE_GRAPH_NODE, dependencies[i]) || dependencies[i]->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
	if (!nodes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->graph = graph;
	node->index = graph->count;
	nodes[graph->count++] = node;
	fake_handle_add(FAKE_GRAPH_NODE, node);
	name(node);
	*node_out = node;
	return CUDA_SUCCESS;
}

static CUresult kernel_of(const CUDA_KERNEL_NODE_PARAMS *parameters, struct fake_launch *launch_out)
{
	const unsigned grid[3] = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
	const unsigned block[3] = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
	struct fake_launch launch;

	if (!parameters->func || !fake_handle_alive(FAKE_FUNCTION, parameters->func))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_launch_copy(parameters->func, grid, block, parameters->sharedMemBytes,
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

CUresult cuGraphAddKernelNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
			      const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->kind = NODE_KERNEL;
	CUresult result = kernel_of(parameters, &node->launch);
	if (result == CUDA_SUCCESS) {
		result = node_add(node_out, graph, dependencies, count, node);
		if (result != CUDA_SUCCESS)
			fake_launch_free(&node->launch);
	}
	if (result != CUDA_SUCCESS)
		free(node);
	return result;
}

/* The real one refuses memory of a pool here. */
static CUresult memset_of(const CUDA_MEMSET_NODE_PARAMS *parameters)
{
	const struct fake_range *range = fake_range_find(parameters->dst, 1);
	unsigned element = parameters->elementSize;

	if ((element != 1 && element != 2 && element != 4) || !parameters->width || !parameters->height)
		return CUDA_ERROR_INVALID_VALUE;
	if (range && range->kind == FAKE_POOL) {
		fake_misuse("a memset node on memory of a pool");
		return CUDA_ERROR_INVALID_VALUE;
	}
	return fake_memset_check(parameters->dst,
				 (parameters->height - 1) * parameters->pitch + parameters->width * element, element);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
			      const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !fake_handle_alive(FAKE_CONTEXT, context) || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = memset_of(parameters);
	if (result != CUDA_SUCCESS)
		return result;
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->kind = NODE_MEMSET;
	node->memset = *parameters;
	result = node_add(node_out, graph, dependencies, count, node);
	if (result != CUDA_SUCCESS)
		free(node);
	return result;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph))
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = node_add(node_out, graph, dependencies, count, node);
	if (result != CUDA_SUCCESS)
		free(node);
	return result;
}

static CUresult values_of(struct CUgraphNode_st *node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
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

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
				  const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = values_of(node, parameters);
	if (result == CUDA_SUCCESS)
		result = node_add(node_out, graph, dependencies, count, node);
	if (result != CUDA_SUCCESS)
		free(node);
	return result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec_out, CUgraph graph, unsigned long long flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	(void)flags;
	if (!fake_handle_alive(FAKE_GRAPH, graph))
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraphExec_st *exec = calloc(1, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = instance_copy((const struct CUgraphNode_st *const *)graph->nodes, graph->count,
					&exec->instance);
	if (result != CUDA_SUCCESS) {
		free(exec);
		return result;
	}
	for (unsigned i = 0; i < exec->instance.count; i++)
		name(&exec->instance.nodes[i]);
	exec->graph = graph;
	exec->device = fake_current()->device;
	fake_handle_add(FAKE_GRAPH_EXEC, exec);
	fake_number_add("graph_execs", 1);
	*exec_out = exec;
	return CUDA_SUCCESS;
}

static struct CUgraphNode_st *exec_node(CUgraphExec exec, CUgraphNode node, enum node_kind kind)
{
	if (!fake_handle_alive(FAKE_GRAPH_EXEC, exec) || !fake_handle_alive(FAKE_GRAPH_NODE, node))
		return NULL;
	if (node->graph != exec->graph || node->index >= exec->instance.count || node->kind != kind) {
		fake_misuse("a node that is not this graph's");
		return NULL;
	}
	return &exec->instance.nodes[node->index];
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = exec_node(exec, handle, NODE_KERNEL);
	struct fake_launch launch;
	if (!node || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = kernel_of(parameters, &launch);
	if (result != CUDA_SUCCESS)
		return result;
	if (launch.function->module->context != node->launch.function->module->context) {
		fake_misuse("a node's function may not change its context");
		fake_launch_free(&launch);
		return CUDA_ERROR_INVALID_VALUE;
	}
	unname(node);
	fake_launch_free(&node->launch);
	node->launch = launch;
	name(node);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *parameters,
					CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = exec_node(exec, handle, NODE_MEMSET);
	if (!node || !parameters || !fake_handle_alive(FAKE_CONTEXT, context))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = memset_of(parameters);
	if (result == CUDA_SUCCESS)
		node->memset = *parameters;
	return result;
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode handle,
					    const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = exec_node(exec, handle, NODE_VALUES);
	if (!node || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	return values_of(node, parameters);
}

struct graph_op {
	struct fake_op op;
	struct instance instance;
	unsigned ran; /* nodes that are over: the host may know by their words, before the launch as a whole is */
	struct CUgraphExec_st *exec;
};

static void node_run(const struct CUgraphNode_st *node, struct CUstream_st *stream)
{
	switch (node->kind) {
	case NODE_KERNEL:
		fake_lock();
		bool go = fake_gate_passes(node->launch.function->name);
		fake_unlock();
		if (go)
			fake_launch_run(&node->launch, stream);
		break;
	case NODE_MEMSET:
		fake_memset_now(node->memset.dst, node->memset.pitch, node->memset.value, node->memset.elementSize,
				node->memset.width, node->memset.height);
		break;
	case NODE_VALUES:
		for (unsigned i = 0; i < node->value_count; i++)
			fake_memset_now(node->values[i].writeValue.address, 0, node->values[i].writeValue.value, 4, 1, 1);
		break;
	case NODE_EMPTY:
		break;
	}
}

static void graph_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct graph_op *op = (struct graph_op *)base;

	fake_lock();
	while (op->exec->running && !fake.sticky)
		fake_wait_changed();
	op->exec->running++;
	fake_unlock();
	for (unsigned i = 0; i < op->instance.count && !fake.sticky; i++) {
		fake_lock();
		fake_dawdle(stream);
		fake_unlock();
		node_run(&op->instance.nodes[i], stream);
		fake_lock();
		if (op->instance.nodes[i].kind == NODE_KERNEL)
			op->instance.nodes[i].launch.function->running--;
		op->ran = i + 1;
		fake_unlock();
	}
	fake_lock();
	op->exec->running--;
	fake_unlock();
}

static void graph_drop(struct fake_op *base)
{
	struct graph_op *op = (struct graph_op *)base;

	for (unsigned i = op->ran; i < op->instance.count; i++)
		if (op->instance.nodes[i].kind == NODE_KERNEL)
			op->instance.nodes[i].launch.function->running--;
	instance_free(&op->instance);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	fake_launch_hold();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream || !fake_handle_alive(FAKE_GRAPH_EXEC, exec))
		return CUDA_ERROR_INVALID_HANDLE;
	const struct CUgraphNode_st **nodes = calloc(exec->instance.count + 1, sizeof(*nodes));
	struct graph_op *op = calloc(1, sizeof(*op));
	CUresult result = nodes && op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	for (unsigned i = 0; nodes && i < exec->instance.count; i++)
		nodes[i] = &exec->instance.nodes[i];
	if (result == CUDA_SUCCESS)
		result = instance_copy(nodes, exec->instance.count, &op->instance);
	free(nodes);
	if (result != CUDA_SUCCESS) {
		free(op);
		return result;
	}
	for (unsigned i = 0; i < op->instance.count; i++) {
		if (op->instance.nodes[i].kind != NODE_KERNEL)
			continue;
		struct CUfunc_st *function = op->instance.nodes[i].launch.function;
		op->op.kernel = true;
		function->running++;
		fake_launch_loads(function);
	}
	op->exec = exec;
	op->op.name = "graph";
	op->op.run = graph_run;
	op->op.drop = graph_drop;
	fake_number_add("graph_launches", 1);
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_stream_use(handle) || !fake_handle_alive(FAKE_GRAPH_EXEC, exec))
		return CUDA_ERROR_INVALID_HANDLE;
	exec->uploaded = true;
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!exec || !fake_handle_alive(FAKE_GRAPH_EXEC, exec))
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < exec->instance.count; i++)
		unname(&exec->instance.nodes[i]);
	instance_free(&exec->instance);
	exec->instance = (struct instance){0};
	fake_handle_retire(FAKE_GRAPH_EXEC, exec);
	fake_number_add("graph_execs", -1);
	return CUDA_SUCCESS;
}
