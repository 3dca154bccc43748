/* Nodes and edges: the order of nodes, and that no graph contains a cycle (L7). */
#include "library/graph.h"

TestSuite(graph_nodes, .timeout = 120, .init = portable_begin, .fini = portable_end);

Test(graph_nodes, L7_accessors_make_edges_as_between_groups)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    copy = portable_kernel(queue, "copy_u32");
	sycl_buffer a = plain_buffer(platform), b = plain_buffer(platform),
		    c = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	sycl_buffer targets[2] = {b, c};
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, a, 1), 0, NULL,
			    NULL));   /* 1 writes a */
	for (int i = 0; i < 2; i++) { /* 2 and 3 read it */
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, targets[i], SYCL_ACCESS_WRITE));
		MUST(sycl_handler_set_accessor(handler, 1, a, SYCL_ACCESS_READ));
		MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
		MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	}
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, a, 2), 0, NULL,
			    NULL)); /* 4 writes it again */
	cr_assert(eq(u32, count_predecessors(graph, 2), 1));
	cr_assert(eq(u32, count_predecessors(graph, 3), 1));
	cr_assert(comes_behind(graph, 2, 1));
	cr_assert(comes_behind(graph, 3, 1));
	cr_assert(comes_behind(graph, 4, 2));
	cr_assert(comes_behind(graph, 4, 3));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	cr_assert(words_are(a, 2));
	cr_assert(words_are(b, 1));
	cr_assert(words_are(c, 1));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(a));
	MUST(sycl_buffer_release(b));
	MUST(sycl_buffer_release(c));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
}

static void add_part_fill(sycl_graph graph, sycl_buffer part)
{
	uint32_t word = 7;
	sycl_handler handler = NULL;
	uint64_t bytes = 0;
	MUST(sycl_buffer_get_size(part, &bytes));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, part, 0, bytes, &word, sizeof(word)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
}

Test(graph_nodes, L7_C8_parts_that_do_not_overlap_make_no_edge)
{
	sycl_buffer buffer = plain_buffer(platform), left = NULL, right = NULL, middle = NULL;
	sycl_graph graph = graph_for(queue);
	MUST(sycl_buffer_create_sub(buffer, 0, 1024, &left));
	MUST(sycl_buffer_create_sub(buffer, 1024, 1024, &right));
	MUST(sycl_buffer_create_sub(buffer, 512, 1024, &middle));
	add_part_fill(graph, left);
	add_part_fill(graph, right);
	add_part_fill(graph, middle);
	add_part_fill(graph, buffer);
	cr_assert(eq(u32, count_predecessors(graph, 2), 0));
	cr_assert(comes_behind(graph, 3, 1));
	cr_assert(comes_behind(graph, 3, 2));
	cr_assert(comes_behind(graph, 4, 1));
	cr_assert(comes_behind(graph, 4, 2));
	cr_assert(comes_behind(graph, 4, 3));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(left));
	MUST(sycl_buffer_release(right));
	MUST(sycl_buffer_release(middle));
	MUST(sycl_buffer_release(buffer));
}

/* Records when it was called. */
struct step {
	uint32_t *clock;
	uint32_t when;
};

static sycl_result note_step(sycl_host_task task, void *user_data)
{
	struct step *step = user_data;
	(void)task;
	step->when = ++*step->clock;
	return SYCL_SUCCESS;
}

Test(graph_nodes, L7_edges_made_by_hand_order_and_a_cycle_is_refused)
{
	enum { NODES = 6 };
	sycl_graph graph = graph_for(queue);
	uint32_t clock = 0, count = 0;
	struct step steps[NODES];
	sycl_graph_node nodes[NODES], found[4];
	for (int i = 0; i < NODES; i++) {
		sycl_handler handler = NULL;
		steps[i] = (struct step){&clock, 0};
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_host_task(handler, note_step, &steps[i], NULL));
		MUST(sycl_graph_add(graph, handler, 0, NULL, &nodes[i]));
		cr_assert(eq(u32, nodes[i], (uint32_t)i + 1));
	}
	/* Backwards: 6 before 5 before ... 1. */
	for (int i = NODES - 1; i > 0; i--)
		MUST(sycl_graph_make_edge(graph, nodes[i], nodes[i - 1]));
	MUST(sycl_graph_make_edge(graph, nodes[1], nodes[0])); /* again */
	REFUSED(sycl_graph_make_edge(graph, nodes[0], nodes[NODES - 1]), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_make_edge(graph, nodes[2], nodes[2]), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_make_edge(graph, nodes[0], nodes[1]), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_make_edge(graph, 0, nodes[1]), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_make_edge(graph, nodes[1], NODES + 1), SYCL_ERROR_INVALID);
	cr_assert(eq(u32, count_predecessors(graph, nodes[NODES - 1]), 0));
	MUST(sycl_graph_node_get_successors(graph, nodes[3], 4, found, &count));
	cr_assert(eq(u32, count, 1));
	cr_assert(eq(u32, found[0], nodes[2]));
	sycl_executable_graph executable = finalized(graph, 0);
	launch_and_wait(queue, executable);
	for (uint32_t i = 0; i < NODES; i++)
		cr_assert(eq(u32, steps[i].when, NODES - i));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
}

Test(graph_nodes, L7_a_node_behind_an_empty_one_waits_for_all_before_it)
{
	sycl_graph graph = graph_for(queue);
	uint32_t clock = 0;
	struct step steps[4];
	sycl_graph_node nodes[4], joint = 0;
	sycl_graph_node_type type = SYCL_GRAPH_NODE_KERNEL;
	for (int i = 0; i < 4; i++) {
		sycl_handler handler = NULL;
		steps[i] = (struct step){&clock, 0};
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_host_task(handler, note_step, &steps[i], NULL));
		if (i == 3)
			MUST(sycl_graph_add_empty(graph, 3, nodes, &joint));
		MUST(sycl_graph_add(graph, handler, i == 3, &joint, &nodes[i]));
	}
	cr_assert(eq(u32, count_predecessors(graph, joint), 3));
	MUST(sycl_graph_node_get_type(graph, joint, &type));
	cr_assert(eq(int, (int)type, SYCL_GRAPH_NODE_EMPTY));
	MUST(sycl_graph_node_get_type(graph, nodes[0], &type));
	cr_assert(eq(int, (int)type, SYCL_GRAPH_NODE_HOST_TASK));
	REFUSED(sycl_graph_node_get_type(graph, 99, &type), SYCL_ERROR_INVALID);
	sycl_graph_node wrong = 99;
	REFUSED(sycl_graph_add_empty(graph, 1, &wrong, NULL), SYCL_ERROR_INVALID);
	sycl_executable_graph executable = finalized(graph, 0);
	for (int round = 0; round < 5; round++) {
		clock = 0;
		launch_and_wait(queue, executable);
		cr_assert(eq(u32, steps[3].when, 4));
	}
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
}

Test(graph_nodes, L7_a_wide_graph_of_many_pieces)
{
	enum { WIDTH = 700 }; /* more edges into one node than fit into its record */
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	static sycl_graph_node nodes[WIDTH];
	sycl_graph_node first = 0, last = 0;
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, 5), 0, NULL, &first));
	for (int i = 0; i < WIDTH; i++)
		MUST(sycl_graph_add_empty(graph, 1, &first, &nodes[i]));
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), WIDTH, nodes,
			    &last));
	cr_assert(eq(u32, count_predecessors(graph, last), WIDTH + 1));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	cr_assert(words_are(buffer, 6));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}
