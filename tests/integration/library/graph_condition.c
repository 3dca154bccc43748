/* IF and WHILE nodes (R4), on every backend. If the device has none, the call fails at once. */
#include "library/graph.h"

TestSuite(graph_conditions, .timeout = 120, .init = portable_begin, .fini = portable_end);

static bool has_conditions(void)
{
	sycl_device device = NULL;
	uint32_t has = 0;
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_device_has(device, SYCL_ASPECT_EXT_GRAPH_CONDITIONS, &has));
	MUST(sycl_device_release(device));
	return has != 0;
}

/* A skipped test does not run its .fini. An engine in its process would still work while the
 * process ends. */
#define NEEDS_CONDITIONS()                                                                         \
	do {                                                                                       \
		if (!has_conditions()) {                                                           \
			portable_end();                                                            \
			cr_skip_test("the device's graphs have no conditions");                    \
		}                                                                                  \
	} while (0)

/* Returns a group that runs the kernel over the first word. */
static sycl_handler count_handler(sycl_kernel increment, sycl_buffer words)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, words, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(1)));
	return handler;
}

static sycl_handler conditional(sycl_graph_condition_type type, sycl_buffer words,
				sycl_executable_graph body)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_graph_conditional(handler, type, words, 0, body));
	return handler;
}

static void graph_condition_add_node(sycl_graph graph, sycl_handler handler,
				     sycl_graph_node *node_out)
{
	MUST(sycl_graph_add(graph, handler, 0, NULL, node_out));
}

/* Ends the graph. */
static sycl_executable_graph made_of(sycl_graph graph)
{
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	return executable;
}

static void graph_condition_set_words(sycl_buffer words, uint32_t value)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, words, 0, WORDS_BYTES, &value, sizeof(value)));
	MUST(sycl_handler_submit(handler, NULL));
}

/* One increment of `buffer`. */
static sycl_executable_graph body_of(sycl_kernel increment, sycl_buffer buffer)
{
	sycl_graph graph = graph_for(queue);
	graph_condition_add_node(graph, increment_handler(queue, increment, buffer), NULL);
	return made_of(graph);
}

Test(graph_conditions, R4_an_if_node_runs_its_body_where_the_word_is_not_0)
{
	static const uint32_t values[] = {0, 1, 0, 0x80000000u, 0};
	NEEDS_CONDITIONS();
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer words = words_buffer(platform, 0), inside = words_buffer(platform, 0),
		    behind = words_buffer(platform, 0);
	sycl_executable_graph body = body_of(increment, inside);
	sycl_graph graph = graph_for(queue);
	sycl_graph_node node = 0;
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	uint32_t ran = 0;
	graph_condition_add_node(graph, conditional(SYCL_GRAPH_CONDITION_IF, words, body), &node);
	MUST(sycl_graph_node_get_type(graph, node, &type));
	cr_assert(eq(int, (int)type, SYCL_GRAPH_NODE_CONDITIONAL));
	sycl_handler copy = NULL;
	MUST(sycl_handler_begin(queue, &copy));
	MUST(sycl_handler_copy(copy, inside, 0, behind, 0, WORDS_BYTES));
	sycl_graph_node last = 0;
	graph_condition_add_node(graph, copy, &last);
	cr_assert(comes_behind(graph, last, node), "what the body writes is read behind it");
	MUST(sycl_executable_graph_release(body));
	sycl_executable_graph executable = made_of(graph);
	for (uint32_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		graph_condition_set_words(words, values[i]);
		ran += values[i] != 0;
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
		cr_assert(words_are(inside, ran));
		cr_assert(words_are(behind, ran));
	}
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(words));
	MUST(sycl_buffer_release(inside));
	MUST(sycl_buffer_release(behind));
	MUST(sycl_kernel_release(increment));
}

