/*
 * Native commands through a service as nodes of graphs (K13 - K17, K20). The function is called
 * when the graph is finalized, with a CUgraph of the program's own. Each launch sends the added
 * nodes between the service's kernels.
 */
#include "native/bridge_fixture.h"
#include "fake_cuda.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHES = 10, FAILURE = -7 };

TestSuite(gpu_bridge_graphs, .timeout = 240);

enum way {
	CAPTURES, /* two increments of accessor 0 */
	WAITS,    /* captures an increment of `seen`, then a fill of accessor 0 behind the program's
		     word */
	ADDS,     /* a copy of accessor 0 to accessor 1, by hand */
	NOTHING,
	FAILS,
	STAYS_OPEN, /* begins a capture and does not end it */
};

struct node {
	const struct bridge_test *test;
	enum way way;
	CUdeviceptr seen;
	atomic_uint calls, ends;
	uint32_t has_graph;
	sycl_result graph_result;
	uint64_t device, context, queue, graph, memories[2], offsets[2];
	CUcontext current;
};

static void ended(void *user_data)
{
	struct node *node = user_data;
	atomic_fetch_add(&node->ends, 1);
}

static void launch_native(CUfunction function, CUstream stream, void **parameters)
{
	NATIVE_MUST(NATIVE(cuLaunchKernel)(function, 1, 1, 1, ORDER_ITEMS, 1, 1, 0, stream,
					   parameters, NULL));
}

/* As 004's example does it. */
static void capture(struct node *node)
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
	launch_native(node->test->increment, stream, node->way == WAITS ? seeing : incrementing);
	if (node->way == WAITS)
		launch_native(node->test->fill, stream, filling);
	else
		launch_native(node->test->increment, stream, incrementing);
	if (node->way == STAYS_OPEN)
		return;
	NATIVE_MUST(NATIVE(cuStreamEndCapture)(stream, &captured));
	cr_assert_eq(captured, graph);
}

static void add_copy(struct node *node)
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
	struct node *node = user_data;
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
		return FAILURE;
	if (node->has_graph && node->way == ADDS)
		add_copy(node);
	else if (node->has_graph && node->way != NOTHING)
		capture(node);
	return SYCL_SUCCESS;
}

static sycl_handler native(struct node *node, sycl_buffer first, sycl_buffer second)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(node->test->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, first,
				       second ? SYCL_ACCESS_READ : SYCL_ACCESS_READ_WRITE));
	if (second)
		MUST(sycl_handler_set_accessor(handler, 1, second, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, run_node, node, ended));
	return handler;
}

static sycl_graph graph_of(const struct bridge_test *test)
{
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	MUST(sycl_queue_get_context(test->queue, &context));
	MUST(sycl_graph_create(context, test->devices[0], NULL, &graph));
	MUST(sycl_context_release(context));
	return graph;
}

