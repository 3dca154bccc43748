/* Graphs that change: updates of nodes, switches, copies of a changed graph. */
#include "common/graph_stage.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

Test(graphs, L13_a_change_counts_from_the_next_launch_on)
{
	struct graph_stage stage;
	const uint64_t global = GRAPH_WORDS, one = 1;
	uint32_t node[3], value = 70;

	if (!graph_stage_open(&stage) ||
	    !(stage.fixture.facts->features & BACKEND_FEATURE_GRAPH_UPDATE))
		cr_skip_test("the device has no graphs that change");
	struct backend_graph *graph = graph_make(&stage.fixture);
	const struct backend_command to_b = copy_all(stage.b, stage.a),
				     to_c = copy_all(stage.c, stage.a);
	node[0] = graph_stage_fill(&stage, graph, stage.a, 7, NULL, 0);
	node[1] = graph_node(&stage.fixture, graph, &to_b, &node[0], 1);
	const struct backend_command fill = fill_all(stage.c, &value);
	node[2] = graph_node(&stage.fixture, graph, &fill, &node[1], 1);
	graph_finish(&stage.fixture, graph, true);
	graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.b, 7, "as it was made");
	words_expect(&stage.fixture, stage.c, 70, "as it was made");
	/* First another value; then another memory, and another place of the copy. */
	value = 8;
	const struct backend_argument arguments[] = {global_argument(stage.a),
						     value_argument(&value, sizeof(value))};
	const struct backend_command other_value =
		launch_command(stage.fill, 1, &global, arguments, 2);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node[0], &other_value), 0);
	words_expect(&stage.fixture, stage.b, 7, "not before it is launched");
	graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.b, 8, "another value");
	words_expect(&stage.fixture, stage.c, 70, "another value");
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node[1], &to_c), 0);
	value = 71;
	const struct backend_command other_fill = fill_all(stage.b, &value);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node[2], &other_fill), 0);
	graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.c, 8, "another memory");
	words_expect(&stage.fixture, stage.b, 71, "another memory");
	/* Another range: only one word. */
	value = 9;
	const struct backend_command other_range =
		launch_command(stage.fill, 1, &one, arguments, 2);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node[0], &other_range), 0);
	words_set(&stage.fixture, stage.a, 100);
	graph_run(&stage.fixture, graph);
	uint32_t words[2];
	fixture_read(&stage.fixture, stage.c, 0, words, sizeof(words));
	cr_assert_eq(words[0], 9);
	cr_assert_eq(words[1], 100);
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

/* Kernels, copies and fills are disabled, and enabled again with all their properties. */
Test(graphs, R3_a_node_is_skipped_and_comes_again)
{
	struct graph_stage stage;
	uint32_t node[3], value = 70;
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};

	if (!graph_stage_open(&stage) ||
	    !(stage.fixture.facts->features & BACKEND_FEATURE_GRAPH_SWITCH))
		cr_skip_test("the device skips no nodes");
	struct backend_graph *graph = graph_make(&stage.fixture);
	const struct backend_command copy = copy_all(stage.b, stage.a),
				     fill = fill_all(stage.c, &value);
	node[0] = graph_stage_fill(&stage, graph, stage.a, 7, NULL, 0);
	node[1] = graph_node(&stage.fixture, graph, &copy, &node[0], 1);
	node[2] = graph_node(&stage.fixture, graph, &fill, &node[1], 1);
	graph_finish(&stage.fixture, graph, true);
	for (uint32_t skipped = 0; skipped < 3; skipped++) {
		words_set(&stage.fixture, stage.a, 100);
		words_set(&stage.fixture, stage.b, 200);
		words_set(&stage.fixture, stage.c, 300);
		cr_assert_eq(graph_stage_update(&stage.fixture, graph, node[skipped], &nothing), 0);
		cr_assert_eq(graph_stage_update(&stage.fixture, graph, node[skipped], &nothing), 0,
			     "twice is once");
		graph_run(&stage.fixture, graph);
		words_expect(&stage.fixture, stage.a, skipped == 0 ? 100 : 7, "the kernel");
		words_expect(&stage.fixture, stage.b,
			     skipped == 1   ? 200
			     : skipped == 0 ? 100
					    : 7,
			     "the copy");
		words_expect(&stage.fixture, stage.c, skipped == 2 ? 300 : 70, "the fill");
		const uint64_t global = GRAPH_WORDS;
		const uint32_t seven = 7;
		const struct backend_argument arguments[] = {global_argument(stage.a),
							     value_argument(&seven, sizeof(seven))};
		const struct backend_command kernel =
			launch_command(stage.fill, 1, &global, arguments, 2);
		const struct backend_command *const again[] = {&kernel, &copy, &fill};
		cr_assert_eq(
			graph_stage_update(&stage.fixture, graph, node[skipped], again[skipped]),
			0);
		graph_run(&stage.fixture, graph);
		words_expect(&stage.fixture, stage.a, 7, "again");
		words_expect(&stage.fixture, stage.b, 7, "again");
		words_expect(&stage.fixture, stage.c, 70, "again");
	}
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

