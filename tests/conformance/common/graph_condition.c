/* IF and WHILE nodes: a word on the device determines whether, or how often, their bodies run
 * (R4). */
#include "common/graphs_support.h"

#include <criterion/criterion.h>
#include <errno.h>

TestSuite(conditions, .timeout = 120);

/* `words`: those of the conditions; `minus`: 0xffffffff everywhere, which is added to count
 * down. */
struct stage {
	struct fixture fixture;
	struct backend_kernel *increment, *add;
	struct backend_memory *a, *b, *words, *minus;
};

static bool graph_condition_stage_open(struct stage *stage)
{
	*stage = (struct stage){.fixture = {.wake_fd = -1}};
	if (!graphs_open(&stage->fixture))
		return false;
	if (!(stage->fixture.facts->features & BACKEND_FEATURE_GRAPH_CONDITION)) {
		fixture_close(&stage->fixture);
		return false;
	}
	stage->increment = fixture_kernel(&stage->fixture, "increment_u32");
	stage->add = fixture_kernel(&stage->fixture, "add_u32");
	stage->a = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	stage->b = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	stage->words = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	stage->minus = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	words_set(&stage->fixture, stage->a, 0);
	words_set(&stage->fixture, stage->b, 0);
	words_set(&stage->fixture, stage->minus, UINT32_MAX);
	return true;
}

static void graph_condition_stage_close(struct stage *stage)
{
	const struct backend_ops *ops = stage->fixture.ops;

	ops->memory_free(stage->a);
	ops->memory_free(stage->b);
	ops->memory_free(stage->words);
	ops->memory_free(stage->minus);
	ops->kernel_free(stage->increment);
	ops->kernel_free(stage->add);
	fixture_close(&stage->fixture);
}

static struct backend_command condition(const struct stage *stage, uint32_t word, bool repeats,
					uint32_t body_nodes)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_CONDITION,
		.condition = {.memory = stage->words,
			      .offset_bytes = word * 4ull,
			      .repeats = repeats,
			      .body_nodes = body_nodes},
	};
}

static uint32_t add_condition(struct stage *stage, struct backend_graph *graph, uint32_t word,
			      bool repeats, uint32_t body_nodes, const uint32_t *after,
			      uint32_t count)
{
	const struct backend_command command = condition(stage, word, repeats, body_nodes);

	return graph_node(&stage->fixture, graph, &command, after, count);
}

static uint32_t graph_condition_add_increment(struct stage *stage, struct backend_graph *graph,
					      struct backend_memory *memory, const uint32_t *after,
					      uint32_t count)
{
	const uint64_t global = GRAPH_WORDS;
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command =
		launch_command(stage->increment, 1, &global, &argument, 1);

	return graph_node(&stage->fixture, graph, &command, after, count);
}

/* Adds a node that subtracts one from a word. */
static uint32_t add_countdown(struct stage *stage, struct backend_graph *graph, uint32_t word,
			      const uint32_t *after, uint32_t count)
{
	const uint64_t global = 1;
	struct backend_argument arguments[] = {global_argument(stage->words),
					       global_argument(stage->minus)};
	arguments[0].global.offset_bytes = word * 4ull;
	const struct backend_command command = launch_command(stage->add, 1, &global, arguments, 2);

	return graph_node(&stage->fixture, graph, &command, after, count);
}

static uint32_t add_word(struct stage *stage, struct backend_graph *graph, uint32_t word,
			 const uint32_t *value, const uint32_t *after, uint32_t count)
{
	const struct backend_command command = {
		.kind = BACKEND_COMMAND_FILL,
		.fill = {.memory = stage->words,
			 .offset_bytes = word * 4ull,
			 .size_bytes = 4,
			 .pattern = value,
			 .pattern_bytes = 4},
	};

	return graph_node(&stage->fixture, graph, &command, after, count);
}

static void set_word(struct stage *stage, uint32_t word, uint32_t value)
{
	fixture_write(&stage->fixture, stage->words, word * 4ull, &value, sizeof(value));
}

static uint32_t graph_condition_word_of(struct stage *stage, uint32_t word)
{
	uint32_t value = 0;

	fixture_read(&stage->fixture, stage->words, word * 4ull, &value, sizeof(value));
	return value;
}

