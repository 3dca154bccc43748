/*
 * Conditions of graphs. A kernel sets one through its handle. The node of that handle runs its body
 * once, or as long as the value is not 0. No caller here requests a default. Without one, a
 * condition has no value in a launch until it is set.
 */
#include "fake_graph.h"

#include <stdlib.h>

struct condition {
	const struct CUgraph_st *graph; /* NULL: the graph was destroyed */
	uint32_t value;
	bool is_set, has_node;
};

/* Guarded by the lock. Handles count from 1, and none is used again. */
static struct condition *conditions;
static uint64_t condition_count;

static struct condition *find_condition(uint64_t handle)
{
	if (handle > 0 && handle <= condition_count && conditions[handle - 1].graph)
		return &conditions[handle - 1];
	fake_misuse("%llu is not the handle of a graph's condition", (unsigned long long)handle);
	return NULL;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle_out, CUgraph graph,
					CUcontext context, unsigned value, unsigned flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	(void)value;
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !fake_handle_alive(FAKE_CONTEXT, context) ||
	    flags)
		return flags ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
	struct condition *more = reallocarray(conditions, condition_count + 1, sizeof(*more));
	if (!more)
		return CUDA_ERROR_OUT_OF_MEMORY;
	conditions = more;
	conditions[condition_count++] = (struct condition){.graph = graph};
	*handle_out = condition_count;
	return CUDA_SUCCESS;
}

/* Only conditions are supported: the backend needs no other node here. */
CUresult cuGraphAddNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
			const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !parameters || edges ||
	    parameters->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
		return CUDA_ERROR_NOT_SUPPORTED;
	CUDA_CONDITIONAL_NODE_PARAMS *wanted = &parameters->conditional;
	struct condition *condition = find_condition(wanted->handle);
	if (!condition || condition->has_node || condition->graph != graph || wanted->size != 1 ||
	    wanted->type == CU_GRAPH_COND_TYPE_SWITCH ||
	    !fake_handle_alive(FAKE_CONTEXT, wanted->ctx))
		return CUDA_ERROR_INVALID_VALUE;
	const struct CUgraphNode_st node = {
		.kind = NODE_CONDITION,
		.condition = wanted->handle,
		.repeats = wanted->type == CU_GRAPH_COND_TYPE_WHILE,
		.body = fake_graph_make(),
	};
	CUresult result = node.body
				  ? fake_graph_node_add(node_out, graph, dependencies, count, &node)
				  : CUDA_ERROR_OUT_OF_MEMORY;
	if (result != CUDA_SUCCESS) {
		if (node.body)
			fake_graph_end(node.body);
		return result;
	}
	node.body->is_body = true;
	graph->has_condition = true;
	condition->has_node = true;
	wanted->phGraph_out = &(*node_out)->body;
	fake_number_add("conditions", 1);
	return CUDA_SUCCESS;
}

void fake_condition_set(uint64_t handle, uint32_t value)
{
	struct condition *condition = find_condition(handle);

	if (!condition)
		return;
	condition->value = value;
	condition->is_set = true;
}

static bool is_true(const struct CUgraphNode_st *node)
{
	fake_lock();
	const struct condition *condition = find_condition(node->condition);
	if (condition && !condition->is_set)
		fake_misuse("a condition is read, but no node of the launch has set it");
	bool result = condition && condition->value != 0 && !fake.sticky;
	fake_unlock();
	return result;
}

void fake_condition_run(struct CUgraphNode_st *node, struct CUstream_st *stream)
{
	while (is_true(node)) {
		fake_instance_run(&node->child, stream);
		if (!node->repeats)
			break;
	}
}

void fake_conditions_begin(const struct fake_instance *instance)
{
	for (unsigned i = 0; i < instance->count; i++) {
		const struct CUgraphNode_st *node = &instance->nodes[i];
		struct condition *condition =
			node->kind == NODE_CONDITION ? find_condition(node->condition) : NULL;
		if (condition)
			condition->is_set = false;
		fake_conditions_begin(&node->child);
	}
}

void fake_conditions_gone(const struct CUgraph_st *graph)
{
	for (uint64_t i = 0; i < condition_count; i++)
		if (conditions[i].graph == graph)
			conditions[i].graph = NULL;
}