static void increments(const struct bridge_test *test, sycl_graph graph, sycl_buffer buffer)
{
	MUST(sycl_graph_begin_recording(graph, 1, &test->queue));
	native_increment(&test->gate, test->queue, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
}

/* A graph of one node, finalized. */
static sycl_executable_graph finalized(struct node *node, sycl_buffer buffer)
{
	sycl_executable_graph executable = NULL;
	sycl_graph graph = graph_of(node->test);
	MUST(sycl_graph_add(graph, native(node, buffer, NULL), 0, NULL, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_graph_release(graph));
	return executable;
}

static const struct fake_cuda_control *control(void)
{
	return ((fake_cuda_control_function *)native_symbol(FAKE_CUDA_CONTROL_SYMBOL))();
}

/* A count of this process, on the double; on a GPU there is none. */
static void expect_alive(const char *what, uint64_t count)
{
	if (order_library())
		cr_assert_eq(control()->count(what), count, "%s: %lu", what,
			     (unsigned long)control()->count(what));
}

static const sycl_share_kind kinds[] = {SYCL_SHARE_VMM, SYCL_SHARE_CUDA_IPC};

/* Recorded, between two kernels of the service's; while plain commands and another queue are under
 * way. */
static void captured(struct bridge_test *test, sycl_share_kind kind)
{
	struct node node = {.test = test, .way = CAPTURES};
	struct bridge_work work = {.test = test};
	sycl_buffer buffer = bridge_buffer(test, kind), other = bridge_buffer(test, kind);
	sycl_executable_graph executable = NULL;
	sycl_queue beside = NULL;
	MUST(sycl_queue_create(NULL, test->devices[0], NULL, &beside));
	bridge_finish(native_gated_fill(&test->gate, test->queue, buffer, 0));
	bridge_finish(native_gated_fill(&test->gate, test->queue, other, 0));
	sycl_graph graph = graph_of(test);
	MUST(sycl_graph_begin_recording(graph, 1, &test->queue));
	native_increment(&test->gate, test->queue, buffer, NULL);
	MUST(sycl_handler_submit(native(&node, buffer, NULL), NULL));
	native_increment(&test->gate, test->queue, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert_eq(atomic_load(&node.calls), 0);
	MUST(bridge_submit(beside, &work, other, 0, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	cr_assert_eq(atomic_load(&node.calls), 1);
	cr_assert_eq(node.has_graph, 1);
	cr_assert_eq(node.graph_result, SYCL_SUCCESS);
	cr_assert_neq(node.graph, 0);
	cr_assert_neq(node.queue, 0);
	cr_assert_eq(node.context, (uintptr_t)test->context);
	cr_assert_eq((uintptr_t)node.current, (uintptr_t)test->context);
	MUST(sycl_graph_release(graph));
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		MUST(sycl_queue_graph(i % 2 ? test->queue : beside, executable, 0, NULL, NULL));
		MUST(bridge_submit(beside, &work, other, 0, NULL));
	}
	MUST(sycl_queue_wait(test->queue));
	MUST(sycl_queue_wait(beside));
	cr_assert_eq(atomic_load(&node.calls), 1);
	order_expect(buffer, 4 * LAUNCHES);
	order_expect(other, LAUNCHES + 1);
	cr_assert_eq(atomic_load(&node.ends), 0);
	expect_alive("graph_execs", 1);
	MUST(sycl_executable_graph_release(executable));
	expect_alive("graph_execs", 0);
	expect_alive("graphs", 0);
	cr_assert_eq(atomic_load(&node.ends), 1);
	MUST(sycl_queue_release(beside));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
}

Test(gpu_bridge_graphs, K13_K15_K17_K20_S8_captured_between_two_kernels_of_the_services)
{
	for (uint32_t helpers = 0; helpers <= 2; helpers += 2) {
		struct bridge_test test;
		bridge_begin(&test, helpers);
		for (size_t i = 0; i < 2; i++)
			captured(&test, kinds[i]);
		bridge_end(&test);
	}
}

/* A launch of either executable, and of the graph that the first is a part of. */
static void launch_each(struct bridge_test *test, const sycl_executable_graph *executables,
			sycl_buffer from, sycl_buffer to)
{
	for (uint32_t round = 1; round <= 6; round++) {
		MUST(sycl_queue_graph(test->queue, executables[(round - 1) % 3], 0, NULL, NULL));
		MUST(sycl_queue_wait(test->queue));
		order_expect(from, round);
		order_expect(to, round + (round % 3 ? 1 : 2));
	}
}

/* By hand: a copy of the program's own, behind the kernel that writes its source and before the one
 * that changes its copy. */
Test(gpu_bridge_graphs, K13_K16_K18_S16_S8_nodes_of_the_programs_keep_the_graphs_order)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct node node = {.test = &test, .way = ADDS};
	sycl_buffer from = bridge_buffer(&test, SYCL_SHARE_VMM),
		    to = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	sycl_graph graph = graph_of(&test), outer = graph_of(&test);
	sycl_graph_node added = 0;
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	bridge_finish(native_gated_fill(&test.gate, test.queue, from, 0));
	increments(&test, graph, from);
	MUST(sycl_graph_add(graph, native(&node, from, to), 0, NULL, &added));
	MUST(sycl_graph_node_get_type(graph, added, &type));
	cr_assert_eq((int)type, SYCL_GRAPH_NODE_NATIVE_COMMAND);
	increments(&test, graph, to);
	/* Each executable calls it once (S16), also where it is part of another. */
	sycl_executable_graph executables[3] = {NULL, NULL, NULL};
	MUST(sycl_graph_finalize(graph, NULL, &executables[0]));
	MUST(sycl_graph_finalize(graph, NULL, &executables[1]));
	cr_assert_eq(atomic_load(&node.calls), 2);
	MUST(sycl_graph_begin_recording(outer, 1, &test.queue));
	MUST(sycl_queue_graph(test.queue, executables[0], 0, NULL, NULL));
	native_increment(&test.gate, test.queue, to, NULL);
	MUST(sycl_graph_end_recording(outer, 0, NULL));
	MUST(sycl_graph_finalize(outer, NULL, &executables[2]));
	cr_assert_eq(atomic_load(&node.calls), 3);
	MUST(sycl_graph_release(outer));
	MUST(sycl_graph_release(graph));
	launch_each(&test, executables, from, to);
	cr_assert_eq(atomic_load(&node.calls), 3);
	expect_alive("graph_execs", 3);
	/* The same command outside of any graph has none (K14). */
	MUST(sycl_handler_submit(native(&node, from, to), NULL));
	MUST(sycl_queue_wait(test.queue));
	cr_assert_eq(node.has_graph, 0);
	cr_assert_eq(node.graph_result, SYCL_ERROR_INVALID);
	for (int i = 0; i < 3; i++)
		MUST(sycl_executable_graph_release(executables[i]));
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
	bridge_end(&test);
	cr_assert_eq(atomic_load(&node.ends), 2);
}

Test(gpu_bridge_graphs, K15_S8_a_node_without_anything_in_it_only_orders)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct node node = {.test = &test, .way = NOTHING};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = finalized(&node, buffer);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
	for (uint32_t i = 0; i < 3; i++) {
		MUST(sycl_queue_graph(test.queue, executable, 0, NULL, NULL));
		native_increment(&test.gate, test.queue, buffer, NULL);
	}
	order_expect(buffer, 4);
	cr_assert_eq(atomic_load(&node.calls), 1);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

static void expect_not_finalized(struct node *node, enum way way, sycl_buffer buffer,
				 sycl_result expected)
{
	sycl_executable_graph executable = NULL;
	unsigned calls = atomic_load(&node->calls);
	sycl_graph graph = graph_of(node->test);
	node->way = way;
	MUST(sycl_graph_add(graph, native(node, buffer, NULL), 0, NULL, NULL));
	cr_assert_eq(sycl_graph_finalize(graph, NULL, &executable), expected, "%s",
		     sycl_get_last_error_text());
	cr_assert_null(executable);
	cr_assert_eq(atomic_load(&node->calls), calls + 1);
	MUST(sycl_graph_release(graph));
}

Test(gpu_bridge_graphs, K15_M9_S8_a_function_that_fails_fails_to_be_finalized)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct node node = {.test = &test};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 0));
	uint64_t streams = order_library() ? control()->count("streams") : 0;
	expect_not_finalized(&node, FAILS, buffer, FAILURE);
	expect_not_finalized(&node, STAYS_OPEN, buffer, SYCL_ERROR_INVALID);
	expect_alive("graphs", 0);
	expect_alive("graph_execs", 0);
	expect_alive("streams", streams);
	/* Nothing has become of it, and the next one is another. */
	node.way = CAPTURES;
	sycl_executable_graph executable = finalized(&node, buffer);
	MUST(sycl_queue_graph(test.queue, executable, 0, NULL, NULL));
	order_expect(buffer, 2);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
	cr_assert_eq(atomic_load(&node.ends), 3);
}

