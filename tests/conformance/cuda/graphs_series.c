/* Graphs that are a few kernels in a row go into a lane's chains. Everything that a graph promises
 * holds on this way and on the other one. */
#include "cuda/graphs_stage.h"

#include <stdlib.h>
#include <string.h>

TestSuite(cuda_graphs_series, .timeout = 60);

enum { WAYS = 2, MOST = 8 };

/* `in_chains`: graphs are collected. A node that overlaps with another one is not skipped. */
static void series_stage_open(struct graph_stage *stage, bool in_chains, bool overlaps)
{
	const char *const options[] = {in_chains ? "graph_chains=yes" : "graph_chains=no",
				       overlaps ? "overlap=yes" : "overlap=no", NULL};

	graph_stage_open_with(stage, options);
}

static uint64_t chain_launches(const struct graph_stage *stage)
{
	struct backend_sendings sendings;

	stage->fixture.ops->sendings(stage->fixture.device, &sendings);
	return sendings.chain_launches;
}

/* Launches the graph and returns how many launches of its run were in chains. */
static uint64_t run_graph(struct graph_stage *stage)
{
	const uint64_t before = chain_launches(stage);

	graph_run(&stage->fixture, stage->graph);
	return chain_launches(stage) - before;
}

static void update(struct graph_stage *stage, uint32_t node, const struct backend_command *command)
{
	struct backend_fault fault = {0};

	cr_assert_eq(stage->fixture.ops->graph_update(stage->graph, node, command, &fault), 0, "%s",
		     fault.text);
}

Test(cuda_graphs_series, L13_R3_changed_and_skipped_nodes_on_both_ways)
{
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};

	for (unsigned way = 0; way < WAYS; way++) {
		struct graph_stage stage;
		struct backend_argument argument;
		uint32_t value = 10, node = 0;
		series_stage_open(&stage, way == 1, false);
		const struct backend_command fill = fill_all(stage.a, &value),
					     launch = graph_stage_increment(&stage, &argument);
		node = graph_node(&stage.fixture, stage.graph, &fill, NULL, 0);
		for (uint32_t i = 0; i < 3; i++)
			node = graph_node(&stage.fixture, stage.graph, &launch, &node, 1);
		graph_finish(&stage.fixture, stage.graph, true);
		cr_assert_eq(run_graph(&stage), way * 4);
		words_expect(&stage.fixture, stage.a, 13, "as it was made");
		value = 20;
		const struct backend_command other = fill_all(stage.a, &value);
		update(&stage, 0, &other);
		cr_assert_eq(run_graph(&stage), way * 4);
		words_expect(&stage.fixture, stage.a, 23, "with another value");
		update(&stage, 1, &nothing);
		update(&stage, 3, &nothing);
		cr_assert_eq(run_graph(&stage), way * 2);
		words_expect(&stage.fixture, stage.a, 21, "with two nodes skipped");
		update(&stage, 0, &nothing);
		update(&stage, 2, &nothing);
		cr_assert_eq(run_graph(&stage), 0);
		words_expect(&stage.fixture, stage.a, 21, "with all nodes skipped");
		argument = global_argument(stage.b);
		words_set(&stage.fixture, stage.b, 5);
		for (uint32_t i = 1; i < 4; i += 2)
			update(&stage, i, &launch);
		cr_assert_eq(run_graph(&stage), way * 2);
		words_expect(&stage.fixture, stage.a, 21, "with another buffer");
		words_expect(&stage.fixture, stage.b, 7, "the other buffer");
		graph_stage_close(&stage);
		double_check(true);
	}
}

/* A node without work is none, wherever it is. */
Test(cuda_graphs_series, L9_empty_nodes_are_left_out)
{
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	struct graph_stage stage;
	struct backend_argument argument;
	const uint32_t value = 3;

	series_stage_open(&stage, true, true);
	const struct backend_command fill = fill_all(stage.a, &value),
				     launch = graph_stage_increment(&stage, &argument),
				     *const all[] = {&nothing, &fill, &nothing, &launch, &nothing};
	uint32_t node = 0;
	for (uint32_t i = 0; i < 5; i++)
		node = graph_node(&stage.fixture, stage.graph, all[i], &node, i > 0);
	graph_finish(&stage.fixture, stage.graph, false);
	cr_assert_eq(run_graph(&stage), 2);
	words_expect(&stage.fixture, stage.a, 4, "a");
	graph_stage_close(&stage);
	double_check(true);
}

