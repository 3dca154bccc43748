/* Temporaries of graphs: memory that the kernels of a launch share, and that nothing else can
 * read. */
#include "library/graph.h"

#include "syclclient/share.h"

TestSuite(graph_temporary, .timeout = 120, .init = portable_begin, .fini = portable_end);

static sycl_buffer temporary(uint64_t size_bytes)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create_temporary(platform, size_bytes, &buffer));
	return buffer;
}

static void add_fill(sycl_graph graph, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
		     sycl_graph_node *node_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, node_out));
}

static void graph_temporary_add_copy(sycl_graph graph, sycl_kernel copy, sycl_buffer to,
				     sycl_buffer from)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, to, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
}

static void graph_temporary_add_increment(sycl_graph graph, sycl_kernel increment,
					  sycl_buffer buffer)
{
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), 0, NULL, NULL));
}

/* result = value + 1, by way of two temporaries. */
static sycl_executable_graph two_steps(sycl_buffer first, sycl_buffer second, sycl_buffer result,
				       uint32_t value, uint32_t flags, sycl_graph *graph_out,
				       sycl_graph_node *node_out)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    copy = portable_kernel(queue, "copy_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_graph graph = graph_for(queue);
	add_fill(graph, fill, first, value, node_out);
	graph_temporary_add_copy(graph, copy, second, first);
	graph_temporary_add_increment(graph, increment, second);
	graph_temporary_add_copy(graph, copy, result, second);
	sycl_executable_graph executable = finalized(graph, flags);
	if (graph_out)
		*graph_out = graph;
	else
		MUST(sycl_graph_release(graph));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
	MUST(sycl_kernel_release(increment));
	return executable;
}

Test(graph_temporary, L7_each_launch_hands_its_own_contents_on)
{
	sycl_buffer first = temporary(WORDS_BYTES), second = temporary(WORDS_BYTES),
		    result = plain_buffer(platform);
	sycl_executable_graph executable = two_steps(first, second, result, 41, 0, NULL, NULL);
	for (int i = 0; i < 20; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
	cr_assert(words_are(result, 42));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	MUST(sycl_buffer_release(result));
}

/* The graph has its own memory for it, so the program may release its last handle first. */
Test(graph_temporary, L16_D16_a_graph_keeps_its_temporaries)
{
	sycl_buffer first = temporary(WORDS_BYTES), second = temporary(WORDS_BYTES),
		    result = plain_buffer(platform);
	sycl_executable_graph executable = two_steps(first, second, result, 6, 0, NULL, NULL);
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	launch_and_wait(queue, executable);
	MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_executable_graph_release(executable)); /* the launch goes on */
	MUST(sycl_queue_wait(queue));
	cr_assert(words_are(result, 7));
	MUST(sycl_buffer_release(result));
}

