/* Memory of graphs, which the nodes of a launch share. It exists during the launch, and nothing
 * else can access it. */
#include "common/graphs_support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(graph_memory, .timeout = 120);

struct stage {
	struct fixture fixture;
	struct backend_kernel *fill, *increment, *mix;
	struct backend_memory *result;
};

static bool graph_memory_stage_open(struct stage *stage)
{
	*stage = (struct stage){.fixture = {.wake_fd = -1}};
	if (!graphs_open(&stage->fixture))
		return false;
	if (!stage->fixture.ops->graph_temporary) {
		fixture_close(&stage->fixture);
		return false;
	}
	stage->fill = fixture_kernel(&stage->fixture, "fill_u32");
	stage->increment = fixture_kernel(&stage->fixture, "increment_u32");
	stage->mix = fixture_kernel(&stage->fixture, "mix_u32");
	stage->result = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	return true;
}

static void graph_memory_stage_close(struct stage *stage)
{
	const struct backend_ops *ops = stage->fixture.ops;

	ops->memory_free(stage->result);
	ops->kernel_free(stage->fill);
	ops->kernel_free(stage->increment);
	ops->kernel_free(stage->mix);
	fixture_close(&stage->fixture);
}

static struct backend_memory *temporary(struct stage *stage, struct backend_graph *graph,
					uint64_t bytes)
{
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	cr_assert_eq(stage->fixture.ops->graph_temporary(graph, bytes, &memory, &fault), 0, "%s",
		     fault.text);
	cr_assert_not_null(memory);
	return memory;
}

static struct backend_command fill_command(const struct stage *stage,
					   struct backend_argument arguments[2],
					   struct backend_memory *memory, const uint32_t *value)
{
	static const uint64_t global = GRAPH_WORDS;

	arguments[0] = global_argument(memory);
	arguments[1] = value_argument(value, sizeof(*value));
	return launch_command(stage->fill, 1, &global, arguments, 2);
}

static uint32_t add_fill(struct stage *stage, struct backend_graph *graph,
			 struct backend_memory *memory, uint32_t value, const uint32_t *after,
			 uint32_t count)
{
	struct backend_argument arguments[2];
	const struct backend_command command = fill_command(stage, arguments, memory, &value);

	return graph_node(&stage->fixture, graph, &command, after, count);
}

static uint32_t graph_memory_add_increment(struct stage *stage, struct backend_graph *graph,
					   struct backend_memory *memory, uint32_t after)
{
	const uint64_t global = GRAPH_WORDS;
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command =
		launch_command(stage->increment, 1, &global, &argument, 1);

	return graph_node(&stage->fixture, graph, &command, &after, 1);
}

static uint32_t graph_memory_add_copy(struct stage *stage, struct backend_graph *graph,
				      struct backend_memory *to, struct backend_memory *from,
				      uint32_t after)
{
	const struct backend_command command = copy_all(to, from);

	return graph_node(&stage->fixture, graph, &command, &after, 1);
}

/* result = value + 1, through two memories of the graph. */
static struct backend_graph *graph_memory_make_chain(struct stage *stage,
						     struct backend_memory *result, uint32_t value,
						     bool updatable)
{
	struct backend_graph *graph = graph_make(&stage->fixture);
	struct backend_memory *first = temporary(stage, graph, GRAPH_WORDS * 4),
			      *second = temporary(stage, graph, GRAPH_WORDS * 4);

	uint32_t node = add_fill(stage, graph, first, value, NULL, 0);
	node = graph_memory_add_copy(stage, graph, second, first, node);
	node = graph_memory_add_increment(stage, graph, second, node);
	(void)graph_memory_add_copy(stage, graph, result, second, node);
	graph_finish(&stage->fixture, graph, updatable);
	return graph;
}

Test(graph_memory, L9_L17_each_launch_has_it_and_gives_it_back)
{
	struct stage stage;

	if (!graph_memory_stage_open(&stage))
		cr_skip_test("the device's graphs have no memory of their own");
	struct backend_graph *graph = graph_memory_make_chain(&stage, stage.result, 41, false);
	for (int i = 0; i < 100; i++)
		graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.result, 42, "after 100 launches");
	stage.fixture.ops->graph_free(graph);
	graph_memory_stage_close(&stage);
}

Test(graph_memory, L9_launches_that_are_sent_together_follow_each_other)
{
	struct stage stage;
	uint64_t sequence = 0;

	if (!graph_memory_stage_open(&stage))
		cr_skip_test("the device's graphs have no memory of their own");
	struct backend_memory *other = fixture_memory(&stage.fixture, GRAPH_WORDS * 4, NULL);
	struct backend_graph *graphs[] = {graph_memory_make_chain(&stage, stage.result, 10, false),
					  graph_memory_make_chain(&stage, other, 20, false)};
	for (int i = 0; i < 50; i++)
		sequence = graph_send(&stage.fixture, 0, graphs[i % 2]);
	fixture_wait(&stage.fixture, 0, sequence);
	words_expect(&stage.fixture, stage.result, 11, "of the first");
	words_expect(&stage.fixture, other, 21, "of the second");
	/* And side by side. */
	uint64_t sequences[2] = {0, 0};
	for (uint32_t i = 0; i < 50; i++)
		sequences[i % 2] = graph_send(&stage.fixture, i % 2, graphs[i % 2]);
	for (uint32_t i = 0; i < 2; i++)
		fixture_wait(&stage.fixture, i, sequences[i]);
	words_expect(&stage.fixture, stage.result, 11, "of the first, beside the second");
	words_expect(&stage.fixture, other, 21, "of the second, beside the first");
	stage.fixture.ops->graph_free(graphs[0]);
	stage.fixture.ops->graph_free(graphs[1]);
	stage.fixture.ops->memory_free(other);
	graph_memory_stage_close(&stage);
}

