/*
 * Native commands as nodes of graphs (K13 - K20). They are called when the graph is finalized. They
 * get a CUgraph to which they add, and an idle stream for a capture.
 */
#include "native/fixture.h"

#include <stdatomic.h>
#include <string.h>

enum { BYTES = ORDER_ITEMS * (int)sizeof(uint32_t), LAUNCHES = 10, FAILURE = -7 };

TestSuite(gpu_native_graphs, .timeout = 120);

enum way { CAPTURES, ADDS, FAILS };

struct work {
	enum way way;
	atomic_uint calls, ends;
	CUfunction increment; /* CAPTURES: on accessor 0 */
	uint32_t has_graph;
	sycl_result graph_result;
	uint64_t device, context, queue, graph, memories[2], offsets[2];
};

static void native_graphs_count_end(void *user_data)
{
	struct work *work = user_data;
	atomic_fetch_add(&work->ends, 1);
}

/* Captures like the example in specification 004. */
static void capture(struct work *work)
{
	CUstream stream = (CUstream)work->queue; /* NOLINT(performance-no-int-to-ptr) */
	CUgraph graph = (CUgraph)work->graph,
		captured = NULL; /* NOLINT(performance-no-int-to-ptr) */
	CUdeviceptr out = work->memories[0] + work->offsets[0];
	void *parameters[] = {&out};

	NATIVE_MUST(NATIVE(cuStreamBeginCaptureToGraph)(stream, graph, NULL, NULL, 0,
							CU_STREAM_CAPTURE_MODE_GLOBAL));
	NATIVE_MUST(NATIVE(cuLaunchKernel)(work->increment, 1, 1, 1, ORDER_ITEMS, 1, 1, 0, stream,
					   parameters, NULL));
	NATIVE_MUST(NATIVE(cuLaunchKernel)(work->increment, 1, 1, 1, ORDER_ITEMS, 1, 1, 0, stream,
					   parameters, NULL));
	NATIVE_MUST(NATIVE(cuStreamEndCapture)(stream, &captured));
	cr_assert_eq(captured, graph);
}

/* Adds a node by hand: it copies accessor 0 to accessor 1. */
static void native_graphs_add_copy(struct work *work)
{
	CUgraphNode node = NULL;
	const CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = work->memories[0] + work->offsets[0],
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = work->memories[1] + work->offsets[1],
		.WidthInBytes = BYTES,
		.Height = 1,
		.Depth = 1,
	};

	NATIVE_MUST(NATIVE(cuGraphAddMemcpyNode)(
		&node, (CUgraph)work->graph, NULL, 0, &copy, /* NOLINT(performance-no-int-to-ptr) */
		(CUcontext)work->context));                  /* NOLINT(performance-no-int-to-ptr) */
}

static sycl_result native_graphs_run_work(sycl_interop_handle interop, void *user_data)
{
	struct work *work = user_data;

	atomic_fetch_add(&work->calls, 1);
	MUST(sycl_interop_get_native_device(interop, &work->device));
	MUST(sycl_interop_get_native_context(interop, &work->context));
	MUST(sycl_interop_get_native_queue(interop, &work->queue));
	MUST(sycl_interop_has_graph(interop, &work->has_graph));
	work->graph_result = sycl_interop_get_native_graph(interop, &work->graph);
	for (uint32_t i = 0; i < 2; i++)
		if (sycl_interop_get_native_memory(interop, i, &work->memories[i],
						   &work->offsets[i]) != SYCL_SUCCESS)
			work->memories[i] = 0;
	if (work->way == FAILS)
		return FAILURE;
	if (work->has_graph && work->way == CAPTURES)
		capture(work);
	else if (work->has_graph)
		native_graphs_add_copy(work);
	return SYCL_SUCCESS;
}

static sycl_handler native_graphs_begin_command(sycl_queue queue, struct work *work,
						sycl_buffer first, sycl_buffer second)
{
	sycl_handler handler = NULL;

	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, first,
				       second ? SYCL_ACCESS_READ : SYCL_ACCESS_READ_WRITE));
	if (second)
		MUST(sycl_handler_set_accessor(handler, 1, second, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, native_graphs_run_work, work,
					 native_graphs_count_end));
	return handler;
}

static sycl_graph graph_of(sycl_queue queue)
{
	sycl_context context = NULL;
	sycl_device device = NULL;
	sycl_graph graph = NULL;

	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_graph_create(context, device, NULL, &graph));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	return graph;
}

static CUmodule load_graph_module(sycl_queue queue, struct work *work)
{
	CUcontext context = NULL, popped = NULL;
	CUmodule module = NULL;

	(void)queue;
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&context, 0));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(context));
	NATIVE_MUST(NATIVE(cuModuleLoadData)(&module, native_ptx));
	NATIVE_MUST(NATIVE(cuModuleGetFunction)(&work->increment, module, "native_increment"));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	return module;
}

static void native_graphs_unload(CUmodule module)
{
	CUcontext context = NULL, popped = NULL;

	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&context, 0));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(context));
	NATIVE_MUST(NATIVE(cuModuleUnload)(module));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(0));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(0));
}

