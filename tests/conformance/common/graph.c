/* Graphs: nodes run in an order that their edges allow, as often as the graph is launched. They
 * change only by an update. */
#include "common/graph_stage.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LIMITED_GRAPH_ASPECT 19u /* SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH */

TestSuite(graphs, .timeout = 120);

Test(graphs, K19_the_aspect_is_told_where_native_commands_can_be_nodes)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open_backend(&fixture);
	cr_assert_gt(fixture.topology.device_count, 0);
	for (uint32_t i = 0; i < fixture.topology.device_count; i++) {
		const struct backend_device_facts *facts = &fixture.topology.devices[i];
		bool is_native = (facts->features & BACKEND_FEATURE_GRAPH_NATIVE) != 0;
		cr_assert_eq(is_native, (facts->aspects >> LIMITED_GRAPH_ASPECT & 1) != 0);
		if (facts->features & (BACKEND_FEATURE_GRAPH_NATIVE | BACKEND_FEATURE_GRAPH_UPDATE))
			cr_assert_neq(facts->features & BACKEND_FEATURE_GRAPH, 0);
		if (facts->features & BACKEND_FEATURE_GRAPH)
			cr_assert(fixture.ops->graph_create && fixture.ops->graph_add &&
				  fixture.ops->graph_finish && fixture.ops->graph_free);
		if (facts->features & BACKEND_FEATURE_GRAPH_UPDATE)
			cr_assert_not_null(fixture.ops->graph_update);
		/* A driver of command buffers reports these facts itself. */
		if (fixture.ops->kind == BACKEND_KIND_OPENCL && is_native)
			cr_assert_not_null(strstr(facts->extensions, "cl_khr_command_buffer"));
	}
	fixture.ops->close(fixture.backend);
}

/* Both arms of the diamond read the result of the first node, and the last node the results of both
 * arms. The graph runs repeatedly. */