/* The word counts up to 0. The group is recorded, and launched several times without waiting. */
Test(graph_conditions, R4_a_while_node_runs_its_body_until_the_word_is_0)
{
	enum { TURNS = 7, LAUNCHES = 5 };
	NEEDS_CONDITIONS();
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer words = words_buffer(platform, 0), inside = words_buffer(platform, 0),
		    outside = words_buffer(platform, 0);
	sycl_graph inner = graph_for(queue), graph = graph_for(queue);
	graph_condition_add_node(inner, increment_handler(queue, increment, inside), NULL);
	graph_condition_add_node(inner, count_handler(increment, words), NULL);
	sycl_executable_graph body = made_of(inner);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	graph_condition_set_words(words, 0u - TURNS);
	MUST(sycl_handler_submit(conditional(SYCL_GRAPH_CONDITION_WHILE, words, body), NULL));
	run_increment(queue, increment, outside, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = made_of(graph);
	for (int i = 0; i < LAUNCHES; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	cr_assert(words_are(inside, TURNS * LAUNCHES));
	cr_assert(words_are(outside, LAUNCHES));
	MUST(sycl_executable_graph_release(body));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(words));
	MUST(sycl_buffer_release(inside));
	MUST(sycl_buffer_release(outside));
	MUST(sycl_kernel_release(increment));
}

/* A graph has an IF in a WHILE, and is a sub-graph of a third one. */
Test(graph_conditions, R4_bodies_lie_in_bodies_and_in_graphs_of_graphs)
{
	enum { TURNS = 4 };
	NEEDS_CONDITIONS();
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer words = words_buffer(platform, 0), yes = words_buffer(platform, 1),
		    no = words_buffer(platform, 0);
	sycl_buffer counted = words_buffer(platform, 0);
	sycl_executable_graph one = body_of(increment, counted);
	sycl_graph inner = graph_for(queue), middle = graph_for(queue), outer = graph_for(queue);
	graph_condition_add_node(inner, conditional(SYCL_GRAPH_CONDITION_IF, yes, one), NULL);
	graph_condition_add_node(inner, conditional(SYCL_GRAPH_CONDITION_IF, no, one), NULL);
	graph_condition_add_node(inner, increment_handler(queue, increment, counted), NULL);
	graph_condition_add_node(inner, count_handler(increment, words), NULL);
	sycl_executable_graph body = made_of(inner);
	graph_condition_add_node(middle, conditional(SYCL_GRAPH_CONDITION_WHILE, words, body),
				 NULL);
	sycl_executable_graph subgraph = made_of(middle);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_graph(handler, subgraph));
	graph_condition_add_node(outer, increment_handler(queue, increment, counted), NULL);
	graph_condition_add_node(outer, handler, NULL);
	graph_condition_add_node(outer, increment_handler(queue, increment, counted), NULL);
	sycl_executable_graph executable = made_of(outer);
	for (uint32_t i = 1; i <= 3; i++) {
		graph_condition_set_words(words, 0u - TURNS);
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
		cr_assert(words_are(counted, i * (2 * TURNS + 2)));
	}
	MUST(sycl_executable_graph_release(one));
	MUST(sycl_executable_graph_release(body));
	MUST(sycl_executable_graph_release(subgraph));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(words));
	MUST(sycl_buffer_release(yes));
	MUST(sycl_buffer_release(no));
	MUST(sycl_buffer_release(counted));
	MUST(sycl_kernel_release(increment));
}

/* The body would write all of the buffer without reading it. The old contents must be there all the
 * same. */
Test(graph_conditions, R4_what_a_body_does_not_do_leaves_contents_as_they_were)
{
	NEEDS_CONDITIONS();
	const uint32_t value = 9;
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    copy = portable_kernel(queue, "copy_u32");
	sycl_buffer words = words_buffer(platform, 0), buffer = words_buffer(platform, 5),
		    result = words_buffer(platform, 0);
	sycl_graph inner = graph_for(queue), graph = graph_for(queue);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	graph_condition_add_node(inner, handler, NULL);
	sycl_executable_graph body = made_of(inner);
	graph_condition_add_node(graph, conditional(SYCL_GRAPH_CONDITION_IF, words, body), NULL);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, result, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	graph_condition_add_node(graph, handler, NULL);
	sycl_executable_graph executable = made_of(graph);
	MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	cr_assert(words_are(result, 5));
	graph_condition_set_words(words, 1);
	MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	cr_assert(words_are(result, 9));
	cr_assert(words_are(buffer, 9));
	MUST(sycl_executable_graph_release(body));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(words));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(result));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
}