/* Returns how many launches of such a graph are in chains. `branches`: the last node does not come
 * behind the one before it. */
static uint64_t chains_of_graph(uint32_t kernels, bool copies, bool branches, bool is_timed)
{
	struct graph_stage stage;
	struct backend_argument argument;
	const uint32_t value = 0;
	uint32_t node = 0, first = 0;

	series_stage_open(&stage, true, true);
	const struct backend_command fill = fill_all(stage.a, &value),
				     launch = graph_stage_increment(&stage, &argument),
				     copy = copy_all(stage.b, stage.a);
	node = first = graph_node(&stage.fixture, stage.graph, &fill, NULL, 0);
	for (uint32_t i = 1; i < kernels - (copies || branches); i++)
		node = graph_node(&stage.fixture, stage.graph, &launch, &node, 1);
	const uint32_t fill_b = 9;
	const struct backend_command last = fill_all(stage.b, &fill_b);
	if (copies)
		(void)graph_node(&stage.fixture, stage.graph, &copy, &node, 1);
	if (branches)
		(void)graph_node(&stage.fixture, stage.graph, &last, &first, 1);
	graph_finish(&stage.fixture, stage.graph, false);
	const struct backend_command whole = {
		.kind = BACKEND_COMMAND_GRAPH, .graph = stage.graph, .timed = is_timed};
	const uint64_t before = chain_launches(&stage);
	fixture_wait(&stage.fixture, 1, fixture_submit(&stage.fixture, 1, &whole));
	const uint64_t in_chains = chain_launches(&stage) - before;
	words_expect(&stage.fixture, stage.a, kernels - 1 - (copies || branches), "a");
	graph_stage_close(&stage);
	double_check(true);
	return in_chains;
}

Test(cuda_graphs_series, TR2_what_a_chain_cannot_have_is_a_graph_of_the_driver)
{
	cr_assert_eq(chains_of_graph(8, false, false, false), 8);
	cr_assert_eq(chains_of_graph(MOST + 1, false, false, false), 0);
	cr_assert_eq(chains_of_graph(4, true, false, false), 0);
	cr_assert_eq(chains_of_graph(4, false, true, false), 0);
	cr_assert_eq(chains_of_graph(4, false, false, true), 0);
}

/* A chain names the kernels' code beyond the graph. */
Test(cuda_graphs_series, the_graph_may_be_freed_behind_its_last_launch)
{
	struct graph_stage stage;
	struct backend_argument argument;
	const uint32_t value = 1;

	series_stage_open(&stage, true, true);
	const struct backend_command fill = fill_all(stage.a, &value);
	for (uint32_t i = 0; i < 20; i++) {
		const struct backend_command launch = graph_stage_increment(&stage, &argument);
		uint32_t node = graph_node(&stage.fixture, stage.graph, &fill, NULL, 0);
		(void)graph_node(&stage.fixture, stage.graph, &launch, &node, 1);
		graph_finish(&stage.fixture, stage.graph, false);
		cr_assert_eq(run_graph(&stage), 2);
		words_expect(&stage.fixture, stage.a, 2, "a");
		stage.fixture.ops->graph_free(stage.graph);
		stage.graph = graph_make(&stage.fixture);
		stage.fixture.ops->kernel_free(stage.increment);
		stage.increment = fixture_kernel(&stage.fixture, "increment_u32");
	}
	graph_stage_close(&stage);
	double_check(true);
}

/* The graph is named alone, on both ways: what came behind it was not running. */
static void expect_named(bool in_chains)
{
	struct graph_stage stage;
	struct backend_argument argument;
	struct backend_completion ended[3];
	uint64_t sequences[3];

	series_stage_open(&stage, in_chains, true);
	const struct backend_command launch = graph_stage_increment(&stage, &argument);
	uint32_t node = graph_node(&stage.fixture, stage.graph, &launch, NULL, 0);
	(void)graph_node(&stage.fixture, stage.graph, &launch, &node, 1);
	graph_finish(&stage.fixture, stage.graph, false);
	cr_assert_eq(run_graph(&stage), in_chains ? 2 : 0);
	double_command("fault_launch 2 700");
	sequences[0] = graph_send(&stage.fixture, 1, stage.graph);
	stage.fixture.ops->flush(stage.fixture.device);
	for (int i = 1; i < 3; i++)
		sequences[i] = fixture_submit(&stage.fixture, 1, &launch);
	for (int i = 0; i < 3; i++)
		ended[i] = fixture_finish(&stage.fixture, 1, sequences[i]);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(ended[i].fault.status, STATUS_DEVICE_LOST);
		cr_assert_eq(ended[i].fault.not_begun, i > 0, "%d", i);
	}
	graph_stage_close(&stage);
}