/* ---------------------------------- launches under way ---------------------------------- */

/* Words that both the program and its GPU see: counted up by each launch that has begun. */
static volatile uint32_t *seen_begin(struct node *node)
{
	void *words = NULL;
	CUcontext popped = NULL;
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(node->test->context));
	NATIVE_MUST(NATIVE(cuMemHostAlloc)(&words, BRIDGE_BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
	NATIVE_MUST(NATIVE(cuMemHostGetDevicePointer)(&node->seen, words, 0));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	memset(words, 0, BRIDGE_BYTES);
	return words;
}

static void seen_end(const struct node *node, volatile uint32_t *words)
{
	CUcontext popped = NULL;
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(node->test->context));
	NATIVE_MUST(NATIVE(cuMemFreeHost)((void *)(uintptr_t)words));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
}

static bool has_begun(void *context)
{
	volatile uint32_t *words = context;
	return words[0] > 0;
}

/* Holds up what is captured behind the word. */
static sycl_event launch_and_see(struct bridge_test *test, sycl_executable_graph executable,
				 volatile uint32_t *words)
{
	sycl_event event = NULL;
	MUST(sycl_queue_graph(test->queue, executable, 0, NULL, &event));
	cr_assert(wait_until(has_begun, (void *)(uintptr_t)words, SOON),
		  "the launch has not begun");
	return event;
}