static sycl_result task(sycl_host_task running, void *user_data)
{
	(void)running;
	(void)user_data;
	return SYCL_SUCCESS;
}

static sycl_executable_graph body_with_a_task(void)
{
	sycl_graph graph = graph_for(queue);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, task, NULL, NULL));
	graph_condition_add_node(graph, handler, NULL);
	return made_of(graph);
}

Test(graph_conditions, R4_what_is_no_condition_is_refused)
{
	NEEDS_CONDITIONS();
	struct sycl_graph_finalize_properties updatable = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer words = words_buffer(platform, 1), buffer = words_buffer(platform, 0);
	sycl_executable_graph body = body_of(increment, buffer), empty = made_of(graph_for(queue)),
			      hosted = body_with_a_task();
	sycl_executable_graph executable = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_graph_conditional(handler, 0, words, 0, body), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, words, 2, body),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, words, WORDS_BYTES,
					       body),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, words, 0, empty),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, words, 0, hosted),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_graph_conditional_usm(handler, SYCL_GRAPH_CONDITION_IF, NULL, body),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_graph_conditional_usm(handler, SYCL_GRAPH_CONDITION_IF, &updatable,
						   body),
		SYCL_ERROR_INVALID);
	MUST(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, words, 4, body));
	REFUSED(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, words, 0, body),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_submit(handler, NULL),
		SYCL_ERROR_INVALID); /* the queue is not recorded */
	sycl_graph graph = graph_for(queue);
	graph_condition_add_node(graph, conditional(SYCL_GRAPH_CONDITION_IF, words, body), NULL);
	updatable.flags = SYCL_GRAPH_UPDATABLE;
	REFUSED(sycl_graph_finalize(graph, &updatable, &executable),
		SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	launch_and_wait(queue, executable);
	sycl_executable_graph never = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, task, NULL, NULL));
	graph_condition_add_node(graph, handler, NULL);
	REFUSED(sycl_graph_finalize(graph, NULL, &never),
		SYCL_ERROR_FEATURE_NOT_SUPPORTED); /* beside a host task */
	MUST(sycl_graph_release(graph));
	cr_assert(words_are(buffer, 1));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_executable_graph_release(body));
	MUST(sycl_executable_graph_release(empty));
	MUST(sycl_executable_graph_release(hosted));
	MUST(sycl_buffer_release(words));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

Test(graph_conditions, R4_bodies_lie_so_deep_in_each_other_and_no_deeper)
{
	enum { DEEPEST = 8 };
	NEEDS_CONDITIONS();
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer words = words_buffer(platform, 1), buffer = words_buffer(platform, 0);
	sycl_executable_graph body = body_of(increment, buffer);
	for (int i = 0; i < DEEPEST; i++) {
		sycl_graph graph = graph_for(queue);
		graph_condition_add_node(graph, conditional(SYCL_GRAPH_CONDITION_IF, words, body),
					 NULL);
		MUST(sycl_executable_graph_release(body));
		body = made_of(graph);
	}
	launch_and_wait(queue, body);
	cr_assert(words_are(buffer, 1));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, words, 0, body),
		SYCL_ERROR_QUOTA);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_executable_graph_release(body));
	MUST(sycl_buffer_release(words));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

Test(graph_conditions, R4_a_device_without_conditions_says_so)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_executable_graph body = body_of(increment, buffer);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert(eq(
		int,
		sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_IF, buffer, 0, body),
		has_conditions() ? SYCL_SUCCESS : SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	MUST(sycl_handler_discard(handler));
	MUST(sycl_executable_graph_release(body));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}
