/* Graphs and USM, on devices that have some (L2). */
#include "client_graph.h"

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
	MUST(sycl_queue_usm_fill(in_order, device, WORDS_BYTES, &word, sizeof(word), 0, NULL, NULL));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(in_order, &handler));
	MUST(sycl_handler_set_usm(handler, 0, device));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_memcpy(in_order, host, device, WORDS_BYTES, 0, NULL, NULL));
	/* The program's own memory is another matter, and nothing is recorded of what is refused. */
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