Test(gpu_bridge_graphs, K9_N1_S8_an_executable_released_while_it_runs_lasts_as_long_as_that)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct node node = {.test = &test, .way = WAITS};
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
	sycl_executable_graph executable = finalized(&node, buffer);
	sycl_event behind = NULL, event = launch_and_see(&test, executable, words);
	native_increment(&test.gate, test.queue, buffer, &behind);
	MUST(sycl_executable_graph_release(executable));
	native_expect_open(event);
	native_expect_open(behind);
	expect_alive("graph_execs", 1);
	cr_assert_eq(atomic_load(&node.ends), 0);
	*test.word = 1;
	bridge_finish(event);
	expect_alive("graph_execs", 0);
	cr_assert_eq(atomic_load(&node.ends), 1);
	bridge_finish(behind);
	order_expect(buffer, 6);
	MUST(sycl_buffer_release(buffer));
	seen_end(&node, words);
	bridge_end(&test);
}

/* The last handle is that of the executable, and its launch holds the connection. */
Test(gpu_bridge_graphs, N1_S8_a_connection_ends_with_its_last_launch)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct node node = {.test = &test, .way = WAITS};
	struct private_service *service = test.service;
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = finalized(&node, buffer);
	MUST(sycl_event_release(launch_and_see(&test, executable, words)));
	native_gate_end(&test.gate);
	MUST(sycl_buffer_detach(buffer));
	MUST(sycl_queue_release(test.queue));
	for (uint32_t i = 0; i < test.device_count; i++)
		MUST(sycl_device_release(test.devices[i]));
	MUST(sycl_platform_release(test.connection));
	MUST(sycl_executable_graph_release(executable));
	cr_assert_eq(private_service_sessions(service), 1);
	expect_alive("graph_execs", 1);
	*test.word = 1;
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	cr_assert_eq(atomic_load(&node.ends), 1);
	bridge_expect_no_misuse();
	(void)private_service_free(service);
}

Test(gpu_bridge_graphs, L9_S8_launches_of_one_executable_are_one_after_the_other)
{
	struct bridge_test test;
	bridge_begin(&test, 2);
	struct node node = {.test = &test, .way = WAITS};
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM),
		    other = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_queue beside = NULL;
	sycl_event second = NULL;
	MUST(sycl_queue_create(NULL, test.devices[0], NULL, &beside));
	sycl_executable_graph executable = finalized(&node, buffer);
	sycl_event first = launch_and_see(&test, executable, words);
	MUST(sycl_queue_graph(beside, executable, 0, NULL, &second));
	/* Others go on meanwhile, and the second one does not. */
	bridge_finish(native_gated_fill(&test.gate, test.queue, other, 2));
	native_expect_open(first);
	native_expect_open(second);
	cr_assert_eq(words[0], 1u);
	*test.word = 1;
	bridge_finish(first);
	bridge_finish(second);
	cr_assert_eq(words[0], 2u);
	order_expect(buffer, 5);
	cr_assert_eq(atomic_load(&node.calls), 1);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
	MUST(sycl_queue_release(beside));
	seen_end(&node, words);
	bridge_end(&test);
}