Test(cuda_graphs_series, F12_a_fault_names_a_graph_of_the_driver)
{
	expect_named(false);
}

Test(cuda_graphs_series, F12_a_fault_names_a_graph_in_a_chain)
{
	expect_named(true);
}

struct model {
	struct graph_stage stage;
	uint32_t a, b; /* the values of all words */
	struct backend_argument arguments[2];
	uint32_t values[MOST];
	bool overlaps, is_skipped[MOST];
	uint32_t count;
	uint32_t kinds[MOST]; /* 0: fill a, 1: increment a, 2: increment b */
};

static struct backend_command model_command(struct model *model, uint32_t node)
{
	static const uint64_t global = GRAPH_WORDS;

	if (model->kinds[node] == 0)
		return fill_all(model->stage.a, &model->values[node]);
	return launch_command(model->stage.increment, 1, &global,
			      &model->arguments[model->kinds[node] - 1], 1);
}

static void model_run(struct model *model)
{
	for (uint32_t i = 0; i < model->count; i++) {
		if (model->is_skipped[i])
			continue;
		if (model->kinds[i] == 0)
			model->a = model->values[i];
		model->a += model->kinds[i] == 1;
		model->b += model->kinds[i] == 2;
	}
}

static void model_make(struct model *model)
{
	uint32_t node = 0;

	model->count = 1 + (uint32_t)rand() % MOST;
	for (uint32_t i = 0; i < model->count; i++) {
		model->kinds[i] = (uint32_t)rand() % 3;
		model->values[i] = (uint32_t)rand() % 1000;
		model->is_skipped[i] = false;
		const struct backend_command command = model_command(model, i);
		node = graph_node(&model->stage.fixture, model->stage.graph, &command, &node,
				  i > 0);
	}
	graph_finish(&model->stage.fixture, model->stage.graph, true);
}

static void model_change(struct model *model)
{
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	const uint32_t node = (uint32_t)rand() % model->count;

	model->is_skipped[node] = !model->overlaps && rand() % 2 == 0;
	model->values[node] = (uint32_t)rand() % 1000;
	const struct backend_command command = model_command(model, node);
	update(&model->stage, node, model->is_skipped[node] ? &nothing : &command);
}

/* Launches of the graph and of kernels in any order on one lane. */
static void model_send(struct model *model)
{
	static const uint64_t global = GRAPH_WORDS;
	uint64_t last = 0;

	for (int i = rand() % 12; i >= 0; i--) {
		const unsigned of = (unsigned)rand() % 3;
		const struct backend_command launch = launch_command(
			model->stage.increment, 1, &global, &model->arguments[of % 2], 1);
		if (of == 2)
			model_run(model);
		else
			*(of == 0 ? &model->a : &model->b) += 1;
		last = of == 2 ? graph_send(&model->stage.fixture, 1, model->stage.graph)
			       : fixture_submit(&model->stage.fixture, 1, &launch);
		if (rand() % 4 == 0)
			model->stage.fixture.ops->flush(model->stage.fixture.device);
	}
	fixture_wait(&model->stage.fixture, 1, last);
	if (model->stage.fixture.ops->quiet_wanted(model->stage.fixture.device))
		model->stage.fixture.ops->quiet(model->stage.fixture.device);
}

Test(cuda_graphs_series, L9_L13_random_graphs_between_launches_on_both_ways)
{
	for (unsigned seed = 0; seed < 40; seed++) {
		struct model model = {.a = 0};
		srand(seed);
		model.overlaps = seed % 2 == 0;
		series_stage_open(&model.stage, seed % 8 > 1, model.overlaps);
		model.arguments[0] = global_argument(model.stage.a);
		model.arguments[1] = global_argument(model.stage.b);
		words_set(&model.stage.fixture, model.stage.a, 0);
		words_set(&model.stage.fixture, model.stage.b, 0);
		model_make(&model);
		for (uint32_t round = 0; round < 40; round++) {
			model_send(&model);
			model_change(&model);
		}
		words_expect(&model.stage.fixture, model.stage.a, model.a, "a");
		words_expect(&model.stage.fixture, model.stage.b, model.b, "b");
		graph_stage_close(&model.stage);
		double_check(true);
	}
}
