/* Graphs and USM, on devices with USM (L2). */
#include "library/graph.h"

TestSuite(graph_usm, .timeout = 120, .init = portable_begin, .fini = portable_end);

Test(graph_usm, L2_what_is_done_with_unified_memory_is_recorded_too)
{
	sycl_queue in_order = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_graph graph = graph_for(queue);
	void *device = NULL, *host = NULL;
	uint32_t word = 40, words[4];
	if (sycl_malloc_host(in_order, WORDS_BYTES, 0, &host) == SYCL_ERROR_FEATURE_NOT_SUPPORTED)
		cr_skip_test("no host USM");
	MUST(sycl_malloc_device(in_order, WORDS_BYTES, 0, &device));
	uint32_t *seen = host;
	for (int i = 0; i < WORDS; i++)
		seen[i] = 1;
	MUST(sycl_graph_begin_recording(graph, 1, &in_order));
	MUST(sycl_queue_usm_fill(in_order, device, WORDS_BYTES, &word, sizeof(word), 0, NULL,
				 NULL));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(in_order, &handler));
	MUST(sycl_handler_set_usm(handler, 0, device));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_memcpy(in_order, host, device, WORDS_BYTES, 0, NULL, NULL));
	/* The program's own memory is refused, and a refused call records nothing. */
	REFUSED(sycl_queue_memcpy(in_order, words, device, sizeof(words), 0, NULL, NULL),
		SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert(eq(u32, count_nodes(graph), 3));
	sycl_executable_graph executable = finalized(graph, 0);
	cr_assert(eq(u32, seen[0], 1));
	for (int round = 0; round < 3; round++) {
		seen[WORDS - 1] = 0;
		launch_and_wait(queue, executable);
		for (int i = 0; i < WORDS; i++)
			cr_assert(eq(u32, seen[i], 41));
	}
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_free(in_order, device));
	MUST(sycl_free(in_order, host));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(in_order));
}

/* USM orders nothing, so the test makes the edges. */
Test(graph_usm, R4_a_condition_may_be_a_word_in_unified_memory)
{
	enum { TURNS = 6 };
	sycl_device on = NULL;
	void *word = NULL;
	uint32_t has = 0, start = 0u - TURNS;
	MUST(sycl_queue_get_device(queue, &on));
	MUST(sycl_device_has(on, SYCL_ASPECT_EXT_GRAPH_CONDITIONS, &has));
	MUST(sycl_device_release(on));
	if (!has || sycl_malloc_device(queue, sizeof(start), 0, &word) ==
			    SYCL_ERROR_FEATURE_NOT_SUPPORTED) {
		portable_end();
		cr_skip_test("the device has no conditions, or no device USM");
	}
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_graph inner = graph_for(queue), graph = graph_for(queue);
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_handler handler = NULL;
	sycl_graph_node node = 0;
	MUST(sycl_graph_add(inner, increment_handler(queue, increment, buffer), 0, NULL, NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, word));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(1)));
	MUST(sycl_graph_add(inner, handler, 0, NULL, NULL));
	sycl_executable_graph body = finalized(inner, 0);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_usm_fill(handler, word, sizeof(start), &start, sizeof(start)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, &node));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_graph_conditional_usm(handler, SYCL_GRAPH_CONDITION_WHILE, word, body));
	MUST(sycl_graph_add(graph, handler, 1, &node, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	for (uint32_t i = 1; i <= 3; i++) {
		launch_and_wait(queue, executable);
		cr_assert(words_copied_are(queue, buffer, i * TURNS));
	}
	MUST(sycl_executable_graph_release(body));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(inner));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_free(queue, word));
	MUST(sycl_kernel_release(increment));
}