/* A launch that the driver refuses is over, and the next one works as any other. */
Test(gpu_bridge_graphs, M9_S8_a_launch_that_the_driver_refuses_fails_alone)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	if (!order_library()) {
		bridge_end(&test);
		cr_skip_test("only the double of the driver fails on order");
	}
	struct node node = {.test = &test, .way = CAPTURES};
	sycl_event event = NULL, behind = NULL;
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM),
		    lost = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = finalized(&node, lost), other = finalized(&node, buffer);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
	bridge_finish(native_gated_fill(&test.gate, test.queue, lost, 1));
	cr_assert_eq(control()->command("fail cuGraphLaunch 1 2"), 0);
	MUST(sycl_queue_graph(test.queue, executable, 0, NULL, &event));
	native_increment(&test.gate, test.queue, lost, &behind);
	cr_assert_eq(sycl_event_wait(event), SYCL_ERROR_MEMORY_ALLOCATION, "%s",
		     sycl_get_last_error_text());
	cr_assert_eq(sycl_event_wait(behind), SYCL_ERROR_DEPENDENCY_FAILED);
	MUST(sycl_queue_graph(test.queue, other, 0, NULL, NULL));
	order_expect(buffer, 3);
	(void)sycl_queue_wait(test.queue);
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(behind));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_executable_graph_release(other));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_detach(lost));
	bridge_end(&test);
}

/* --------------------------------- a service that goes ---------------------------------- */

static bool node_has_ended(void *context)
{
	const struct node *node = context;
	return atomic_load(&node->ends) > 0;
}

static bool is_lost(sycl_result result)
{
	return result == SYCL_ERROR_CONNECTION_LOST || result == SYCL_ERROR_DEVICE_LOST;
}

static void release_all(struct bridge_test *test)
{
	(void)sycl_free(test->queue, (void *)(uintptr_t)test->gate.word);
	MUST(sycl_kernel_release(test->gate.fill));
	MUST(sycl_kernel_release(test->gate.increment));
	MUST(sycl_queue_release(test->queue));
	for (uint32_t i = 0; i < test->device_count; i++)
		MUST(sycl_device_release(test->devices[i]));
	MUST(sycl_platform_release(test->connection));
}

/* In a process of its own: launches are under way when the service goes. Exit status 0: the loss
 * was reported, and nothing is left. */
static void lose_service(struct private_service *service, int begun)
{
	struct bridge_test test;
	bridge_connect(&test, service, 1);
	struct node node = {.test = &test, .way = WAITS}, unused = {.test = &test, .way = CAPTURES};
	volatile uint32_t *words = seen_begin(&node);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = finalized(&node, buffer),
			      other = finalized(&unused, buffer);
	sycl_event second = NULL, first = launch_and_see(&test, executable, words);
	MUST(sycl_queue_graph(test.queue, executable, 0, NULL, &second));
	if (write(begun, "b", 1) != 1)
		_exit(2);
	if (!is_lost(sycl_event_wait(first)) || !is_lost(sycl_event_wait(second)))
		_exit(3);
	/* Its work goes on in this process, and holds what it needs. */
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(second));
	(void)sycl_buffer_release(buffer);
	if (atomic_load(&node.ends) != 0)
		_exit(4);
	*test.word = 1;
	if (!wait_until(node_has_ended, &node, SOON))
		_exit(5);
	MUST(sycl_executable_graph_release(other));
	release_all(&test);
	if (words[0] != 1 || atomic_load(&node.calls) != 1)
		_exit(6);
	if (order_library() && (control()->count("graph_execs") || control()->count("graphs") ||
				control()->count("misuse")))
		_exit(7);
	_exit(0);
}

Test(gpu_bridge_graphs, N5_S8_launches_under_way_when_the_service_goes_leave_nothing)
{
	struct private_service *service = bridge_service();
	int ends[2], status = 0;
	char byte;
	cr_assert_eq(pipe(ends), 0);
	pid_t child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		lose_service(service, ends[1]);
	}
	(void)close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1, "its launch has not begun");
	(void)close(ends[0]);
	cr_assert_eq(kill(processes_engine(service), SIGKILL), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	(void)private_service_free(service);
}

/* --------------------------- what is refused, and what is not --------------------------- */