Test(conditions, R4_the_body_of_an_if_runs_where_the_word_is_not_0)
{
	static const uint32_t values[] = {0, 1, 0, 0x80000000u, 7, 0};
	struct stage stage;
	uint32_t bodies = 0;

	if (!graph_condition_stage_open(&stage))
		cr_skip_test("the device's graphs have no conditions");
	struct backend_graph *graph = graph_make(&stage.fixture);
	uint32_t first = graph_condition_add_increment(&stage, graph, stage.a, NULL, 0);
	uint32_t before = graph_condition_add_increment(&stage, graph, stage.a, &first, 1);
	uint32_t node = add_condition(&stage, graph, 3, false, 2, &before, 1);
	uint32_t inner = graph_condition_add_increment(&stage, graph, stage.b, NULL, 0);
	(void)graph_condition_add_increment(&stage, graph, stage.b, &inner, 1);
	uint32_t behind = graph_condition_add_increment(&stage, graph, stage.a, &node, 1);
	(void)graph_condition_add_increment(&stage, graph, stage.a, &behind, 1);
	graph_finish(&stage.fixture, graph, false);
	for (uint32_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		set_word(&stage, 3, values[i]);
		bodies += values[i] != 0;
		graph_run(&stage.fixture, graph);
		words_expect(&stage.fixture, stage.a, 4 * (i + 1), "outside of the body");
		words_expect(&stage.fixture, stage.b, 2 * bodies, "the body");
	}
	stage.fixture.ops->graph_free(graph);
	graph_condition_stage_close(&stage);
}

/* Two launches are sent at once: the second reads the word that the first has left. */
Test(conditions, R4_the_body_of_a_while_runs_until_the_word_is_0)
{
	static const uint32_t turns[] = {0, 1, 2, 50};
	struct stage stage;
	uint32_t total = 0, wanted = 0;

	if (!graph_condition_stage_open(&stage))
		cr_skip_test("the device's graphs have no conditions");
	struct backend_graph *graph = graph_make(&stage.fixture);
	uint32_t set = add_word(&stage, graph, 1, &wanted, NULL, 0);
	(void)add_condition(&stage, graph, 0, true, 3, &set, 1);
	uint32_t first = graph_condition_add_increment(&stage, graph, stage.b, NULL, 0);
	uint32_t second = graph_condition_add_increment(&stage, graph, stage.a, &first, 1);
	(void)add_countdown(&stage, graph, 0, &second, 1);
	graph_finish(&stage.fixture, graph, false);
	for (uint32_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		set_word(&stage, 0, turns[i]);
		total += turns[i];
		(void)graph_send(&stage.fixture, 1, graph);
		graph_run(&stage.fixture, graph);
		cr_assert_eq(graph_condition_word_of(&stage, 0), 0);
		words_expect(&stage.fixture, stage.a, total, "a");
		words_expect(&stage.fixture, stage.b, total, "b");
	}
	stage.fixture.ops->graph_free(graph);
	graph_condition_stage_close(&stage);
}

/* A node behind this one comes behind the last turn of its body, and the word may be written just
 * before it. */
Test(conditions, R4_bodies_lie_in_bodies)
{
	const uint32_t outer = 4, inner = 3, yes = 1;
	struct stage stage;
	uint32_t node[4];

	if (!graph_condition_stage_open(&stage))
		cr_skip_test("the device's graphs have no conditions");
	struct backend_graph *graph = graph_make(&stage.fixture);
	const struct backend_command copy = copy_all(stage.a, stage.b);
	node[0] = add_word(&stage, graph, 0, &outer, NULL, 0);
	node[1] = add_word(&stage, graph, 2, &yes, NULL, 0);
	node[2] = add_condition(&stage, graph, 0, true, 7, node, 2);
	uint32_t set = add_word(&stage, graph, 1, &inner, NULL, 0);
	uint32_t loop = add_condition(&stage, graph, 1, true, 4, &set, 1);
	uint32_t branch = add_condition(&stage, graph, 2, false, 1, NULL, 0);
	(void)graph_condition_add_increment(&stage, graph, stage.b, NULL, 0);
	uint32_t plain = graph_condition_add_increment(&stage, graph, stage.b, &branch, 1);
	(void)add_countdown(&stage, graph, 1, &plain, 1);
	(void)add_countdown(&stage, graph, 0, &loop, 1);
	(void)graph_node(&stage.fixture, graph, &copy, &node[2], 1);
	graph_finish(&stage.fixture, graph, false);
	for (uint32_t i = 1; i <= 5; i++) {
		graph_run(&stage.fixture, graph);
		words_expect(&stage.fixture, stage.b, i * outer * inner * 2, "the innermost body");
		words_expect(&stage.fixture, stage.a, i * outer * inner * 2, "behind it all");
	}
	stage.fixture.ops->graph_free(graph);
	graph_condition_stage_close(&stage);
}

