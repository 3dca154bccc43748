/* Updates of executable graphs (L13). */
#include "client_graph.h"

TestSuite(graph_update, .timeout = 120, .init = portable_begin, .fini = portable_end);

Test(graph_update, L13_values_buffers_and_ranges_change_from_the_next_launch_on)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer first = words_buffer(platform, 0), second = words_buffer(platform, 0);
	sycl_graph graph = graph_for(queue);
	sycl_graph_node node = 0;
	uint32_t value = 2, updatable = 0;
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, first, 1), 0, NULL, &node));
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	MUST(sycl_executable_graph_is_updatable(executable, &updatable));
	cr_assert(eq(u32, updatable, 1));
	launch_and_wait(queue, executable);
	MUST(sycl_graph_node_set_value(graph, node, 1, sizeof(value), &value));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, first, 1), "it changed without an update");
	MUST(sycl_executable_graph_update(executable, graph, 1, &node));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, first, 2));

	value = 3;
	MUST(sycl_graph_node_set_value(graph, node, 1, sizeof(value), &value));
	MUST(sycl_graph_node_set_accessor(graph, node, 0, second, SYCL_ACCESS_WRITE));
	/* Launched before the update, and not waited for. */
	for (int i = 0; i < 20; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_executable_graph_update(executable, graph, 1, &node));
	cr_assert(words_copied_are(queue, first, 2));
	cr_assert(words_copied_are(queue, second, 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, second, 3));
	cr_assert(words_copied_are(queue, first, 2));

	sycl_range none = sycl_range1(0), all = sycl_range1(WORDS);
	value = 4;
	MUST(sycl_graph_node_set_value(graph, node, 1, sizeof(value), &value));
	MUST(sycl_graph_node_update_range(graph, node, &none, NULL));
	MUST(sycl_executable_graph_update(executable, graph, 1, &node));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, second, 3), "a range of nothing wrote");
	MUST(sycl_graph_node_update_range(graph, node, &all, NULL));
	MUST(sycl_executable_graph_update(executable, graph, 1, &node));
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	cr_assert(words_are(second, 4));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	MUST(sycl_kernel_release(fill));
}

Test(graph_update, L13_what_cannot_be_updated_is_refused)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue), other = graph_for(queue);
	sycl_graph_node node = 0, empty = 0, late = 0;
	uint32_t value = 2;
	uint64_t wide = 2;
	sycl_range one = sycl_range1(1), plane = sycl_range2(2, 2);
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, 1), 0, NULL, &node));
	MUST(sycl_graph_add_empty(graph, 0, NULL, &empty));
	MUST(sycl_graph_add_empty(other, 0, NULL, NULL));
	sycl_executable_graph fixed = finalized(graph, 0), executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, 1), 0, NULL, &late));
	REFUSED(sycl_executable_graph_update(fixed, graph, 1, &node), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update_whole(fixed, graph), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, other, 1, &node), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, graph, 1, &empty), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, graph, 1, &late), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, graph, 1, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update_whole(executable, graph),
		SYCL_ERROR_INVALID); /* it has one node more now */
	REFUSED(sycl_executable_graph_update_whole(executable, other), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_set_value(graph, empty, 0, sizeof(value), &value), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_set_value(graph, 77, 0, sizeof(value), &value), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_set_value(graph, node, 5, sizeof(value), &value), SYCL_ERROR_KERNEL_ARGUMENT);
	REFUSED(sycl_graph_node_set_value(graph, node, 1, sizeof(wide), &wide), SYCL_ERROR_KERNEL_ARGUMENT);
	REFUSED(sycl_graph_node_set_accessor(graph, node, 1, buffer, SYCL_ACCESS_READ), SYCL_ERROR_KERNEL_ARGUMENT);
	REFUSED(sycl_graph_node_update_range(graph, node, &plane, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_update_range(graph, node, &one, &one), SYCL_ERROR_INVALID);
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 1));
	MUST(sycl_executable_graph_release(fixed));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_graph_release(other));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

static sycl_graph recorded(sycl_kernel fill, sycl_kernel increment, sycl_buffer buffer, uint32_t value)
{
	sycl_graph graph = graph_for(queue);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	send_fill(queue, fill, buffer, value, NULL);
	run_increment(queue, increment, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	return graph;
}

Test(graph_update, L13_a_whole_graph_takes_over_another_that_is_alike)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"), increment = portable_kernel(queue, "increment_u32");
	sycl_buffer first = plain_buffer(platform), second = plain_buffer(platform);
	sycl_graph one = recorded(fill, increment, first, 10), two = recorded(fill, increment, second, 20);
	send_fill(queue, fill, second, 1, NULL);
	sycl_executable_graph executable = finalized(one, SYCL_GRAPH_UPDATABLE);
	launch_and_wait(queue, executable);
	MUST(sycl_executable_graph_update_whole(executable, two));
	MUST(sycl_graph_release(one));
	MUST(sycl_graph_release(two));
	cr_assert(words_are(first, 11));
	cr_assert(words_are(second, 1));
	launch_and_wait(queue, executable);
	cr_assert(words_are(first, 11));
	cr_assert(words_are(second, 21));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}