Test(graph_temporary, L9_graphs_with_the_same_temporary_do_not_mix_contents)
{
	enum { GRAPHS = 4, ROUNDS = 25 };
	sycl_buffer first = temporary(WORDS_BYTES), second = temporary(WORDS_BYTES),
		    results[GRAPHS];
	sycl_executable_graph graphs[GRAPHS];
	for (uint32_t i = 0; i < GRAPHS; i++) {
		results[i] = plain_buffer(platform);
		graphs[i] = two_steps(first, second, results[i], 100 * i, 0, NULL, NULL);
	}
	for (int round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < GRAPHS; i++)
			MUST(sycl_queue_graph(queue, graphs[i], 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
	for (uint32_t i = 0; i < GRAPHS; i++) {
		cr_assert(words_are(results[i], 100 * i + 1));
		MUST(sycl_executable_graph_release(graphs[i]));
		MUST(sycl_buffer_release(results[i]));
	}
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
}

Test(graph_temporary, L13_changes_of_nodes_that_use_temporaries)
{
	sycl_buffer first = temporary(WORDS_BYTES), second = temporary(WORDS_BYTES),
		    third = temporary(WORDS_BYTES), result = plain_buffer(platform);
	sycl_graph graph = NULL;
	sycl_graph_node node = 0;
	sycl_executable_graph executable =
		two_steps(first, second, result, 1, SYCL_GRAPH_UPDATABLE, &graph, &node);
	launch_and_wait(queue, executable);
	for (uint32_t value = 2; value < 8; value++) {
		MUST(sycl_graph_node_set_value(graph, node, 1, sizeof(value), &value));
		MUST(sycl_executable_graph_update(executable, graph, 1, &node));
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	}
	MUST(sycl_queue_wait(queue));
	/* Another temporary, for the two nodes that use the first; nodes are numbered from 1. */
	sycl_graph_node nodes[2] = {node, node + 1};
	MUST(sycl_graph_node_set_accessor(graph, nodes[0], 0, third, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_graph_node_set_accessor(graph, nodes[1], 1, third, SYCL_ACCESS_READ));
	MUST(sycl_executable_graph_update(executable, graph, 2, nodes));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, result, 8));
	/* Launches are in flight meanwhile: some run as one command, some node by node. */
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t value = 100 + i;
		sycl_buffer other = i % 2 ? third : first;
		MUST(sycl_graph_node_set_accessor(graph, nodes[0], 0, other,
						  SYCL_ACCESS_WRITE_NO_INIT));
		MUST(sycl_graph_node_set_value(graph, nodes[0], 1, sizeof(value), &value));
		MUST(sycl_graph_node_set_accessor(graph, nodes[1], 1, other, SYCL_ACCESS_READ));
		MUST(sycl_executable_graph_update(executable, graph, 2, nodes));
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	}
	MUST(sycl_queue_wait(queue));
	cr_assert(words_copied_are(queue, result, 112));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	MUST(sycl_buffer_release(third));
	MUST(sycl_buffer_release(result));
}

Test(graph_temporary, L7_C8_parts_views_fills_and_copies)
{
	sycl_buffer whole = temporary(2ull * WORDS_BYTES), half[2], view = NULL, results[2];
	sycl_graph graph = graph_for(queue);
	for (uint64_t i = 0; i < 2; i++) {
		MUST(sycl_buffer_create_sub(whole, i * WORDS_BYTES, WORDS_BYTES, &half[i]));
		results[i] = plain_buffer(platform);
	}
	MUST(sycl_buffer_reinterpret(half[1], 4, sycl_range1(WORDS), &view));
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t word = 11 + i;
		MUST(sycl_queue_fill(queue, half[i], 0, WORDS_BYTES, &word, sizeof(word), NULL));
	}
	MUST(sycl_queue_copy(queue, whole, 0, results[0], 0, WORDS_BYTES, NULL));
	MUST(sycl_queue_copy(queue, view, 0, results[1], 0, WORDS_BYTES, NULL));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	launch_and_wait(queue, executable);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert(words_are(results[i], 11 + i));
		MUST(sycl_buffer_release(half[i]));
		MUST(sycl_buffer_release(results[i]));
	}
	MUST(sycl_buffer_release(view));
	MUST(sycl_buffer_release(whole));
	MUST(sycl_executable_graph_release(executable));
}

/* Such a graph is launched node by node everywhere. */
Test(graph_temporary, L12_beside_host_tasks)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    copy = portable_kernel(queue, "copy_u32");
	sycl_buffer buffer = temporary(WORDS_BYTES), result = plain_buffer(platform);
	_Atomic uint32_t count = 0;
	sycl_handler handler = NULL;
	sycl_graph graph = graph_for(queue);
	add_fill(graph, fill, buffer, 9, NULL);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, count_task, &count, NULL));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	graph_temporary_add_copy(graph, copy, result, buffer);
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	for (int i = 0; i < 5; i++)
		launch_and_wait(queue, executable);
	cr_assert(eq(u32, count, 5));
	cr_assert(words_are(result, 9));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(result));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
}

