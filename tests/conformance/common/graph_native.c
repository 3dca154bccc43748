/* Native commands as nodes of a graph. */
#include "common/graph_stage.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct native {
	uint32_t calls, value;
	int result;
	struct backend_native_scope seen;
};

static int graph_native_set_words(void *context, const struct backend_native_scope *scope)
{
	struct native *native = context;

	native->calls++;
	native->seen = *scope;
	if (native->result != 0)
		return native->result;
	return conformance_target.native_set(scope, 0, GRAPH_WORDS, native->value);
}

static struct backend_command native_command(struct native *native,
					     struct backend_memory *const *memories)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_NATIVE,
		.native = {.function = graph_native_set_words,
			   .context = native,
			   .memories = memories,
			   .memory_count = 3},
	};
}

/* K15, K16: the function is called once, when it becomes a node. The nodes that it adds are between
 * the node's edges, in every launch. */
Test(graphs, K13_K15_K16_K17_K18_K20_a_native_command_is_a_node)
{
	struct graph_stage stage;
	struct native native = {.value = 6};
	uint32_t node[2];

	if (!graph_stage_open(&stage) ||
	    !(stage.fixture.facts->features & BACKEND_FEATURE_GRAPH_NATIVE))
		cr_skip_test("the device has no graphs with native commands");
	cr_assert_not_null(conformance_target.native_set);
	struct backend_memory *const memories[] = {stage.a, stage.b,
						   NULL}; /* the last is a buffer of no bytes */
	const struct backend_command command = native_command(&native, memories);
	struct backend_graph *graph = graph_make(&stage.fixture);
	node[0] = graph_stage_mix(&stage, graph, stage.b, stage.a, 1, NULL,
				  0); /* it reads what was in a before */
	cr_assert_eq(native.calls, 0);
	node[1] = graph_node(&stage.fixture, graph, &command, &node[0], 1);
	cr_assert_eq(native.calls, 1);
	cr_assert_neq(native.seen.graph, 0);
	cr_assert_neq(native.seen.queue, 0);
	cr_assert_neq(native.seen.context, 0);
	cr_assert_eq(native.seen.memory_count, 3);
	(void)graph_stage_mix(&stage, graph, stage.a, stage.b, 2, &node[1], 1);
	graph_finish(&stage.fixture, graph, false);
	words_set(&stage.fixture, stage.a, 3);
	words_set(&stage.fixture, stage.b, 0);
	uint32_t a = 3, b = 0;
	for (int i = 0; i < 10; i++) {
		graph_run(&stage.fixture, graph);
		b = b * 31 + a + 1;
		a = 6 * 31 + b + 2;
	}
	cr_assert_eq(native.calls, 1);
	words_expect(&stage.fixture, stage.a, a, "after it");
	words_expect(&stage.fixture, stage.b, b, "before it");
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

Test(graphs, K15_a_native_command_that_fails_is_no_node)
{
	struct graph_stage stage;
	struct native native = {.value = 6, .result = -7};

	if (!graph_stage_open(&stage) ||
	    !(stage.fixture.facts->features & BACKEND_FEATURE_GRAPH_NATIVE))
		cr_skip_test("the device has no graphs with native commands");
	struct backend_memory *const memories[] = {stage.a, stage.b,
						   NULL}; /* the last is a buffer of no bytes */
	const struct backend_command command = native_command(&native, memories);
	struct backend_graph *graph = graph_make(&stage.fixture);
	graph_node_fails(&stage.fixture, graph, &command, -EINVAL);
	cr_assert_eq(native.calls, 1);
	/* Nodes that the function added before it failed do not belong to a graph: the graph works
	 * without them, or never runs. */
	struct backend_fault fault = {0};
	cr_assert_eq(graph_stage_fill(&stage, graph, stage.a, 4, NULL, 0), 0);
	words_set(&stage.fixture, stage.a, 1);
	if (stage.fixture.ops->graph_finish(graph, false, &fault) == 0) {
		graph_run(&stage.fixture, graph);
		words_expect(&stage.fixture, stage.a, 4, "the rest");
	} else {
		cr_assert_neq(fault.text[0], '\0');
	}
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}
