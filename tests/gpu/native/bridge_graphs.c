/*
 * Native commands through a service as nodes of graphs (K13 - K17, K20). The function is called
 * when the graph is finalized, with a CUgraph of the program. Each launch sends the added nodes
 * between the service's kernels.
 */
#include "native/bridge_nodes.h"

#include <string.h>

enum { LAUNCHES = 10 };

TestSuite(gpu_bridge_graphs, .timeout = 240);

static const sycl_share_kind kinds[] = {SYCL_SHARE_VMM, SYCL_SHARE_CUDA_IPC};

/* It is recorded between two kernels of the service, while plain commands and another queue run. */
static void captured(struct bridge_test *test, sycl_share_kind kind)
{
	struct bridge_node node = {.test = test, .way = CAPTURES};
	struct bridge_work work = {.test = test};
	sycl_buffer buffer = bridge_buffer(test, kind), other = bridge_buffer(test, kind);
	sycl_executable_graph executable = NULL;
	sycl_queue beside = NULL;
	MUST(sycl_queue_create(NULL, test->devices[0], NULL, &beside));
	bridge_finish(native_gated_fill(&test->gate, test->queue, buffer, 0));
	bridge_finish(native_gated_fill(&test->gate, test->queue, other, 0));
	sycl_graph graph = bridge_graph(test);
	MUST(sycl_graph_begin_recording(graph, 1, &test->queue));
	native_increment(&test->gate, test->queue, buffer, NULL);
	MUST(sycl_handler_submit(bridge_node_handler(&node, buffer, NULL), NULL));
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
	bridge_expect_alive("graph_execs", 1);
	MUST(sycl_executable_graph_release(executable));
	bridge_expect_alive("graph_execs", 0);
	bridge_expect_alive("graphs", 0);
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

/* Launches either executable graph, and the graph that contains the first. */
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

/* Added by hand: a copy of the program, behind the kernel that writes its source and before the one
 * that changes its copy. */
Test(gpu_bridge_graphs, K13_K16_K18_S16_S8_nodes_of_the_programs_keep_the_graphs_order)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_node node = {.test = &test, .way = ADDS};
	sycl_buffer from = bridge_buffer(&test, SYCL_SHARE_VMM),
		    to = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	sycl_graph graph = bridge_graph(&test), outer = bridge_graph(&test);
	sycl_graph_node added = 0;
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	bridge_finish(native_gated_fill(&test.gate, test.queue, from, 0));
	bridge_graph_increments(&test, graph, from);
	MUST(sycl_graph_add(graph, bridge_node_handler(&node, from, to), 0, NULL, &added));
	MUST(sycl_graph_node_get_type(graph, added, &type));
	cr_assert_eq((int)type, SYCL_GRAPH_NODE_NATIVE_COMMAND);
	bridge_graph_increments(&test, graph, to);
	/* Each executable graph calls it once (S16), also if it is part of another one. */
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
	bridge_expect_alive("graph_execs", 3);
	/* Outside of a graph the same command has none (K14). */
	MUST(sycl_handler_submit(bridge_node_handler(&node, from, to), NULL));
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
	struct bridge_node node = {.test = &test, .way = NOTHING};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_executable_graph executable = bridge_node_finalized(&node, buffer);
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

static void expect_not_finalized(struct bridge_node *node, enum bridge_node_way way,
				 sycl_buffer buffer, sycl_result expected)
{
	sycl_executable_graph executable = NULL;
	unsigned calls = atomic_load(&node->calls);
	sycl_graph graph = bridge_graph(node->test);
	node->way = way;
	MUST(sycl_graph_add(graph, bridge_node_handler(node, buffer, NULL), 0, NULL, NULL));
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
	struct bridge_node node = {.test = &test};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 0));
	uint64_t streams = order_library() ? bridge_double()->count("streams") : 0;
	expect_not_finalized(&node, FAILS, buffer, BRIDGE_NODE_FAILURE);
	expect_not_finalized(&node, STAYS_OPEN, buffer, SYCL_ERROR_INVALID);
	bridge_expect_alive("graphs", 0);
	bridge_expect_alive("graph_execs", 0);
	bridge_expect_alive("streams", streams);
	/* There is no graph, and the next one is independent of it. */
	node.way = CAPTURES;
	sycl_executable_graph executable = bridge_node_finalized(&node, buffer);
	MUST(sycl_queue_graph(test.queue, executable, 0, NULL, NULL));
	order_expect(buffer, 2);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
	cr_assert_eq(atomic_load(&node.ends), 3);
}

