/*
 * Memory of graphs. An allocation node keeps its address for good. There is memory behind it while
 * a launch is between it and its free node. The device keeps as much memory for graphs as those
 * that ran at one time needed, until it is trimmed.
 */
#include "fake_graph.h"

/* Guarded by the lock. */
static struct {
	size_t reserved, reserved_high, running, running_high;
	unsigned pending; /* launches that have memory and are not complete */
} kept[FAKE_DEVICES_MAX];

static void graph_memory_reserve(int device, size_t bytes)
{
	fake.devices[device].used_bytes =
		fake.devices[device].used_bytes - kept[device].reserved + bytes;
	kept[device].reserved = bytes;
	if (bytes > kept[device].reserved_high)
		kept[device].reserved_high = bytes;
}

static size_t graph_memory_bytes_of(const struct fake_instance *instance)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < instance->count; i++)
		if (instance->nodes[i].kind == NODE_ALLOCATION)
			bytes += (instance->nodes[i].range->size + 511) & ~(size_t)511;
	return (bytes + FAKE_GRANULE - 1) & ~(FAKE_GRANULE - 1);
}

static CUresult graph_memory_grow(int device, size_t bytes)
{
	if (bytes <= kept[device].reserved)
		return CUDA_SUCCESS;
	if (bytes - kept[device].reserved > fake_device_free_bytes(device))
		return CUDA_ERROR_OUT_OF_MEMORY;
	graph_memory_reserve(device, bytes);
	return CUDA_SUCCESS;
}

CUresult fake_graph_memory_reserve(const struct fake_instance *instance, int device)
{
	return graph_memory_grow(device, graph_memory_bytes_of(instance));
}

CUresult fake_graph_memory_launch(struct fake_instance *instance, int device, bool *unfreed)
{
	unsigned allocations = 0, frees = 0;

	for (unsigned i = 0; i < instance->count; i++) {
		allocations += instance->nodes[i].kind == NODE_ALLOCATION;
		frees += instance->nodes[i].kind == NODE_FREE;
	}
	if (allocations == 0)
		return CUDA_SUCCESS;
	if (*unfreed) {
		fake_misuse(
			"a graph is launched before the memory of its previous launch was freed");
		return CUDA_ERROR_INVALID_VALUE;
	}
	CUresult result = graph_memory_grow(device, graph_memory_bytes_of(instance));
	if (result != CUDA_SUCCESS)
		return result;
	*unfreed = allocations > frees;
	for (unsigned i = 0; i < instance->count; i++)
		if (instance->nodes[i].kind == NODE_ALLOCATION)
			instance->nodes[i].range->busy++;
	kept[device].pending++;
	fake_number_add("graph_memory_pending", 1);
	fake_number_add("graph_memory_launches", 1);
	return CUDA_SUCCESS;
}

void fake_graph_memory_begin(const struct fake_instance *instance, int device)
{
	kept[device].running += graph_memory_bytes_of(instance);
	if (kept[device].running > kept[device].running_high)
		kept[device].running_high = kept[device].running;
	if (kept[device].running > kept[device].reserved)
		graph_memory_reserve(device, kept[device].running);
}

void fake_graph_memory_end(const struct fake_instance *instance, int device)
{
	kept[device].running -= graph_memory_bytes_of(instance);
}

void fake_graph_memory_drop(const struct fake_instance *instance, int device)
{
	bool any = false;

	for (unsigned i = 0; i < instance->count; i++) {
		if (instance->nodes[i].kind != NODE_ALLOCATION)
			continue;
		any = true;
		fake_range_unbusy(instance->nodes[i].range);
	}
	kept[device].pending -= any;
	if (any)
		fake_number_add("graph_memory_pending", -1);
}

void fake_graph_memory_run(const struct CUgraphNode_st *node)
{
	struct fake_range *range = node->range;
	bool allocates = node->kind == NODE_ALLOCATION;

	if (range->live == allocates)
		fake_misuse("memory of a graph at 0x%llx is %s twice", range->base,
			    allocates ? "allocated" : "freed");
	range->live = allocates;
	fake_poison(range->host, range->size);
}

void fake_graph_memory_gone(const struct CUgraph_st *graph)
{
	for (unsigned i = 0; i < graph->count; i++) {
		struct fake_range *range = graph->nodes[i]->range;
		if (graph->nodes[i]->kind != NODE_ALLOCATION)
			continue;
		fake_number_add("graph_memories", -1);
		/* A launch may be complete for its host, and not yet for its stream. */
		if (range->busy)
			range->freed = true;
		else
			fake_range_drop(range);
	}
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node_out, CUgraph graph,
				const CUgraphNode *dependencies, size_t count,
				CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct fake_range *range = NULL;
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !parameters || parameters->bytesize == 0 ||
	    parameters->accessDescCount ||
	    parameters->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    parameters->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
	    parameters->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    parameters->poolProps.location.id < 0 ||
	    parameters->poolProps.location.id >= fake.device_count)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = fake_range_add(FAKE_GRAPH_MEMORY, parameters->poolProps.location.id,
					 parameters->bytesize, &range);
	if (result != CUDA_SUCCESS)
		return result;
	range->live = false;
	const struct CUgraphNode_st node = {.kind = NODE_ALLOCATION, .range = range};
	result = fake_graph_node_add(node_out, graph, dependencies, count, &node);
	if (result != CUDA_SUCCESS) {
		fake_range_drop(range);
		return result;
	}
	graph->has_memory = true;
	parameters->dptr = range->base;
	fake_number_add("graph_memories", 1);
	return CUDA_SUCCESS;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node_out, CUgraph graph,
			       const CUgraphNode *dependencies, size_t count, CUdeviceptr address)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct fake_range *range = fake_range_find(address, 1);
	if (!fake_handle_alive(FAKE_GRAPH, graph) || !range || range->base != address ||
	    range->kind != FAKE_GRAPH_MEMORY)
		return CUDA_ERROR_INVALID_VALUE;
	bool allocated = false;
	for (unsigned i = 0; i < graph->count; i++) {
		if (graph->nodes[i]->kind == NODE_FREE && graph->nodes[i]->range == range)
			return CUDA_ERROR_INVALID_VALUE;
		allocated |=
			graph->nodes[i]->kind == NODE_ALLOCATION && graph->nodes[i]->range == range;
	}
	if (!allocated)
		return CUDA_ERROR_NOT_SUPPORTED; /* memory of another graph: no caller needs that */
	const struct CUgraphNode_st node = {.kind = NODE_FREE, .range = range};
	return fake_graph_node_add(node_out, graph, dependencies, count, &node);
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (device < 0 || device >= fake.device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	fake_number_add("graph_trims", 1);
	if (kept[device].pending == 0)
		graph_memory_reserve(device, 0);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (device < 0 || device >= fake.device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	switch (attribute) {
	case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		*(cuuint64_t *)value = kept[device].running;
		break;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		*(cuuint64_t *)value = kept[device].running_high;
		break;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = kept[device].reserved;
		break;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = kept[device].reserved_high;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}