/* Two branches use it, and one does not: it exists until both have ended. */
Test(graph_memory, L7_L9_it_is_there_from_the_first_node_to_the_last)
{
	struct stage stage;

	if (!graph_memory_stage_open(&stage))
		cr_skip_test("the device's graphs have no memory of their own");
	struct backend_memory *left = fixture_memory(&stage.fixture, GRAPH_WORDS * 4, NULL),
			      *right = fixture_memory(&stage.fixture, GRAPH_WORDS * 4, NULL);
	struct backend_graph *graph = graph_make(&stage.fixture);
	struct backend_memory *memory = temporary(&stage, graph, GRAPH_WORDS * 4);
	uint32_t apart = add_fill(&stage, graph, stage.result, 1, NULL, 0);
	uint32_t root = add_fill(&stage, graph, memory, 5, &apart, 1);
	uint32_t ends[2] = {graph_memory_add_copy(&stage, graph, left, memory, root),
			    graph_memory_add_copy(&stage, graph, right, memory, root)};
	(void)graph_memory_add_increment(&stage, graph, left, ends[0]);
	uint32_t node = graph_memory_add_increment(&stage, graph, right, ends[1]);
	(void)graph_memory_add_increment(&stage, graph, right, node);
	graph_finish(&stage.fixture, graph, false);
	for (int i = 0; i < 20; i++)
		graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, left, 6, "left");
	words_expect(&stage.fixture, right, 7, "right");
	words_expect(&stage.fixture, stage.result, 1, "apart");
	stage.fixture.ops->graph_free(graph);
	stage.fixture.ops->memory_free(left);
	stage.fixture.ops->memory_free(right);
	graph_memory_stage_close(&stage);
}

Test(graph_memory, L13_a_change_keeps_the_memory_that_a_node_names)
{
	struct stage stage;
	struct backend_argument arguments[2];
	struct backend_fault fault = {0};
	uint32_t value = 6;

	if (!graph_memory_stage_open(&stage) ||
	    !(stage.fixture.facts->features & BACKEND_FEATURE_GRAPH_UPDATE))
		cr_skip_test("the device has no graphs with memory that change");
	const struct backend_ops *ops = stage.fixture.ops;
	struct backend_graph *graph = graph_make(&stage.fixture);
	struct backend_memory *memory = temporary(&stage, graph, GRAPH_WORDS * 4),
			      *other = temporary(&stage, graph, 4096);
	uint32_t node = add_fill(&stage, graph, memory, 5, NULL, 0);
	uint32_t last = graph_memory_add_copy(&stage, graph, stage.result, memory, node);
	(void)add_fill(&stage, graph, other, 1, &last, 1);
	graph_finish(&stage.fixture, graph, true);
	graph_run(&stage.fixture, graph);
	const struct backend_command changed = fill_command(&stage, arguments, memory, &value);
	cr_assert_eq(ops->graph_update(graph, node, &changed, &fault), 0, "%s", fault.text);
	graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.result, 6, "another value");
	/* The order of the graph does not include other memory in its place. */
	const struct backend_command moved = fill_command(&stage, arguments, other, &value);
	cr_assert_eq(ops->graph_update(graph, node, &moved, &fault), -EOPNOTSUPP);
	graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.result, 6, "as before");
	ops->graph_free(graph);
	graph_memory_stage_close(&stage);
}

Test(graph_memory, L14_what_cannot_be_says_so)
{
	struct stage stage;
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;
	uint32_t node = 0;

	if (!graph_memory_stage_open(&stage))
		cr_skip_test("the device's graphs have no memory of their own");
	const struct backend_ops *ops = stage.fixture.ops;
	struct backend_graph *graph = graph_memory_make_chain(&stage, stage.result, 1, false),
			     *other = graph_make(&stage.fixture);
	/* A finished graph gets no more memory. */
	cr_assert_eq(ops->graph_temporary(graph, 64, &memory, &fault), -EOPNOTSUPP);
	cr_assert_null(memory);
	/* Such a graph cannot be a node of another one. */
	const struct backend_command child = {.kind = BACKEND_COMMAND_GRAPH, .graph = graph};
	cr_assert_eq(ops->graph_add(other, &child, NULL, 0, &node, &fault), -EOPNOTSUPP);
	/* Its memory cannot be used in another graph. */
	struct backend_graph *third = graph_make(&stage.fixture);
	struct backend_memory *own = temporary(&stage, third, GRAPH_WORDS * 4);
	const uint32_t value = 1;
	const struct backend_command fill = fill_all(own, &value);
	cr_assert_eq(ops->graph_add(other, &fill, NULL, 0, &node, &fault), -EINVAL);
	/* Unused memory is allowed, and a graph that is not finished is freed with its memory. */
	(void)temporary(&stage, other, 1u << 20);
	(void)add_fill(&stage, other, stage.result, 3, NULL, 0);
	graph_finish(&stage.fixture, other, false);
	graph_run(&stage.fixture, other);
	words_expect(&stage.fixture, stage.result, 3, "beside memory that nobody names");
	ops->graph_free(third);
	ops->graph_free(other);
	ops->graph_free(graph);
	graph_memory_stage_close(&stage);
}