Test(gpu_bridge_graphs, I18_K12_S8_what_is_refused_is_refused_with_a_sentence)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct node node = {.test = &test, .way = CAPTURES};
	sycl_buffer plain = NULL, shared = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_graph graph = graph_of(&test);
	MUST(sycl_buffer_create(test.connection, NULL, BRIDGE_BYTES, SYCL_HOST_NONE, &plain));
	cr_assert_eq(sycl_graph_add(graph, native(&node, plain, NULL), 0, NULL, NULL),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_not_null(strstr(sycl_get_last_error_text(), "sycl_buffer_create_exportable"));
	if (order_library()) {
		cr_assert_eq(control()->command("driver_version 12020"), 0);
		cr_assert_eq(sycl_graph_add(graph, native(&node, shared, NULL), 0, NULL, NULL),
			     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
		cr_assert_not_null(
			strstr(sycl_get_last_error_text(), "cuStreamBeginCaptureToGraph"));
		cr_assert_eq(control()->command("driver_version 13000"), 0);
	}
	cr_assert_eq(atomic_load(&node.calls), 0);
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(plain));
	MUST(sycl_buffer_release(shared));
	bridge_end(&test);
}

static sycl_result do_nothing(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_SUCCESS;
}

/* An update looks at nodes that launch kernels; the function is not called again. */
Test(gpu_bridge_graphs, L13_K15_S8_an_update_leaves_the_node_as_it_is)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct node node = {.test = &test, .way = CAPTURES};
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	properties.flags = SYCL_GRAPH_UPDATABLE;
	const uint32_t value = 1;
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_graph graph = graph_of(&test), unlike = graph_of(&test);
	sycl_graph_node added = 0;
	sycl_handler handler = NULL;
	sycl_executable_graph executable = NULL;
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 0));
	MUST(sycl_graph_add(graph, native(&node, buffer, NULL), 0, NULL, &added));
	increments(&test, graph, buffer);
	MUST(sycl_graph_finalize(graph, &properties, &executable));
	cr_assert_eq(sycl_graph_node_set_value(graph, added, 0, sizeof(value), &value),
		     SYCL_ERROR_INVALID);
	cr_assert_eq(sycl_executable_graph_update(executable, graph, 1, &added),
		     SYCL_ERROR_INVALID);
	/* A host task is none, though to the service both are. */
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task(handler, do_nothing, NULL, NULL));
	MUST(sycl_graph_add(unlike, handler, 0, NULL, NULL));
	increments(&test, unlike, buffer);
	cr_assert_eq(sycl_executable_graph_update_whole(executable, unlike), SYCL_ERROR_INVALID);
	MUST(sycl_executable_graph_update_whole(executable, graph));
	MUST(sycl_queue_graph(test.queue, executable, 0, NULL, NULL));
	MUST(sycl_graph_release(unlike));
	MUST(sycl_graph_release(graph));
	order_expect(buffer, 3);
	cr_assert_eq(atomic_load(&node.calls), 1);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

/* A native host task: increments accessor 0, and waits for that. */
static sycl_result increment_here(sycl_host_task task, void *user_data)
{
	struct node *node = user_data;
	CUcontext popped = NULL;
	MUST(sycl_host_task_get_native_queue(task, SYCL_BACKEND_KIND_CUDA, &node->queue));
	MUST(sycl_host_task_get_native_memory(task, SYCL_BACKEND_KIND_CUDA, 0, &node->memories[0]));
	CUdeviceptr out = node->memories[0];
	void *parameters[] = {&out};
	CUstream stream = (CUstream)node->queue; /* NOLINT(performance-no-int-to-ptr) */
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(node->test->context));
	launch_native(node->test->increment, stream, parameters);
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(stream));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	atomic_fetch_add(&node->calls, 1);
	return SYCL_SUCCESS;
}

Test(gpu_bridge_graphs, I13_I14_L8_S8_a_native_host_task_is_a_node_that_each_launch_runs)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct node node = {.test = &test};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	sycl_handler handler = NULL;
	sycl_graph graph = graph_of(&test);
	sycl_executable_graph executable = NULL;
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 0));
	increments(&test, graph, buffer);
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task_native(handler, increment_here, &node, ended));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	increments(&test, graph, buffer);
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	cr_assert_eq(atomic_load(&node.calls), 0);
	for (uint32_t i = 0; i < 3; i++)
		MUST(sycl_queue_graph(test.queue, executable, 0, NULL, NULL));
	MUST(sycl_graph_release(graph));
	order_expect(buffer, 9);
	cr_assert_eq(atomic_load(&node.calls), 3);
	MUST(sycl_executable_graph_release(executable));
	cr_assert_eq(atomic_load(&node.ends), 1);
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}