Test(graphs, L13_what_cannot_change_stays_as_it_is)
{
	struct graph_stage stage;
	const uint64_t global = GRAPH_WORDS;
	const uint32_t value = 5;

	if (!graph_stage_open(&stage) ||
	    !(stage.fixture.facts->features & BACKEND_FEATURE_GRAPH_UPDATE))
		cr_skip_test("the device has no graphs that change");
	struct backend_graph *graph = graph_make(&stage.fixture),
			     *fixed = graph_make(&stage.fixture);
	uint32_t node = graph_stage_fill(&stage, graph, stage.a, 7, NULL, 0);
	(void)graph_stage_fill(&stage, fixed, stage.b, 7, NULL, 0);
	const struct backend_command copy = copy_all(stage.b, stage.a);
	const struct backend_argument argument = global_argument(stage.a);
	const struct backend_command other_kernel =
		launch_command(stage.increment, 1, &global, &argument, 1);
	const struct backend_argument wrong[] = {global_argument(stage.a),
						 global_argument(stage.b)},
				      arguments[] = {global_argument(stage.a),
						     value_argument(&value, sizeof(value))};
	const struct backend_command bad = launch_command(stage.fill, 1, &global, wrong, 2),
				     good = launch_command(stage.fill, 1, &global, arguments, 2);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node, &good),
		     -EINVAL); /* not finished */
	graph_finish(&stage.fixture, graph, true);
	graph_finish(&stage.fixture, fixed, false);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node, &copy), -EOPNOTSUPP);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node, &other_kernel), -EOPNOTSUPP);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, node, &bad), -EINVAL);
	cr_assert_eq(graph_stage_update(&stage.fixture, graph, 9, &good), -EINVAL);
	cr_assert_eq(graph_stage_update(&stage.fixture, fixed, node, &good), -EINVAL);
	graph_run(&stage.fixture, graph);
	graph_run(&stage.fixture, fixed);
	words_expect(&stage.fixture, stage.a, 7, "unchanged");
	words_expect(&stage.fixture, stage.b, 7, "unchanged");
	stage.fixture.ops->graph_free(graph);
	stage.fixture.ops->graph_free(fixed);
	graph_stage_close(&stage);
}

/* A graph that becomes a node of another one is copied with its changes so far; later changes are
 * not. */
Test(graphs, L13_L14_a_changed_graph_is_copied_as_it_is)
{
	struct graph_stage stage;
	const uint64_t global = GRAPH_WORDS;
	uint32_t value = 8, row = 0;

	if (!graph_stage_open(&stage) ||
	    !(stage.fixture.facts->features & BACKEND_FEATURE_GRAPH_UPDATE))
		cr_skip_test("the device has no graphs that change");
	struct backend_graph *inner = graph_make(&stage.fixture),
			     *outer = graph_make(&stage.fixture);
	const struct backend_command to_b = copy_all(stage.b, stage.a),
				     to_c = copy_all(stage.c, stage.a);
	uint32_t first = graph_stage_fill(&stage, inner, stage.a, 7, NULL, 0);
	row = graph_node(&stage.fixture, inner, &to_b, &first, 1);
	graph_finish(&stage.fixture, inner, true);
	const struct backend_argument arguments[] = {global_argument(stage.a),
						     value_argument(&value, sizeof(value))};
	const struct backend_command changed = launch_command(stage.fill, 1, &global, arguments, 2);
	cr_assert_eq(graph_stage_update(&stage.fixture, inner, first, &changed), 0);
	cr_assert_eq(graph_stage_update(&stage.fixture, inner, row, &to_c), 0);
	const struct backend_command node = {.kind = BACKEND_COMMAND_GRAPH, .graph = inner};
	(void)graph_node(&stage.fixture, outer, &node, NULL, 0);
	graph_finish(&stage.fixture, outer, false);
	value = 99;
	cr_assert_eq(graph_stage_update(&stage.fixture, inner, first, &changed), 0);
	words_set(&stage.fixture, stage.b, 1);
	graph_run(&stage.fixture, outer);
	words_expect(&stage.fixture, stage.c, 8, "in the outer graph");
	words_expect(&stage.fixture, stage.b, 1, "in the outer graph");
	graph_run(&stage.fixture, inner);
	words_expect(&stage.fixture, stage.c, 99, "by itself");
	stage.fixture.ops->graph_free(inner);
	stage.fixture.ops->graph_free(outer);
	graph_stage_close(&stage);
}

/* ----------------------------------------- L17 ------------------------------------------ */
