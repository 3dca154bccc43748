/* Updates of executable graphs (L13). */
#include "library/graph.h"

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
	sycl_executable_graph fixed = finalized(graph, 0),
			      executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, 1), 0, NULL, &late));
	REFUSED(sycl_executable_graph_update(fixed, graph, 1, &node), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update_whole(fixed, graph), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, other, 1, &node), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, graph, 1, &empty), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, graph, 1, &late), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update(executable, graph, 1, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_update_whole(executable, graph),
		SYCL_ERROR_INVALID); /* it now has one more node */
	REFUSED(sycl_executable_graph_update_whole(executable, other), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_set_value(graph, empty, 0, sizeof(value), &value),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_set_value(graph, 77, 0, sizeof(value), &value), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_set_value(graph, node, 5, sizeof(value), &value),
		SYCL_ERROR_KERNEL_ARGUMENT);
	REFUSED(sycl_graph_node_set_value(graph, node, 1, sizeof(wide), &wide),
		SYCL_ERROR_KERNEL_ARGUMENT);
	REFUSED(sycl_graph_node_set_accessor(graph, node, 1, buffer, SYCL_ACCESS_READ),
		SYCL_ERROR_KERNEL_ARGUMENT);
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

static sycl_graph recorded(sycl_kernel fill, sycl_kernel increment, sycl_buffer buffer,
			   uint32_t value)
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
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer first = plain_buffer(platform), second = plain_buffer(platform);
	sycl_graph one = recorded(fill, increment, first, 10),
		   two = recorded(fill, increment, second, 20);
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

/* Fills `buffer` with `value` and adds 1 twice. Returns the three nodes. */
static sycl_graph three_nodes(sycl_kernel fill, sycl_kernel increment, sycl_buffer buffer,
			      uint32_t value, sycl_graph_node nodes[3])
{
	sycl_graph graph = graph_for(queue);
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, value), 0, NULL, &nodes[0]));
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), 0, NULL,
			    &nodes[1]));
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), 0, NULL,
			    &nodes[2]));
	return graph;
}

Test(graph_update, R3_a_disabled_node_does_nothing_until_it_is_enabled_again)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_graph_node nodes[3];
	sycl_graph graph = three_nodes(fill, increment, buffer, 10, nodes);
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	uint32_t enabled = 0;
	MUST(sycl_executable_graph_is_node_enabled(executable, graph, nodes[1], &enabled));
	cr_assert(eq(u32, enabled, 1));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[1], 0));
	MUST(sycl_executable_graph_is_node_enabled(executable, graph, nodes[1], &enabled));
	cr_assert(eq(u32, enabled, 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 11));
	/* The buffer that it would write is unchanged. */
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[0], 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[2], 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12), "a graph of which nothing is enabled");
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[0], 1));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[1], 2));
	MUST(sycl_executable_graph_is_node_enabled(executable, graph, nodes[1], &enabled));
	cr_assert(eq(u32, enabled, 1));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 11));
	/* An update of a disabled node takes effect when the node is enabled. */
	const uint32_t value = 20;
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[0], 0));
	MUST(sycl_graph_node_set_value(graph, nodes[0], 1, sizeof(value), &value));
	MUST(sycl_executable_graph_update(executable, graph, 1, &nodes[0]));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[0], 1));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 21));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

/* An earlier launch does not change, and no call waits for it. */
Test(graph_update, R3_nodes_are_disabled_in_order_with_launches)
{
	enum { TURNS = 40 };
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_graph_node nodes[3];
	sycl_graph graph = three_nodes(fill, increment, buffer, 0, nodes);
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[0], 0));
	for (int i = 0; i < TURNS; i++) {
		MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[2], i % 2));
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	}
	cr_assert(words_copied_are(queue, buffer, TURNS + TURNS / 2));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

static sycl_result graph_update_count_call(sycl_host_task task, void *user_data)
{
	(void)task;
	(*(uint32_t *)user_data)++;
	return SYCL_SUCCESS;
}

/* A graph with a host task is not a graph of its device. */
Test(graph_update, R3_nodes_are_disabled_where_they_go_one_by_one)
{
	uint32_t calls = 0;
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_graph_node nodes[3];
	sycl_graph graph = three_nodes(fill, increment, buffer, 10, nodes);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, graph_update_count_call, &calls, NULL));
	MUST(sycl_graph_add(graph, handler, 1, &nodes[2], NULL));
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[1], 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 11));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[0], 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12), "what it would write is as it was");
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[2], 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12));
	for (int i = 0; i < 3; i++)
		MUST(sycl_executable_graph_set_node_enabled(executable, graph, nodes[i], 1));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 12));
	cr_assert(eq(u32, calls, 5), "what comes behind disabled nodes runs");
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

/* Copies and fills as kernels: `to` gets `from`, its first half then a pattern. */
Test(graph_update, R3_copies_and_fills_are_disabled_as_kernels_are)
{
	const uint32_t pattern = 9;
	sycl_buffer from = words_buffer(platform, 5), to = words_buffer(platform, 1);
	sycl_graph graph = graph_for(queue);
	sycl_graph_node copy = 0, fill = 0;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_copy(handler, from, 0, to, 0, WORDS_BYTES));
	MUST(sycl_graph_add(graph, handler, 0, NULL, &copy));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, to, 0, WORDS_BYTES, &pattern, sizeof(pattern)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, &fill));
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, to, 9));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, fill, 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, to, 5));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, fill, 1));
	launch_and_wait(queue, executable);
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, copy, 0));
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, fill, 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, to, 9));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
}

Test(graph_update, R3_what_cannot_be_disabled_is_refused)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_graph graph = graph_for(queue), other = graph_for(queue);
	sycl_graph_node node = 0, empty = 0, late = 0;
	uint32_t enabled = 7;
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, 1), 0, NULL, &node));
	MUST(sycl_graph_add_empty(graph, 0, NULL, &empty));
	MUST(sycl_graph_add_empty(other, 0, NULL, NULL));
	sycl_executable_graph fixed = finalized(graph, 0),
			      executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, 1), 0, NULL, &late));
	REFUSED(sycl_executable_graph_set_node_enabled(fixed, graph, node, 0), SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_set_node_enabled(executable, other, node, 0),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_set_node_enabled(executable, graph, empty, 0),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_set_node_enabled(executable, graph, late, 0),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_set_node_enabled(executable, graph, 0, 0),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_set_node_enabled(executable, graph, 77, 0),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_is_node_enabled(executable, graph, empty, &enabled),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_executable_graph_is_node_enabled(executable, graph, node, NULL),
		SYCL_ERROR_INVALID);
	cr_assert(eq(u32, enabled, 7));
	MUST(sycl_executable_graph_is_node_enabled(fixed, graph, node, &enabled));
	cr_assert(eq(u32, enabled, 1));
	launch_and_wait(queue, executable);
	MUST(sycl_executable_graph_release(fixed));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_graph_release(other));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}