Test(graphs, a_diamond_runs_as_its_edges_say)
{
	struct graph_stage stage;
	uint32_t node[6];

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	struct backend_graph *graph = graph_make(&stage.fixture);
	const struct backend_command to_b = copy_all(stage.b, stage.a),
				     to_c = copy_all(stage.c, stage.a);
	node[0] = graph_stage_mix(&stage, graph, stage.a, stage.a, 3, NULL, 0); /* a = a * 32 + 3 */
	node[1] = graph_node(&stage.fixture, graph, &to_b, &node[0], 1);
	node[2] = graph_node(&stage.fixture, graph, &to_c, &node[0], 1);
	node[3] = graph_stage_increment(&stage, graph, stage.b, &node[1], 1);
	node[4] = graph_stage_mix(&stage, graph, stage.c, stage.c, 5, &node[2], 1);
	node[5] = graph_stage_mix(&stage, graph, stage.b, stage.c, 7, &node[3], 2);
	graph_finish(&stage.fixture, graph, false);
	words_set(&stage.fixture, stage.a, 1);
	uint32_t a = 1;
	for (int i = 0; i < 20; i++) {
		graph_run(&stage.fixture, graph);
		a = a * 32 + 3;
		uint32_t c = a * 32 + 5, b = (a + 1) * 31 + c + 7;
		words_expect(&stage.fixture, stage.a, a, "a");
		words_expect(&stage.fixture, stage.b, b, "b");
		words_expect(&stage.fixture, stage.c, c, "c");
	}
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

/* ---------------------------- random graphs against a model ----------------------------- */

#define MEMORIES 5u
#define NODES    40u

struct history {
	uint32_t writer; /* node that wrote it last; UINT32_MAX: none */
	uint32_t readers[NODES], reader_count;
	uint32_t value; /* expected after the nodes so far */
};

struct random_graph {
	struct graph_stage stage;
	struct backend_graph *graph;
	struct backend_memory *memories[MEMORIES];
	struct history history[MEMORIES];
	uint32_t after[NODES * 2], after_count, count;
	uint32_t seed;
};

static uint32_t dice(struct random_graph *random, uint32_t sides)
{
	random->seed = random->seed * 1664525u + 1013904223u;
	return (random->seed >> 16) % sides;
}

static void add_edge(struct random_graph *random, uint32_t node)
{
	for (uint32_t i = 0; i < random->after_count; i++)
		if (random->after[i] == node)
			return;
	if (node != UINT32_MAX)
		random->after[random->after_count++] = node;
}

static void reads(struct random_graph *random, uint32_t memory)
{
	struct history *history = &random->history[memory];

	add_edge(random, history->writer);
	history->readers[history->reader_count++] = random->count;
}

static void writes(struct random_graph *random, uint32_t memory)
{
	struct history *history = &random->history[memory];

	add_edge(random, history->writer);
	for (uint32_t i = 0; i < history->reader_count; i++)
		if (history->readers[i] != random->count)
			add_edge(random, history->readers[i]);
	history->reader_count = 0;
	history->writer = random->count;
}

/* Adds one node with the fewest edges, and applies it to the model. */
static void add_random(struct random_graph *random)
{
	uint32_t to = dice(random, MEMORIES),
		 from = (to + 1 + dice(random, MEMORIES - 1)) % MEMORIES;
	uint32_t value = dice(random, 1000), kind = dice(random, 4);
	struct history *destination = &random->history[to];
	const struct history *source = &random->history[from];

	random->after_count = 0;
	if (kind == 0 || kind == 1)
		reads(random, from);
	writes(random, to);
	if (kind == 0) {
		const struct backend_command command =
			copy_all(random->memories[to], random->memories[from]);
		(void)graph_node(&random->stage.fixture, random->graph, &command, random->after,
				 random->after_count);
		destination->value = source->value;
	} else if (kind == 1) {
		(void)graph_stage_mix(&random->stage, random->graph, random->memories[to],
				      random->memories[from], value, random->after,
				      random->after_count);
		destination->value = destination->value * 31 + source->value + value;
	} else if (kind == 2) {
		const struct backend_command command = fill_all(random->memories[to], &value);
		(void)graph_node(&random->stage.fixture, random->graph, &command, random->after,
				 random->after_count);
		destination->value = value;
	} else {
		(void)graph_stage_increment(&random->stage, random->graph, random->memories[to],
					    random->after, random->after_count);
		destination->value++;
	}
	random->count++;
}

Test(graphs, L9_random_graphs_are_what_their_nodes_make_in_order)
{
	static struct random_graph random;

	if (!graph_stage_open(&random.stage))
		cr_skip_test("the device has no graphs");
	for (uint32_t i = 0; i < MEMORIES; i++)
		random.memories[i] = fixture_memory(&random.stage.fixture, GRAPH_WORDS * 4, NULL);
	for (uint32_t round = 0; round < 12; round++) {
		random.seed = round + 1;
		random.count = 0;
		random.graph = graph_make(&random.stage.fixture);
		for (uint32_t i = 0; i < MEMORIES; i++) {
			random.history[i] = (struct history){.writer = UINT32_MAX, .value = i + 1};
			words_set(&random.stage.fixture, random.memories[i], i + 1);
		}
		while (random.count < NODES)
			add_random(&random);
		graph_finish(&random.stage.fixture, random.graph, false);
		graph_run(&random.stage.fixture, random.graph);
		for (uint32_t i = 0; i < MEMORIES; i++)
			words_expect(&random.stage.fixture, random.memories[i],
				     random.history[i].value, "a random graph");
		random.stage.fixture.ops->graph_free(random.graph);
	}
	for (uint32_t i = 0; i < MEMORIES; i++)
		random.stage.fixture.ops->memory_free(random.memories[i]);
	graph_stage_close(&random.stage);
}

/* --------------------------------- among other commands --------------------------------- */

/* A graph is one command of its lane: its nodes read the results of earlier commands, and later
 * commands read its results. */
Test(graphs, L9_a_graph_keeps_its_place_among_commands)
{
	struct graph_stage stage;
	const uint64_t global = GRAPH_WORDS;
	uint32_t expected = 1;
	uint64_t last = 0;

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	struct backend_graph *graph = graph_make(&stage.fixture);
	uint32_t first = graph_stage_mix(&stage, graph, stage.a, stage.a, 1, NULL, 0);
	(void)graph_stage_increment(&stage, graph, stage.a, &first, 1);
	graph_finish(&stage.fixture, graph, false);
	words_set(&stage.fixture, stage.a, 1);
	words_set(&stage.fixture, stage.b, 9);
	for (uint32_t i = 0; i < 200; i++) {
		const struct backend_argument arguments[] = {global_argument(stage.a),
							     global_argument(stage.b),
							     value_argument(&i, sizeof(i))};
		const struct backend_command plain =
			launch_command(stage.mix, 1, &global, arguments, 3);
		(void)fixture_submit(&stage.fixture, 1, &plain);
		(void)graph_send(&stage.fixture, 1, graph);
		last = fixture_submit(&stage.fixture, 1, &plain);
		expected = expected * 31 + 9 + i;
		expected = expected * 32 + 1 + 1;
		expected = expected * 31 + 9 + i;
	}
	fixture_wait(&stage.fixture, 1, last);
	words_expect(&stage.fixture, stage.a, expected, "between commands");
	cr_assert_geq(stage.fixture.lanes[1].seen_count, 600);
	for (size_t i = 0; i < 600; i++)
		cr_assert_eq(stage.fixture.lanes[1].seen[i].sequence, i + 1);
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

/* Over all lanes: each launch waits for one on another lane, and another one waits for it. It is
 * never on two lanes at a time. */
Test(graphs, L9_L10_launches_wait_and_are_waited_for_across_lanes)
{
	struct graph_stage stage;
	const uint64_t global = GRAPH_WORDS;
	uint64_t last = 0;
	uint32_t expected = 1, last_lane = 0;

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	struct backend_graph *graph = graph_make(&stage.fixture);
	uint32_t first = graph_stage_mix(&stage, graph, stage.a, stage.a, 1, NULL, 0);
	(void)graph_stage_increment(&stage, graph, stage.a, &first, 1);
	graph_finish(&stage.fixture, graph, false);
	const struct backend_command launch = {.kind = BACKEND_COMMAND_GRAPH, .graph = graph};
	words_set(&stage.fixture, stage.a, 1);
	words_set(&stage.fixture, stage.b, 3);
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t lane = (i * 3 + 1) % TEST_LANES, other = (lane + 1) % TEST_LANES;
		const struct backend_argument arguments[] = {global_argument(stage.a),
							     global_argument(stage.b),
							     value_argument(&i, sizeof(i))};
		const struct backend_command plain =
			launch_command(stage.mix, 1, &global, arguments, 3);
		last = last ? fixture_submit_after(&stage.fixture, lane, &launch, last_lane, last)
			    : fixture_submit(&stage.fixture, lane, &launch);
		last = fixture_submit_after(&stage.fixture, other, &plain, lane, last);
		fixture_wait(&stage.fixture, other, last);
		last_lane = other;
		expected = (expected * 32 + 2) * 31 + 3 + i;
	}
	words_expect(&stage.fixture, stage.a, expected, "across lanes");
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

Test(graphs, L9_launches_of_one_graph_are_one_after_the_other)
{
	struct graph_stage stage;
	uint32_t expected = 0;
	uint64_t last = 0;

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	struct backend_graph *graph = graph_make(&stage.fixture);
	uint32_t node = graph_stage_mix(&stage, graph, stage.a, stage.a, 1, NULL, 0);
	for (int i = 0; i < 7; i++)
		node = graph_stage_mix(&stage, graph, stage.a, stage.a, 1, &node, 1);
	graph_finish(&stage.fixture, graph, false);
	words_set(&stage.fixture, stage.a, 0);
	for (int i = 0; i < 100; i++) {
		last = graph_send(&stage.fixture, 2, graph);
		for (int j = 0; j < 8; j++)
			expected = expected * 32 + 1;
	}
	fixture_wait(&stage.fixture, 2, last);
	words_expect(&stage.fixture, stage.a, expected, "a hundred launches");
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

/* Returns the longest reported time of some launches of 201 nodes; false: the device has no
 * graphs. */
static bool longest_launch(uint64_t *longest_ns_out)
{
	struct graph_stage stage;

	if (!graph_stage_open(&stage))
		return false;
	struct backend_graph *graph = graph_make(&stage.fixture);
	uint32_t node = graph_stage_fill(&stage, graph, stage.a, 1, NULL, 0);
	for (int i = 0; i < 200; i++)
		node = graph_stage_increment(&stage, graph, stage.a, &node, 1);
	graph_finish(&stage.fixture, graph, false);
	const struct backend_command command = {
		.kind = BACKEND_COMMAND_GRAPH, .timed = true, .graph = graph};
	*longest_ns_out = 0;
	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_now_ns();
		struct backend_completion ended = fixture_finish(
			&stage.fixture, 1, fixture_submit(&stage.fixture, 1, &command));
		uint64_t after = clock_now_ns();
		cr_assert_eq(ended.fault.status, 0);
		cr_assert_not(ended.estimated);
		cr_assert_geq(ended.start_ns, before);
		cr_assert_leq(ended.end_ns, after);
		cr_assert_geq(ended.end_ns, ended.start_ns);
		if (ended.end_ns - ended.start_ns > *longest_ns_out)
			*longest_ns_out = ended.end_ns - ended.start_ns;
	}
	words_expect(&stage.fixture, stage.a, 201, "timed");
	/* The time of these cannot be measured: with a scripted clock they take no time. */
	if (stage.fixture.ops->kind == BACKEND_KIND_FAKE)
		*longest_ns_out = UINT64_MAX;
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
	return true;
}

/*
 * 201 kernels take at least 20 ns each, so the last one's time alone would be shorter. Just after a
 * device was opened on a busy machine its clock is not exact. All times may then be 0, so there are
 * several tries.
 */
Test(graphs, L10_times_span_the_whole_graph)
{
	uint64_t longest_ns = 0;

	for (int attempt = 0; attempt < 10 && longest_ns < 201 * 20; attempt++)
		if (!longest_launch(&longest_ns))
			cr_skip_test("the device has no graphs");
	cr_assert_geq(longest_ns, 201 * 20);
}

Test(graphs, an_empty_graph_and_empty_nodes_complete)
{
	struct graph_stage stage;
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	struct backend_graph *empty = graph_make(&stage.fixture),
			     *graph = graph_make(&stage.fixture);
	graph_finish(&stage.fixture, empty, false);
	graph_run(&stage.fixture, empty);
	uint32_t first = graph_stage_fill(&stage, graph, stage.a, 4, NULL, 0);
	uint32_t between = graph_node(&stage.fixture, graph, &nop, &first, 1);
	(void)graph_stage_increment(&stage, graph, stage.a, &between, 1);
	graph_finish(&stage.fixture, graph, false);
	graph_run(&stage.fixture, graph);
	graph_run(&stage.fixture, empty);
	words_expect(&stage.fixture, stage.a, 5, "through an empty node");
	stage.fixture.ops->graph_free(graph);
	stage.fixture.ops->graph_free(empty);
	stage.fixture.ops->graph_free(NULL);
	graph_stage_close(&stage);
}

/* ----------------------------------- what is refused ------------------------------------ */

Test(graphs, what_cannot_be_a_node_leaves_the_graph_as_it_was)
{
	struct graph_stage stage;
	struct backend_fault fault = {0};
	uint32_t node = 0, missing = 7;

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	struct backend_graph *graph = graph_make(&stage.fixture),
			     *other = graph_make(&stage.fixture);
	const uint64_t global = GRAPH_WORDS;
	const struct backend_argument wrong[] = {global_argument(stage.a),
						 global_argument(stage.b)};
	const struct backend_command bad_launch = launch_command(stage.fill, 1, &global, wrong, 2);
	struct backend_command far_copy = copy_all(stage.b, stage.a);
	const struct backend_command unfinished = {.kind = BACKEND_COMMAND_GRAPH, .graph = other};
	const struct backend_command record = {.kind = BACKEND_COMMAND_EVENT_RECORD};
	(void)graph_stage_fill(&stage, graph, stage.a, 3, NULL, 0);
	far_copy.copy.destination_offset_bytes = 4;
	graph_node_fails(&stage.fixture, graph, &bad_launch, -EINVAL);
	if (stage.fixture.ops->kind != BACKEND_KIND_FAKE) /* detects it when it runs */
		graph_node_fails(&stage.fixture, graph, &far_copy, -EINVAL);
	graph_node_fails(&stage.fixture, graph, &unfinished, -EINVAL);
	graph_node_fails(&stage.fixture, graph, &record, -EOPNOTSUPP);
	const struct backend_command good = copy_all(stage.b, stage.a);
	cr_assert_eq(stage.fixture.ops->graph_add(graph, &good, &missing, 1, &node, &fault),
		     -EINVAL);
	node = 0;
	cr_assert_eq(graph_node(&stage.fixture, graph, &good, &node, 1), 1);
	graph_finish(&stage.fixture, graph, false);
	graph_node_fails(&stage.fixture, graph, &good, -EINVAL);
	cr_assert_eq(stage.fixture.ops->graph_finish(graph, false, &fault), -EINVAL);
	graph_run(&stage.fixture, graph);
	words_expect(&stage.fixture, stage.b, 3, "the good ones");
	const struct backend_command launch = {.kind = BACKEND_COMMAND_GRAPH, .graph = other};
	(void)fixture_submit_fails(&stage.fixture, 1, &launch);
	stage.fixture.ops->graph_free(other);
	stage.fixture.ops->graph_free(graph);
	graph_stage_close(&stage);
}

/* ----------------------------------- graphs in graphs ----------------------------------- */

Test(graphs, L14_a_graph_in_a_graph_is_one_of_its_nodes)
{
	struct graph_stage stage;
	uint32_t node[4];

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	struct backend_graph *inner = graph_make(&stage.fixture),
			     *outer = graph_make(&stage.fixture),
			     *around = graph_make(&stage.fixture);
	const struct backend_command inner_node = {.kind = BACKEND_COMMAND_GRAPH, .graph = inner},
				     outer_node = {.kind = BACKEND_COMMAND_GRAPH, .graph = outer};
	/* The same graph twice, between nodes of the outer graph; and that one in a third. */
	node[0] = graph_stage_mix(&stage, inner, stage.a, stage.a, 1, NULL, 0);
	(void)graph_stage_increment(&stage, inner, stage.a, &node[0], 1);
	graph_finish(&stage.fixture, inner, false);
	node[0] = graph_stage_fill(&stage, outer, stage.a, 2, NULL, 0);
	node[1] = graph_node(&stage.fixture, outer, &inner_node, &node[0], 1);
	node[2] = graph_stage_mix(&stage, outer, stage.a, stage.a, 5, &node[1], 1);
	node[3] = graph_node(&stage.fixture, outer, &inner_node, &node[2], 1);
	const struct backend_command out = copy_all(stage.b, stage.a);
	(void)graph_node(&stage.fixture, outer, &out, &node[3], 1);
	graph_finish(&stage.fixture, outer, false);
	node[0] = graph_node(&stage.fixture, around, &outer_node, NULL, 0);
	(void)graph_stage_increment(&stage, around, stage.b, &node[0], 1);
	graph_finish(&stage.fixture, around, false);
	uint32_t expected = 2 * 32 + 2;
	expected = (expected * 32 + 5) * 32 + 2;
	graph_run(&stage.fixture, outer);
	words_expect(&stage.fixture, stage.b, expected, "two in one");
	/* Copied nodes stay valid without the graphs from which they were copied. */
	stage.fixture.ops->graph_free(inner);
	stage.fixture.ops->graph_free(outer);
	for (int i = 0; i < 3; i++) {
		words_set(&stage.fixture, stage.b, 0);
		graph_run(&stage.fixture, around);
		words_expect(&stage.fixture, stage.b, expected + 1, "one in another");
	}
	stage.fixture.ops->graph_free(around);
	graph_stage_close(&stage);
}

/* --------------------------------------- changes ---------------------------------------- */

static void live_once(struct graph_stage *stage, bool runs)
{
	struct backend_graph *graph = graph_make(&stage->fixture);
	uint32_t node[2];

	node[0] = graph_stage_fill(stage, graph, stage->a, 7, NULL, 0);
	const struct backend_command copy = copy_all(stage->b, stage->a);
	node[1] = graph_node(&stage->fixture, graph, &copy, node, 1);
	(void)graph_stage_increment(stage, graph, stage->b, &node[1], 1);
	graph_finish(&stage->fixture, graph, true);
	if (runs) {
		graph_run(&stage->fixture, graph);
		stage->fixture.lanes[1].seen_count = 0;
	}
	stage->fixture.ops->graph_free(graph);
}

Test(graphs, L17_ten_thousand_graphs_leave_nothing_behind)
{
	struct graph_stage stage;

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	for (int i = 0; i < 5000; i++)
		live_once(&stage, i % 50 == 0);
	size_t before = 0, after = SIZE_MAX;
	/* A driver's thread may allocate memory for its first command. A leak of each graph would
	 * show in each round. */
	for (int round = 0; round < 8 && after > before + (160u << 10); round++) {
		before = mallinfo2().uordblks;
		for (int i = 0; i < 10000; i++)
			live_once(&stage, i % 50 == 0);
		after = mallinfo2().uordblks;
	}
	/* A driver's own memory grows in steps (130 KiB, H200); a leaked block of each graph would
	 * be more. */
	cr_assert_leq(after, before + (160u << 10), "%zu bytes before, %zu after", before, after);
	/* The same holds for graphs that were never finished, or never launched. */
	for (int i = 0; i < 100; i++) {
		struct backend_graph *graph = graph_make(&stage.fixture);
		(void)graph_stage_fill(&stage, graph, stage.a, 7, NULL, 0);
		stage.fixture.ops->graph_free(graph);
	}
	graph_stage_close(&stage);
}

/* ----------------------------- boxes, patterns, host memory ----------------------------- */

/* As a command of a lane, into memory that is filled with `before`. */
static void both_ways(struct graph_stage *stage, const struct backend_command *command,
		      const char *what)
{
	static uint8_t plain[GRAPH_WORDS * 4], whole[GRAPH_WORDS * 4];
	struct backend_fault fault = {0};
	struct backend_graph *graph = graph_make(&stage->fixture);
	uint32_t node = 0;

	words_set(&stage->fixture, stage->b, 0x5a5a5a5a);
	fixture_wait(&stage->fixture, 1, fixture_submit(&stage->fixture, 1, command));
	fixture_read(&stage->fixture, stage->b, 0, plain, sizeof(plain));
	words_set(&stage->fixture, stage->b, 0x5a5a5a5a);
	int error = stage->fixture.ops->graph_add(graph, command, NULL, 0, &node, &fault);
	cr_assert(error == 0 || error == -EOPNOTSUPP, "%s: %s", what, fault.text);
	graph_finish(&stage->fixture, graph, false);
	graph_run(&stage->fixture, graph);
	fixture_read(&stage->fixture, stage->b, 0, whole, sizeof(whole));
	if (error == 0)
		cr_assert_arr_eq(plain, whole, sizeof(plain), "%s", what);
	stage->fixture.ops->graph_free(graph);
}

Test(graphs, patterns_and_boxes_are_as_without_a_graph)
{
	struct graph_stage stage;
	static uint32_t words[GRAPH_WORDS];
	uint8_t pattern[128];

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	for (uint32_t i = 0; i < GRAPH_WORDS; i++)
		words[i] = i * 2654435761u;
	for (uint32_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + 1);
	fixture_write(&stage.fixture, stage.a, 0, words, sizeof(words));
	for (uint32_t bytes = 1; bytes <= 128; bytes = bytes < 20 ? bytes + 1 : bytes * 2) {
		/* The fake backend requires whole patterns. */
		struct backend_command fill = {
			.kind = BACKEND_COMMAND_FILL,
			.fill = {.memory = stage.b,
				 .offset_bytes = bytes * 3ull,
				 .size_bytes = bytes * 7ull,
				 .pattern = pattern,
				 .pattern_bytes = bytes},
		};
		both_ways(&stage, &fill, "a fill");
		fill.fill.offset_bytes = bytes;
		fill.fill.size_bytes = (3000u / bytes) * bytes;
		both_ways(&stage, &fill, "a longer fill");
	}
	for (uint32_t slices = 1; slices <= 3; slices++) {
		for (uint32_t rows = 1; rows <= 3; rows++) {
			const struct backend_rect rect = {.width_bytes = 12,
							  .rows = rows,
							  .slices = slices,
							  .source_row_pitch = 40,
							  .source_slice_pitch = 160,
							  .destination_row_pitch = 36,
							  .destination_slice_pitch = 144};
			struct backend_command copy = copy_all(stage.b, stage.a);
			copy.copy.source_offset_bytes = 8;
			copy.copy.destination_offset_bytes = 20;
			copy.copy.size_bytes = 12ull * rows * slices;
			copy.copy.rect = &rect;
			both_ways(&stage, &copy, "a box");
		}
	}
	graph_stage_close(&stage);
}

/* Host memory is read and written when the graph runs, not when it is made. */
Test(graphs, L9_host_memory_is_read_and_written_at_each_launch)
{
	struct graph_stage stage;
	struct backend_fault fault = {0};
	struct backend_host *host = NULL;
	uint32_t node[3];

	if (!graph_stage_open(&stage))
		cr_skip_test("the device has no graphs");
	uint32_t *words =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(words, MAP_FAILED);
	if (stage.fixture.facts->features & BACKEND_FEATURE_HOST_REGISTER)
		cr_assert_eq(stage.fixture.ops->host_register(stage.fixture.device, words, 8192,
							      &host, &fault),
			     0, "%s", fault.text);
	struct backend_command write = {
		.kind = BACKEND_COMMAND_WRITE,
		.transfer = {.memory = stage.a, .size_bytes = GRAPH_WORDS * 4ull, .host = words},
	};
	struct backend_command read = write;
	read.kind = BACKEND_COMMAND_READ;
	read.transfer.host = words + 1024;
	struct backend_graph *graph = graph_make(&stage.fixture);
	if (stage.fixture.ops->graph_add(graph, &write, NULL, 0, &node[0], &fault) == 0) {
		node[1] = graph_stage_increment(&stage, graph, stage.a, &node[0], 1);
		(void)graph_node(&stage.fixture, graph, &read, &node[1], 1);
		graph_finish(&stage.fixture, graph, false);
		for (uint32_t round = 0; round < 20; round++) {
			for (uint32_t i = 0; i < GRAPH_WORDS; i++)
				words[i] = round * 1000 + i;
			graph_run(&stage.fixture, graph);
			for (uint32_t i = 0; i < GRAPH_WORDS; i++)
				cr_assert_eq(words[1024 + i], round * 1000 + i + 1);
		}
	} else {
		cr_assert_neq(fault.text[0], '\0');
	}
	stage.fixture.ops->graph_free(graph);
	if (host)
		stage.fixture.ops->host_unregister(host);
	cr_assert_eq(munmap(words, 8192), 0);
	graph_stage_close(&stage);
}

/* ----------------------------------- native commands ------------------------------------ */