Test(conditions, R4_what_is_no_condition_is_refused)
{
	struct stage stage;
	struct backend_fault fault = {0};
	uint32_t node = 0;

	if (!graph_condition_stage_open(&stage))
		cr_skip_test("the device's graphs have no conditions");
	const struct backend_ops *ops = stage.fixture.ops;
	struct backend_graph *graph = graph_make(&stage.fixture);
	struct backend_command bad = condition(&stage, 0, false, 1);
	bad.condition.offset_bytes = 2;
	graph_node_fails(&stage.fixture, graph, &bad, -EINVAL);
	bad.condition.offset_bytes = GRAPH_WORDS * 4ull;
	graph_node_fails(&stage.fixture, graph, &bad, -EINVAL);
	bad = condition(&stage, 0, false, 0);
	graph_node_fails(&stage.fixture, graph, &bad, -EINVAL);
	uint32_t before = graph_condition_add_increment(&stage, graph, stage.a, NULL, 0);
	(void)add_condition(&stage, graph, 0, false, 2, NULL, 0);
	bad = condition(&stage, 0, false, 2);
	graph_node_fails(&stage.fixture, graph, &bad,
			 -EINVAL); /* extends beyond the body around it */
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	cr_assert_eq(ops->graph_add(graph, &nothing, &before, 1, &node, &fault), -EINVAL,
		     "from outside into a body");
	uint32_t inside = graph_condition_add_increment(&stage, graph, stage.b, NULL, 0);
	cr_assert_eq(ops->graph_finish(graph, false, &fault), -EINVAL, "a body that is not whole");
	(void)graph_condition_add_increment(&stage, graph, stage.b, &inside, 1);
	cr_assert_eq(ops->graph_add(graph, &nothing, &inside, 1, &node, &fault), -EINVAL,
		     "from a body to outside");
	cr_assert_eq(ops->graph_finish(graph, true, &fault), -EINVAL, "with updates");
	graph_finish(&stage.fixture, graph, false);
	struct backend_graph *outer = graph_make(&stage.fixture);
	const struct backend_command child = {.kind = BACKEND_COMMAND_GRAPH, .graph = graph};
	graph_node_fails(&stage.fixture, outer, &child, -EOPNOTSUPP);
	set_word(&stage, 0, 1);
	graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.b, 2, "what was taken runs");
	ops->graph_free(outer);
	ops->graph_free(graph);
	graph_condition_stage_close(&stage);
}

Test(conditions, R4_a_device_without_conditions_says_so)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	uint32_t node = 0;

	if (!graphs_open(&fixture))
		cr_skip_test("the device has no graphs");
	bool has = (fixture.facts->features & BACKEND_FEATURE_GRAPH_CONDITION) != 0;
	cr_assert_eq((fixture.facts->aspects >> 20 & 1) != 0, has,
		     "the aspect says what the feature does");
	struct backend_memory *memory = fixture_memory(&fixture, 4, NULL);
	struct backend_graph *graph = graph_make(&fixture);
	const struct backend_command command = {.kind = BACKEND_COMMAND_CONDITION,
						.condition = {.memory = memory, .body_nodes = 1}};
	int result = fixture.ops->graph_add(graph, &command, NULL, 0, &node, &fault);
	cr_assert_eq(result, has ? 0 : -EOPNOTSUPP);
	fixture.ops->graph_free(graph);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}