/* --------------------------- calls that are refused or allowed -------------------------- */

Test(gpu_bridge_graphs, I18_K12_S8_what_is_refused_is_refused_with_a_sentence)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_node node = {.test = &test, .way = CAPTURES};
	sycl_buffer plain = NULL, shared = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_graph graph = bridge_graph(&test);
	MUST(sycl_buffer_create(test.connection, NULL, BRIDGE_BYTES, SYCL_HOST_NONE, &plain));
	cr_assert_eq(sycl_graph_add(graph, bridge_node_handler(&node, plain, NULL), 0, NULL, NULL),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_not_null(strstr(sycl_get_last_error_text(), "sycl_buffer_create_exportable"));
	if (order_library()) {
		cr_assert_eq(bridge_double()->command("driver_version 12020"), 0);
		cr_assert_eq(sycl_graph_add(graph, bridge_node_handler(&node, shared, NULL), 0,
					    NULL, NULL),
			     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
		cr_assert_not_null(
			strstr(sycl_get_last_error_text(), "cuStreamBeginCaptureToGraph"));
		cr_assert_eq(bridge_double()->command("driver_version 13000"), 0);
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

/* An update compares nodes that launch kernels; the function is not called again. */
Test(gpu_bridge_graphs, L13_K15_S8_an_update_leaves_the_node_as_it_is)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_node node = {.test = &test, .way = CAPTURES};
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	properties.flags = SYCL_GRAPH_UPDATABLE;
	const uint32_t value = 1;
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	sycl_graph graph = bridge_graph(&test), unlike = bridge_graph(&test);
	sycl_graph_node added = 0;
	sycl_handler handler = NULL;
	sycl_executable_graph executable = NULL;
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 0));
	MUST(sycl_graph_add(graph, bridge_node_handler(&node, buffer, NULL), 0, NULL, &added));
	bridge_graph_increments(&test, graph, buffer);
	MUST(sycl_graph_finalize(graph, &properties, &executable));
	cr_assert_eq(sycl_graph_node_set_value(graph, added, 0, sizeof(value), &value),
		     SYCL_ERROR_INVALID);
	cr_assert_eq(sycl_executable_graph_update(executable, graph, 1, &added),
		     SYCL_ERROR_INVALID);
	/* A host task is not a native command, though both are the same for the service. */
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task(handler, do_nothing, NULL, NULL));
	MUST(sycl_graph_add(unlike, handler, 0, NULL, NULL));
	bridge_graph_increments(&test, unlike, buffer);
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
static sycl_result bridge_graphs_increment_here(sycl_host_task task, void *user_data)
{
	struct bridge_node *node = user_data;
	CUcontext popped = NULL;
	MUST(sycl_host_task_get_native_queue(task, SYCL_BACKEND_KIND_CUDA, &node->queue));
	MUST(sycl_host_task_get_native_memory(task, SYCL_BACKEND_KIND_CUDA, 0, &node->memories[0]));
	CUdeviceptr out = node->memories[0];
	void *parameters[] = {&out};
	CUstream stream = (CUstream)node->queue; /* NOLINT(performance-no-int-to-ptr) */
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(node->test->context));
	bridge_node_launch(node->test->increment, stream, parameters);
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(stream));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	atomic_fetch_add(&node->calls, 1);
	return SYCL_SUCCESS;
}

Test(gpu_bridge_graphs, I13_I14_L8_S8_a_native_host_task_is_a_node_that_each_launch_runs)
{
	struct bridge_test test;
	bridge_begin(&test, 0);
	struct bridge_node node = {.test = &test};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	sycl_handler handler = NULL;
	sycl_graph graph = bridge_graph(&test);
	sycl_executable_graph executable = NULL;
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 0));
	bridge_graph_increments(&test, graph, buffer);
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task_native(handler, bridge_graphs_increment_here, &node,
					   bridge_node_ended));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	bridge_graph_increments(&test, graph, buffer);
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
