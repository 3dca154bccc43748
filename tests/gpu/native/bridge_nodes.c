#include "native/bridge_nodes.h"

#include <stdlib.h>
#include <string.h>

void bridge_node_ended(void *user_data)
{
	struct bridge_node *node = user_data;
	atomic_fetch_add(&node->ends, 1);
}

void bridge_node_launch(CUfunction function, CUstream stream, void **parameters)
{
	NATIVE_MUST(NATIVE(cuLaunchKernel)(function, 1, 1, 1, ORDER_ITEMS, 1, 1, 0, stream,
					   parameters, NULL));
}

/* Captures like the example in specification 004. */
static void capture(struct bridge_node *node)
{
	CUstream stream = (CUstream)node->queue; /* NOLINT(performance-no-int-to-ptr) */
	CUgraph graph = (CUgraph)node->graph,
		captured = NULL; /* NOLINT(performance-no-int-to-ptr) */
	CUdeviceptr out = node->memories[0] + node->offsets[0], word = node->test->word_address;
	uint32_t value = 5, looks = ORDER_LOOKS;
	void *incrementing[] = {&out}, *seeing[] = {&node->seen},
	     *filling[] = {&word, &out, &value, &looks};
	NATIVE_MUST(NATIVE(cuStreamBeginCaptureToGraph)(stream, graph, NULL, NULL, 0,
							CU_STREAM_CAPTURE_MODE_GLOBAL));
	bridge_node_launch(node->test->increment, stream,
			   node->way == WAITS ? seeing : incrementing);
	if (node->way == WAITS)
		bridge_node_launch(node->test->fill, stream, filling);
	else
		bridge_node_launch(node->test->increment, stream, incrementing);
	if (node->way == STAYS_OPEN)
		return;
	NATIVE_MUST(NATIVE(cuStreamEndCapture)(stream, &captured));
	cr_assert_eq(captured, graph);
}

static void bridge_nodes_add_copy(struct bridge_node *node)
{
	CUgraphNode added = NULL;
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = node->memories[0] + node->offsets[0],
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = node->memories[1] + node->offsets[1],
		.WidthInBytes = BRIDGE_BYTES,
		.Height = 1,
		.Depth = 1,
	};
	NATIVE_MUST(NATIVE(cuGraphAddMemcpyNode)(
		&added, (CUgraph)node->graph, NULL, 0,
		&copy,                      /* NOLINT(performance-no-int-to-ptr) */
		(CUcontext)node->context)); /* NOLINT(performance-no-int-to-ptr) */
}

static sycl_result run_node(sycl_interop_handle interop, void *user_data)
{
	struct bridge_node *node = user_data;
	atomic_fetch_add(&node->calls, 1);
	MUST(sycl_interop_get_native_device(interop, &node->device));
	MUST(sycl_interop_get_native_context(interop, &node->context));
	MUST(sycl_interop_get_native_queue(interop, &node->queue));
	MUST(sycl_interop_has_graph(interop, &node->has_graph));
	node->graph_result = sycl_interop_get_native_graph(interop, &node->graph);
	for (uint32_t i = 0; i < 2; i++)
		if (sycl_interop_get_native_memory(interop, i, &node->memories[i],
						   &node->offsets[i]) != SYCL_SUCCESS)
			node->memories[i] = 0;
	NATIVE_MUST(NATIVE(cuCtxGetCurrent)(&node->current));
	if (node->way == FAILS)
		return BRIDGE_NODE_FAILURE;
	if (node->has_graph && node->way == ADDS)
		bridge_nodes_add_copy(node);
	else if (node->has_graph && node->way != NOTHING)
		capture(node);
	return SYCL_SUCCESS;
}

sycl_handler bridge_node_handler(struct bridge_node *node, sycl_buffer first, sycl_buffer second)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(node->test->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, first,
				       second ? SYCL_ACCESS_READ : SYCL_ACCESS_READ_WRITE));
	if (second)
		MUST(sycl_handler_set_accessor(handler, 1, second, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, run_node, node, bridge_node_ended));
	return handler;
}

sycl_graph bridge_graph(const struct bridge_test *test)
{
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	MUST(sycl_queue_get_context(test->queue, &context));
	MUST(sycl_graph_create(context, test->devices[0], NULL, &graph));
	MUST(sycl_context_release(context));
	return graph;
}

void bridge_graph_increments(const struct bridge_test *test, sycl_graph graph, sycl_buffer buffer)
{
	MUST(sycl_graph_begin_recording(graph, 1, &test->queue));
	native_increment(&test->gate, test->queue, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
}

sycl_executable_graph bridge_node_finalized(struct bridge_node *node, sycl_buffer buffer)
{
	sycl_executable_graph executable = NULL;
	sycl_graph graph = bridge_graph(node->test);
	MUST(sycl_graph_add(graph, bridge_node_handler(node, buffer, NULL), 0, NULL, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_graph_release(graph));
	return executable;
}

const struct fake_cuda_control *bridge_double(void)
{
	return ((fake_cuda_control_function *)native_symbol(FAKE_CUDA_CONTROL_SYMBOL))();
}

void bridge_expect_alive(const char *what, uint64_t count)
{
	if (order_library())
		cr_assert_eq(bridge_double()->count(what), count, "%s: %lu", what,
			     (unsigned long)bridge_double()->count(what));
}