Test(graph_temporary, L14_a_graph_in_a_graph_has_memory_of_its_own)
{
	sycl_buffer first = temporary(WORDS_BYTES), second = temporary(WORDS_BYTES),
		    result = plain_buffer(platform);
	sycl_executable_graph inner = two_steps(first, second, result, 20, 0, NULL, NULL);
	sycl_graph outer = graph_for(queue);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_graph(handler, inner));
	MUST(sycl_graph_add(outer, handler, 0, NULL, NULL));
	sycl_executable_graph executable = finalized(outer, 0);
	MUST(sycl_graph_release(outer));
	launch_and_wait(queue, executable);
	MUST(sycl_executable_graph_release(inner));
	launch_and_wait(queue, executable);
	cr_assert(words_are(result, 21));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	MUST(sycl_buffer_release(result));
}

Test(graph_temporary, L7_contents_that_no_node_has_written_are_refused)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    copy = portable_kernel(queue, "copy_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = temporary(WORDS_BYTES), result = plain_buffer(platform), half = NULL;
	sycl_executable_graph executable = NULL;
	sycl_graph graph = graph_for(queue);
	graph_temporary_add_copy(graph, copy, result, buffer); /* read first */
	REFUSED(sycl_graph_finalize(graph, NULL, &executable), SYCL_ERROR_INVALID);
	MUST(sycl_graph_release(graph));
	graph = graph_for(queue);
	graph_temporary_add_increment(graph, increment,
				      buffer); /* it keeps words that no node wrote */
	REFUSED(sycl_graph_finalize(graph, NULL, &executable), SYCL_ERROR_INVALID);
	MUST(sycl_graph_release(graph));
	graph = graph_for(queue);
	uint32_t word = 1;
	sycl_handler handler = NULL;
	MUST(sycl_buffer_create_sub(buffer, 0, WORDS_BYTES / 2, &half));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, half, 0, WORDS_BYTES / 2, &word, sizeof(word)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	graph_temporary_add_copy(graph, copy, result, buffer); /* half of it was written */
	REFUSED(sycl_graph_finalize(graph, NULL, &executable), SYCL_ERROR_INVALID);
	MUST(sycl_graph_release(graph));
	graph = graph_for(queue);
	add_fill(graph, fill, buffer, 1, NULL);
	graph_temporary_add_copy(graph, copy, result, buffer);
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(half));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(result));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
	MUST(sycl_kernel_release(increment));
}

static sycl_result graph_temporary_do_nothing(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_SUCCESS;
}

Test(graph_temporary, L11_a_temporary_is_for_nodes_on_the_device_alone)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = temporary(WORDS_BYTES), part = NULL;
	sycl_host_accessor accessor = NULL;
	sycl_handler handler = NULL;
	sycl_graph graph = graph_for(queue);
	uint32_t words[WORDS] = {0}, word = 0;
	MUST(sycl_buffer_create_sub(buffer, 0, WORDS_BYTES / 2, &part));
	/* A temporary is refused outside of a graph. */
	REFUSED(sycl_handler_submit(fill_handler(queue, fill, buffer, 1), NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_fill(queue, part, 0, 16, &word, sizeof(word), NULL), SYCL_ERROR_INVALID);
	/* The host cannot access it. */
	REFUSED(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_accessor_create(part, SYCL_ACCESS_WRITE_NO_INIT, &accessor),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_set_final_data(buffer, words), SYCL_ERROR_INVALID);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	REFUSED(sycl_queue_copy_to_host(queue, buffer, 0, words, WORDS_BYTES, NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_copy_from_host(queue, words, buffer, 0, WORDS_BYTES, NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_update_host(queue, buffer, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_host_task(handler, graph_temporary_do_nothing, NULL, NULL));
	REFUSED(sycl_graph_add(graph, handler, 0, NULL, NULL), SYCL_ERROR_INVALID);
	cr_assert(eq(u32, count_nodes(graph), 0));
	/* It cannot be shared with other processes. */
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	REFUSED(sycl_buffer_export(buffer, &shared), SYCL_ERROR_INVALID);
	REFUSED(sycl_buffer_create_temporary(platform, 16, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

Test(graph_temporary, C16_without_bytes_it_only_orders)
{
	sycl_buffer buffer = temporary(0);
	sycl_graph graph = graph_for(queue);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
}
