/* Nodes that copy, graphs in graphs, and changes of nodes. */
#include "fake_graph.h"

#include <stdlib.h>
#include <string.h>

CUresult cuGraphAddMemcpyNode(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
			      size_t count, const CUDA_MEMCPY3D *parameters, CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !fake_handle_alive(FAKE_CONTEXT, context) ||
	    !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_copy3d_check(parameters);
	if (result != CUDA_SUCCESS)
		return result;
	const struct CUgraphNode_st node = {.kind = NODE_COPY, .copy = *parameters};
	return fake_graph_node_add(node_out, graph, dependencies, count, &node);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node_out, CUgraph graph,
				  const CUgraphNode *dependencies, size_t count, CUgraph child)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !fake_handle_alive(FAKE_GRAPH, child) ||
	    child->capturing)
		return CUDA_ERROR_INVALID_VALUE;
	if (child->has_condition || child->is_body) {
		fake_misuse("a graph with conditions becomes the child of another graph");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	if (child->has_memory) {
		fake_misuse("a graph with nodes for memory becomes the child of another graph");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	struct CUgraphNode_st node = {.kind = NODE_CHILD};
	CUresult result = fake_graph_copy(child, &node.child);
	if (result != CUDA_SUCCESS)
		return result;
	result = fake_graph_node_add(node_out, graph, dependencies, count, &node);
	if (result != CUDA_SUCCESS)
		fake_instance_free(&node.child);
	return result;
}

/* Supports one edge between two kernels that lets the second begin early. The backend needs no
 * other. */
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				const CUgraphEdgeData *edge, size_t count)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || count != 1 || !edge ||
	    edge->type != CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
	    edge->from_port != CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC || edge->to_port != 0 ||
	    !fake_handle_alive(FAKE_GRAPH_NODE, *from) ||
	    !fake_handle_alive(FAKE_GRAPH_NODE, *to) || (*from)->graph != graph ||
	    (*to)->graph != graph || (*from)->index >= (*to)->index ||
	    (*from)->kind != NODE_KERNEL || (*to)->kind != NODE_KERNEL || (*to)->after_count > 0)
		return CUDA_ERROR_INVALID_VALUE;
	(*to)->after[(*to)->after_count++] = (*from)->index; /* there is room for one more */
	(*to)->overlaps = true;
	return CUDA_SUCCESS;
}

static bool is_needed(const struct CUgraphNode_st *node)
{
	for (unsigned i = node->index + 1; i < node->graph->count; i++)
		for (unsigned j = 0; j < node->graph->nodes[i]->after_count; j++)
			if (node->graph->nodes[i]->after[j] >= node->index)
				return true;
	return node->index + 1 != node->graph->count;
}

/* Supports only the attribute of the last node. The backend needs no other. */
CUresult cuGraphDestroyNode(CUgraphNode node)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH_NODE, node))
		return CUDA_ERROR_INVALID_VALUE;
	if (node->graph->has_memory) {
		fake_misuse("a node is removed from a graph with nodes for memory");
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	if (is_needed(node) || node->kind == NODE_CHILD || node->kind == NODE_CONDITION)
		return CUDA_ERROR_NOT_SUPPORTED;
	node->graph->count--;
	if (node->kind == NODE_KERNEL) {
		node->launch.function->named--;
		fake_launch_free(&node->launch);
	}
	free(node->after);
	fake_handle_retire(FAKE_GRAPH_NODE, node);
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; nodes && i < *count; i++)
		nodes[i] = i < graph->count ? graph->nodes[i] : NULL;
	if (!nodes || *count > graph->count)
		*count = graph->count;
	return CUDA_SUCCESS;
}

static CUgraphNode graph_node(CUgraphNode node, enum fake_node_kind kind)
{
	return fake_handle_alive(FAKE_GRAPH_NODE, node) && node->kind == kind ? node : NULL;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = graph_node(handle, NODE_KERNEL);
	struct fake_launch launch;
	if (!node || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_graph_kernel_of(parameters, &launch);
	if (result == CUDA_SUCCESS)
		fake_graph_relaunch(node, &launch);
	return result;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
				       const CUkernelNodeAttrValue *value)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = graph_node(handle, NODE_KERNEL);
	if (!node || !value)
		return CUDA_ERROR_INVALID_VALUE;
	struct fake_launch changed = node->launch;
	if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
		changed.cooperative = value->cooperative != 0;
	} else if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
		changed.cluster[0] = value->clusterDim.x;
		changed.cluster[1] = value->clusterDim.y;
		changed.cluster[2] = value->clusterDim.z;
	} else {
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	CUresult result = fake_launch_check(&changed);
	if (result == CUDA_SUCCESS)
		node->launch = changed;
	return result;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *parameters)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = graph_node(handle, NODE_COPY);
	if (!node || !parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_copy3d_check(parameters);
	if (result == CUDA_SUCCESS)
		node->copy = *parameters;
	return result;
}

static bool is_row(const CUDA_MEMCPY3D *copy)
{
	return copy->Height == 1 && copy->Depth == 1 &&
	       copy->srcMemoryType != CU_MEMORYTYPE_ARRAY &&
	       copy->dstMemoryType != CU_MEMORYTYPE_ARRAY;
}

/* Returns the device of an address, -1 for the host. */
static int graph_nodes_owner(CUmemorytype type, CUdeviceptr address)
{
	const struct fake_range *range =
		type == CU_MEMORYTYPE_HOST ? NULL : fake_range_find(address, 1);

	return !range || range->kind == FAKE_HOST || range->kind == FAKE_REGISTERED ? -1
										    : range->device;
}

/* As documented, only rows of the same kinds of memory as before. */
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode handle,
					const CUDA_MEMCPY3D *parameters, CUcontext context)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUgraphNode_st *node = fake_exec_node(exec, handle, NODE_COPY);
	if (!node || !parameters || !fake_handle_alive(FAKE_CONTEXT, context))
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_row(&node->copy) || !is_row(parameters) ||
	    graph_nodes_owner(node->copy.srcMemoryType, node->copy.srcDevice) !=
		    graph_nodes_owner(parameters->srcMemoryType, parameters->srcDevice) ||
	    graph_nodes_owner(node->copy.dstMemoryType, node->copy.dstDevice) !=
		    graph_nodes_owner(parameters->dstMemoryType, parameters->dstDevice))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_copy3d_check(parameters);
	if (result == CUDA_SUCCESS)
		node->copy = *parameters;
	return result;
}
