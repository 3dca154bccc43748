/*
 * Executable graphs: made, changed and launched. An executable graph has copies of its nodes. A
 * launch takes a copy of all of it, so later changes apply to later launches. Two launches of one
 * graph never overlap. Among the nodes that may run, the one that was added last runs first, so a
 * forgotten edge shows.
 */
#include "fake_code.h"
#include "fake_graph.h"

#include <stdlib.h>
#include <string.h>

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec_out, CUgraph graph, unsigned long long flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	(void)flags;
	if (!fake_handle_alive(FAKE_GRAPH, graph))
		return CUDA_ERROR_INVALID_VALUE;
	if (graph->capturing) {
		fake_misuse("a graph is instantiated while a stream captures into it");
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (graph->is_body) {
		fake_misuse("the body of a condition is instantiated");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	if (graph->executable) {
		fake_misuse("a graph with nodes for memory is instantiated twice");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	struct CUgraphExec_st *exec = calloc(1, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = fake_graph_copy(graph, &exec->instance);
	if (result != CUDA_SUCCESS) {
		free(exec);
		return result;
	}
	fake_instance_each_kernel(&exec->instance, fake_node_name);
	exec->graph = graph;
	exec->memory_of = graph->has_memory ? graph : NULL;
	if (exec->memory_of)
		graph->executable = exec;
	exec->device = fake_current()->device;
	fake_handle_add(FAKE_GRAPH_EXEC, exec);
	fake_number_add("graph_execs", 1);
	*exec_out = exec;
	return CUDA_SUCCESS;
}

struct CUgraphNode_st *fake_exec_node(CUgraphExec exec, CUgraphNode node, enum fake_node_kind kind)
{
	if (!fake_handle_alive(FAKE_GRAPH_EXEC, exec) || !fake_handle_alive(FAKE_GRAPH_NODE, node))
		return NULL;
	if (node->graph != exec->graph || node->index >= exec->instance.count ||
	    node->kind != kind) {
		fake_misuse("the node does not belong to this graph");
		return NULL;
	}
	return &exec->instance.nodes[node->index];
}

/* A node gets another launch. Its clusters, and whether it is cooperative, are attributes of the
 * node itself. */
void fake_graph_relaunch(struct CUgraphNode_st *node, const struct fake_launch *launch)
{
	const struct fake_launch before = node->launch;

	fake_node_unname(node);
	fake_launch_free(&node->launch);
	node->launch = *launch;
	node->launch.cooperative = before.cooperative;
	memcpy(node->launch.cluster, before.cluster, sizeof(before.cluster));
	fake_node_name(node);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode handle,
					const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = fake_exec_node(exec, handle, NODE_KERNEL);
	struct fake_launch launch;
	if (!node || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_graph_kernel_of(parameters, &launch);
	if (result != CUDA_SUCCESS)
		return result;
	if (launch.function->module->context != node->launch.function->module->context) {
		fake_misuse("a node's new function belongs to another context");
		fake_launch_free(&launch);
		return CUDA_ERROR_INVALID_VALUE;
	}
	fake_graph_relaunch(node, &launch);
	return CUDA_SUCCESS;
}

/* Kernels, fills and copies only. Launches that were sent before have copies of their nodes. */
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned enabled)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH_NODE, handle) ||
	    (handle->kind != NODE_KERNEL && handle->kind != NODE_MEMSET &&
	     handle->kind != NODE_COPY))
		return CUDA_ERROR_INVALID_VALUE;
	struct CUgraphNode_st *node = fake_exec_node(exec, handle, handle->kind);
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	if (!enabled && node->overlaps)
		fake_misuse("a node is disabled that may begin before its predecessor ends");
	node->is_disabled = !enabled;
	fake_number_add("graph_switches", 1);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode handle,
					const CUDA_MEMSET_NODE_PARAMS *parameters,
					CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = fake_exec_node(exec, handle, NODE_MEMSET);
	if (!node || !parameters || !fake_handle_alive(FAKE_CONTEXT, context))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_graph_memset_check(parameters);
	if (result == CUDA_SUCCESS)
		node->memset = *parameters;
	return result;
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode handle,
					    const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = fake_exec_node(exec, handle, NODE_VALUES);
	if (!node || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	return fake_graph_values_of(node, parameters);
}

struct graph_op {
	struct fake_op op;
	struct fake_instance instance;
	struct CUgraphExec_st *exec;
	int device;
};

/* A word that a node writes may show that it has ended before the whole launch has. */
static void kernel_ends(struct CUgraphNode_st *node)
{
	if (!node->is_over)
		node->launch.function->running--;
	node->is_over = true;
}

static void kernel_begins(struct CUgraphNode_st *node)
{
	node->is_over = false;
	node->launch.function->running++;
	fake_launch_loads(node->launch.function);
}

/* A GPU would start it before the kernel before it has written its results. The caller holds the
 * lock. */
static void expect_wait(const struct CUgraphNode_st *node)
{
	static const char wait[] = "griddepcontrol.wait";
	const struct fake_code *code = node->launch.function->code;
	const bool at_once = code && code->count > 0 &&
			     code->instructions[0].text_length == sizeof(wait) - 1 &&
			     memcmp(code->instructions[0].text, wait, sizeof(wait) - 1) == 0;

	fake_number_add(at_once ? "overlapped" : "overlapped early", 1);
	if (!fake_code_waits(code))
		fake_misuse(
			"%s may begin while the kernel before it ends, but does not wait for that kernel",
			node->launch.function->name);
}

static void node_run(struct CUgraphNode_st *node, struct CUstream_st *stream)
{
	if (node->is_disabled)
		return;
	switch (node->kind) {
	case NODE_KERNEL:
		fake_lock();
		if (node->overlaps)
			expect_wait(node);
		bool go = fake_gate_passes(node->launch.function->name);
		fake_unlock();
		if (go)
			fake_launch_run(&node->launch, stream);
		break;
	case NODE_MEMSET:
		fake_memset_now(node->memset.dst, node->memset.pitch, node->memset.value,
				node->memset.elementSize, node->memset.width, node->memset.height);
		break;
	case NODE_VALUES:
		for (unsigned i = 0; i < node->value_count; i++)
			fake_memset_now(node->values[i].writeValue.address, 0,
					node->values[i].writeValue.value, 4, 1, 1);
		break;
	case NODE_COPY:
		fake_copy3d_now(&node->copy);
		break;
	case NODE_CHILD:
		fake_instance_run(&node->child, stream);
		break;
	case NODE_CONDITION:
		fake_condition_run(node, stream);
		break;
	case NODE_ALLOCATION:
	case NODE_FREE:
		fake_lock();
		fake_graph_memory_run(node);
		fake_unlock();
		break;
	case NODE_EMPTY:
		break;
	}
}

static bool may_run(const struct fake_instance *instance, const struct CUgraphNode_st *node)
{
	for (unsigned i = 0; i < node->after_count; i++)
		if (!instance->nodes[node->after[i]].has_run)
			return false;
	return !node->has_run;
}

static struct CUgraphNode_st *graph_launch_next_node(struct fake_instance *instance)
{
	for (unsigned i = instance->count; i > 0; i--)
		if (may_run(instance, &instance->nodes[i - 1]))
			return &instance->nodes[i - 1];
	return NULL;
}

void fake_instance_run(struct fake_instance *instance, struct CUstream_st *stream)
{
	for (unsigned i = 0; i < instance->count; i++)
		instance->nodes[i].has_run = false;
	for (struct CUgraphNode_st *node = graph_launch_next_node(instance); node && !fake.sticky;
	     node = graph_launch_next_node(instance)) {
		fake_lock();
		fake_dawdle(stream);
		fake_unlock();
		node_run(node, stream);
		fake_lock();
		if (node->kind == NODE_KERNEL)
			kernel_ends(node);
		node->has_run = true;
		fake_unlock();
	}
}

static void graph_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct graph_op *op = (struct graph_op *)base;

	fake_lock();
	while (op->exec->running && !fake.sticky)
		fake_wait_changed();
	op->exec->running++;
	fake_graph_memory_begin(&op->instance, stream->device);
	fake_conditions_begin(&op->instance);
	fake_unlock();
	fake_instance_run(&op->instance, stream);
	fake_lock();
	op->exec->running--;
	fake_graph_memory_end(&op->instance, stream->device);
	fake_unlock();
}