/* It is recorded between two kernels of the test, while another session allocates and launches. */
Test(gpu_native_graphs, K13_K15_K17_K20_captured_between_two_kernels)
{
	struct order order;
	struct native_gate gate;
	struct work work = {.way = CAPTURES};

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true), beside = order_queue(&order, 0, false);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue), other = order_buffer(&order, queue);
	CUmodule module = load_graph_module(queue, &work);
	sycl_graph graph = graph_of(queue);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	native_increment(&gate, queue, buffer, NULL);
	MUST(sycl_handler_submit(native_graphs_begin_command(queue, &work, buffer, NULL), NULL));
	native_increment(&gate, queue, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert_eq(atomic_load(&work.calls), 0);
	native_increment(&gate, beside, other, NULL);
	sycl_executable_graph executable = NULL;
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	cr_assert_eq(atomic_load(&work.calls), 1);
	cr_assert_eq(work.has_graph, 1);
	cr_assert_eq(work.graph_result, SYCL_SUCCESS);
	cr_assert_neq(work.graph, 0);
	cr_assert_neq(work.queue, 0);
	MUST(sycl_graph_release(graph));
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		MUST(sycl_queue_graph(i % 2 ? queue : beside, executable, 0, NULL, NULL));
		native_increment(&gate, beside, other, NULL);
	}
	MUST(sycl_queue_wait(queue));
	MUST(sycl_queue_wait(beside));
	cr_assert_eq(atomic_load(&work.calls), 1);
	order_expect(buffer, 4 * LAUNCHES);
	order_expect(other, LAUNCHES + 1);
	cr_assert_eq(atomic_load(&work.ends), 0);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_queue_wait(queue));
	native_graphs_unload(module);
	native_gate_end(&gate);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
	MUST(sycl_queue_release(queue));
	MUST(sycl_queue_release(beside));
	order_end(&order);
	cr_assert_eq(atomic_load(&work.ends), 1);
}

/* Added by hand: a copy of the application, behind the kernel that writes its source and before the
 * one that changes its copy. */
Test(gpu_native_graphs, K13_K16_K18_nodes_of_the_applications_keep_the_graphs_order)
{
	struct order order;
	struct native_gate gate;
	struct work work = {.way = ADDS};

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, false);
	native_gate_begin(&gate, queue);
	sycl_buffer from = order_buffer(&order, queue), to = order_buffer(&order, queue);
	sycl_graph graph = graph_of(queue);
	sycl_graph_node node = 0;
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	native_increment(&gate, queue, from, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	MUST(sycl_graph_add(graph, native_graphs_begin_command(queue, &work, from, to), 0, NULL,
			    &node));
	MUST(sycl_graph_node_get_type(graph, node, &type));
	cr_assert_eq((int)type, SYCL_GRAPH_NODE_NATIVE_COMMAND);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	native_increment(&gate, queue, to, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	/* Each executable graph calls it once (S16), also if it is part of another one. */
	sycl_executable_graph executables[3] = {NULL, NULL, NULL};
	MUST(sycl_graph_finalize(graph, NULL, &executables[0]));
	MUST(sycl_graph_finalize(graph, NULL, &executables[1]));
	cr_assert_eq(atomic_load(&work.calls), 2);
	sycl_graph outer = graph_of(queue);
	MUST(sycl_graph_begin_recording(outer, 1, &queue));
	MUST(sycl_queue_graph(queue, executables[0], 0, NULL, NULL));
	native_increment(&gate, queue, to, NULL);
	MUST(sycl_graph_end_recording(outer, 0, NULL));
	MUST(sycl_graph_finalize(outer, NULL, &executables[2]));
	cr_assert_eq(atomic_load(&work.calls), 3);
	MUST(sycl_graph_release(outer));
	MUST(sycl_graph_release(graph));
	for (uint32_t round = 1; round <= 6; round++) {
		MUST(sycl_queue_graph(queue, executables[(round - 1) % 3], 0, NULL, NULL));
		MUST(sycl_queue_wait(queue));
		order_expect(from, round);
		order_expect(to, round + (round % 3 ? 1 : 2));
	}
	cr_assert_eq(atomic_load(&work.calls), 3);
	/* Outside of a graph the same command has none. */
	MUST(sycl_handler_submit(native_graphs_begin_command(queue, &work, from, to), NULL));
	MUST(sycl_queue_wait(queue));
	cr_assert_eq(work.has_graph, 0);
	cr_assert_eq(work.graph_result, SYCL_ERROR_INVALID);
	for (int i = 0; i < 3; i++)
		MUST(sycl_executable_graph_release(executables[i]));
	native_gate_end(&gate);
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
	MUST(sycl_queue_release(queue));
	order_end(&order);
	cr_assert_eq(atomic_load(&work.ends), 2);
}

Test(gpu_native_graphs, K15_M9_a_function_that_fails_fails_to_be_finalized)
{
	struct order order;
	struct work work = {.way = FAILS};
	sycl_executable_graph executable = NULL;

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	sycl_buffer buffer = order_buffer(&order, queue);
	sycl_graph graph = graph_of(queue);
	MUST(sycl_graph_add(graph, native_graphs_begin_command(queue, &work, buffer, NULL), 0, NULL,
			    NULL));
	cr_assert_eq(sycl_graph_finalize(graph, NULL, &executable), FAILURE, "%s",
		     sycl_get_last_error_text());
	cr_assert_null(executable);
	cr_assert_eq(atomic_load(&work.calls), 1);
	/* There is no graph, and the next one is independent of it. */
	work.way = ADDS;
	MUST(sycl_graph_release(graph));
	graph = graph_of(queue);
	sycl_buffer second = order_buffer(&order, queue);
	MUST(sycl_graph_add(graph, native_graphs_begin_command(queue, &work, buffer, second), 0,
			    NULL, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
	cr_assert_eq(atomic_load(&work.calls), 2);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(second));
	MUST(sycl_queue_release(queue));
	order_end(&order);
	cr_assert_eq(atomic_load(&work.ends), 2);
}