static void graph_drop(struct fake_op *base)
{
	struct graph_op *op = (struct graph_op *)base;

	fake_instance_each_kernel(&op->instance, kernel_ends);
	fake_graph_memory_drop(&op->instance, op->device);
	fake_instance_free(&op->instance);
}

static bool is_in_order(const struct CUgraphNode_st *node, unsigned index)
{
	for (unsigned i = 0; i < node->after_count; i++)
		if (node->after[i] >= index)
			return false;
	return true;
}

static bool runs_at_once(const struct fake_instance *instance)
{
	for (unsigned i = 0; i < instance->count; i++) {
		const enum fake_node_kind kind = instance->nodes[i].kind;
		if ((kind != NODE_KERNEL && kind != NODE_MEMSET && kind != NODE_VALUES &&
		     kind != NODE_COPY && kind != NODE_EMPTY) ||
		    !is_in_order(&instance->nodes[i], i))
			return false;
	}
	return true;
}

/*
 * With `set instant` kernels are not run, so nothing needs a copy. Returns false if the graph has
 * nodes of other kinds, or edges against the order in which nodes were added.
 */
static bool graph_launch_run_at_once(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	struct fake_instance *instance = &exec->instance;

	if (!fake_stream_is_instant(stream) || exec->running || !runs_at_once(instance))
		return false;
	exec->running++;
	stream->submitted++;
	stream->running = true;
	for (unsigned i = 0; i < instance->count; i++)
		if (instance->nodes[i].kind == NODE_KERNEL)
			fake_launch_instant_node(&instance->nodes[i].launch);
	fake_unlock();
	for (unsigned i = 0; i < instance->count; i++)
		if (instance->nodes[i].kind != NODE_KERNEL)
			node_run(&instance->nodes[i], stream);
	fake_lock();
	stream->running = false;
	stream->completed++;
	exec->running--;
	(void)pthread_cond_broadcast(&fake.changed);
	(void)pthread_cond_signal(&stream->work);
	return true;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	fake_launch_hold();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream || !fake_handle_alive(FAKE_GRAPH_EXEC, exec))
		return CUDA_ERROR_INVALID_HANDLE;
	if (graph_launch_run_at_once(exec, stream))
		return CUDA_SUCCESS;
	struct graph_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = fake_instance_copy(&exec->instance, &op->instance);
	if (result == CUDA_SUCCESS)
		result = fake_graph_memory_launch(&op->instance, stream->device, &exec->unfreed);
	if (result != CUDA_SUCCESS) {
		fake_instance_free(&op->instance);
		free(op);
		return result;
	}
	op->device = stream->device;
	fake_instance_each_kernel(&op->instance, kernel_begins);
	op->op.kernel = op->instance.count > 0;
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
	return fake_graph_memory_reserve(&exec->instance, exec->device);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!exec || !fake_handle_alive(FAKE_GRAPH_EXEC, exec))
		return CUDA_ERROR_INVALID_HANDLE;
	fake_instance_each_kernel(&exec->instance, fake_node_unname);
	fake_instance_free(&exec->instance);
	if (exec->memory_of)
		exec->memory_of->executable = NULL;
	fake_handle_retire(FAKE_GRAPH_EXEC, exec);
	fake_number_add("graph_execs", -1);
	return CUDA_SUCCESS;
}
