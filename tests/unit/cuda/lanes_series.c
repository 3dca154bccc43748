/* Graphs of a few kernels in a row, which a lane collects like launches. */
#include "cuda/graph/graph.h"
#include "cuda/lane/chain.h"
#include "cuda/lane/series.h"
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(cuda_lanes_series, .timeout = 10);

enum { OFTEN = 8, GRAPH_RAN = 1000 + (int)BACKEND_COMMAND_GRAPH };

struct scene {
	struct backend_device *device;
	struct backend_lane *lane;
	struct backend_kernel kernels[CUDA_SERIES_MAX], own;
	struct cuda_collected nodes[CUDA_SERIES_MAX];
	struct cuda_series series;
	struct backend_graph graph;
	struct backend_completion completions[32];
	uint32_t completed;
	uint64_t sequence;
	bool learns; /* the graph's pace is not set before each launch */
};

/* A graph of `length` kernels, whose ids begin with 1. */
static void lanes_series_open(struct scene *scene, uint32_t length)
{
	memset(scene, 0, sizeof(*scene));
	scene->device = lanes_device(16, true);
	scene->device->backend->settings.exact_chains = true;
	scene->device->backend->settings.graph_chains = true;
	scene->lane = lanes_lane(scene->device, BACKEND_LANE_COMPUTE);
	scene->own = (struct backend_kernel){.id = 100};
	scene->series.pace.period_ns = 1000;
	scene->series.count = scene->series.node_count = length;
	for (uint32_t i = 0; i < length; i++) {
		scene->kernels[i] = (struct backend_kernel){.id = 1 + (int)i};
		scene->nodes[i].kernel = &scene->kernels[i];
		scene->nodes[i].values = scene->nodes[i].storage;
		scene->nodes[i].launch = (struct cuda_launch){
			.function = (CUfunction)(void *)&scene->kernels[i],
			.grid = {1, 1, 1},
			.block = {1, 1, 1},
			.parameters = scene->nodes[i].parameters,
		};
		scene->series.nodes[i] = &scene->nodes[i];
	}
	scene->graph.count = length;
	scene->graph.series = &scene->series;
	scene->graph.device = scene->device;
	scene->graph.executable = (CUgraphExec)(void *)scene; /* any: the driver is not called */
}

static void lanes_series_close(struct scene *scene)
{
	lanes_device_free(scene->device);
}

static void send_graph(struct scene *scene)
{
	const struct backend_command command = {.kind = BACKEND_COMMAND_GRAPH,
						.graph = &scene->graph};

	if (!scene->learns) /* short, as estimated, however long this machine takes */
		scene->series.pace = (struct cuda_pace){.period_ns = 1000};
	lanes_submit(scene->lane, &command, ++scene->sequence);
}

static void send_launch(struct scene *scene)
{
	lanes_launch(scene->lane, &scene->own, ++scene->sequence);
}

/* Runs all and returns the number of chains and graphs of the driver. */
static uint32_t run_all(struct scene *scene)
{
	const uint32_t before = driver.counts.graph_launches;
	uint32_t ran = 0;

	driver.ran_count = 0;
	cuda_flush(scene->device);
	driver_run_all(scene->device);
	scene->completed = cuda_progress(scene->device, scene->completions, 32);
	for (uint32_t i = 0; i < driver.ran_count; i++)
		ran += driver.ran[i] == GRAPH_RAN;
	return driver.counts.graph_launches - before + ran;
}

static void expect_ran(const int *ids, uint32_t count)
{
	cr_assert_eq(driver.ran_count, count, "%u ran", driver.ran_count);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(driver.ran[i], ids[i], "%u: %d", i, driver.ran[i]);
}

Test(cuda_lanes_series, TR2_a_graph_and_what_is_around_it_are_one_launch)
{
	static const int ids[] = {100, 1, 2, 3, 4, 100, 100, 100};
	struct scene scene;

	lanes_series_open(&scene, 4);
	send_launch(&scene);
	send_graph(&scene);
	for (int i = 0; i < 3; i++)
		send_launch(&scene);
	cr_assert_eq(run_all(&scene), 1);
	expect_ran(ids, 8);
	cr_assert_eq(scene.completed, 5);
	for (uint32_t i = 0; i < 5; i++) {
		cr_assert_eq(scene.completions[i].sequence, i + 1);
		cr_assert_eq(scene.completions[i].fault.status, 0);
	}
	lanes_series_close(&scene);
}

Test(cuda_lanes_series, TR2_the_option_switches_it_off)
{
	static const int ids[] = {100, GRAPH_RAN, 100};
	struct scene scene;

	lanes_series_open(&scene, 4);
	scene.device->backend->settings.graph_chains = false;
	send_launch(&scene);
	send_graph(&scene);
	send_launch(&scene);
	cr_assert_eq(run_all(&scene), 2); /* the first one was sent before the graph */
	expect_ran(ids, 3);
	lanes_series_close(&scene);
}

/* Until there is a chain of its length, it is launched as the driver's own graph. */
Test(cuda_lanes_series, TR2_the_chain_of_its_length_is_requested)
{
	static const int ids[] = {1, 2, 3, 4, 5, 100};
	struct scene scene;

	lanes_series_open(&scene, 5);
	for (uint32_t i = 0; i < OFTEN; i++) {
		send_graph(&scene);
		cr_assert_eq(run_all(&scene), 1);
		cr_assert_eq(driver.ran[0], GRAPH_RAN);
	}
	cuda_chains_make_wanted(scene.device);
	for (uint32_t i = 0; i < OFTEN; i++) {
		send_graph(&scene);
		send_launch(&scene);
		cr_assert_eq(run_all(&scene), 2);
		expect_ran(ids, 6);
	}
	cuda_chains_make_wanted(scene.device);
	send_graph(&scene);
	send_launch(&scene);
	cr_assert_eq(run_all(&scene), 1);
	expect_ran(ids, 6);
	lanes_series_close(&scene);
}

Test(cuda_lanes_series, R3_nodes_that_are_skipped_are_not_launched)
{
	static const int ids[] = {1, 3};
	struct scene scene;

	lanes_series_open(&scene, 4);
	cuda_series_skip(&scene.graph, 1, true);
	cuda_series_skip(&scene.graph, 3, true);
	cuda_series_skip(&scene.graph, 3, true);
	send_graph(&scene);
	cr_assert_eq(run_all(&scene), 1);
	expect_ran(ids, 2);
	cuda_series_skip(&scene.graph, 1, false);
	cuda_series_skip(&scene.graph, 3, false);
	send_graph(&scene);
	cr_assert_eq(run_all(&scene), 1);
	cr_assert_eq(driver.ran_count, 4);
	lanes_series_close(&scene);
}

/* Only the end of a chain is reported, so it must come soon. A copy may follow. */
Test(cuda_lanes_series, B18_a_long_or_unknown_graph_is_with_no_other_kernel)
{
	static const uint64_t periods[] = {0, 1000000000};
	struct scene scene;

	for (int i = 0; i < 2; i++) {
		lanes_series_open(&scene, 4);
		scene.learns = true;
		scene.series.pace.period_ns = periods[i];
		send_launch(&scene);
		send_graph(&scene);
		send_launch(&scene);
		cr_assert_eq(run_all(&scene), 3, "%d", i);
		cr_assert_eq(driver.ran_count, 6);
		lanes_series_close(&scene);
	}
}

/* A graph that took unexpectedly long in a chain goes alone for a while. */
Test(cuda_lanes_series, B18_a_surprise_ends_after_so_many_launches)
{
	struct scene scene;

	lanes_series_open(&scene, 4);
	scene.learns = true;
	surprise_note(&scene.series.pace.surprise);
	for (uint32_t left = SURPRISE_FIRST; left > 0; left--) {
		cr_assert_eq(scene.series.pace.surprise.left, left);
		send_graph(&scene);
		send_launch(&scene);
		cr_assert_eq(run_all(&scene), 2);
	}
	cr_assert_eq(scene.series.pace.surprise.left, 0);
	lanes_series_close(&scene);
}

/* The pace is that of whole graphs, and is learned on both ways. */
Test(cuda_lanes_series, its_time_is_learned_on_both_ways)
{
	struct scene scene;

	for (int i = 0; i < 2; i++) {
		lanes_series_open(&scene, 4);
		scene.device->backend->settings.graph_chains = i == 0;
		scene.learns = true;
		scene.series.pace.period_ns = 0;
		send_graph(&scene);
		(void)run_all(&scene);
		cr_assert_eq(scene.completed, 1);
		cr_assert_neq(scene.series.pace.period_ns, 0);
		lanes_series_close(&scene);
	}
}

/* Otherwise its session would pay for one of four kernels, and others for the rest. */
Test(cuda_lanes_series, commands_of_a_chain_share_its_time_by_their_launches)
{
	struct scene scene;
	uint64_t took_ns[5];

	lanes_series_open(&scene, 4);
	send_graph(&scene);
	for (int i = 0; i < 4; i++)
		send_launch(&scene);
	cr_assert_eq(run_all(&scene), 1);
	cr_assert_eq(scene.completed, 5);
	for (int i = 0; i < 5; i++)
		took_ns[i] = scene.completions[i].end_ns - scene.completions[i].start_ns;
	for (int i = 1; i < 5; i++) {
		const int64_t difference = (int64_t)took_ns[0] - 4 * (int64_t)took_ns[i];
		cr_assert(difference > -64 && difference < 64, "%llu and %llu ns", /* rounding */
			  (unsigned long long)took_ns[0], (unsigned long long)took_ns[i]);
	}
	lanes_series_close(&scene);
}

/* The nodes behind a node that the driver refused need it. Other commands do not. */
Test(cuda_lanes_series, F12_a_refused_node_fails_its_graph_alone)
{
	static const int ids[] = {100, 1, 100};
	struct scene scene;

	lanes_series_open(&scene, 4);
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	driver.launch_result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	driver.launches_before_failure = 2;
	send_launch(&scene);
	send_graph(&scene);
	cuda_flush(scene.device);
	driver.launch_result = CUDA_SUCCESS;
	send_launch(&scene);
	(void)run_all(&scene);
	expect_ran(ids, 3);
	cr_assert_eq(scene.completed, 3);
	cr_assert_eq(scene.completions[0].fault.status, 0);
	cr_assert_eq(scene.completions[1].fault.native_code, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	cr_assert_eq(scene.completions[2].fault.status, 0);
	lanes_series_close(&scene);
}

/* All of a chain may have been running. What was sent behind it was not. */
Test(cuda_lanes_series, F12_a_lost_device_suspects_the_graph_and_its_chain)
{
	struct scene scene;

	lanes_series_open(&scene, 4);
	send_launch(&scene);
	send_graph(&scene);
	for (int i = 0; i < 3; i++)
		send_launch(&scene);
	cuda_flush(scene.device);
	send_graph(&scene);
	cuda_flush(scene.device);
	driver.dead = CUDA_ERROR_ILLEGAL_ADDRESS;
	scene.device->lanes->asked_ns = 0;
	scene.device->lanes->polls_left = 0;
	for (scene.completed = 0; scene.completed < 6;)
		scene.completed += cuda_progress(scene.device, scene.completions + scene.completed,
						 32 - scene.completed);
	for (uint32_t i = 0; i < 6; i++)
		cr_assert_eq(scene.completions[i].fault.not_begun, i == 5, "%u", i);
	lanes_series_close(&scene);
}

/* A lane whose chain is nearly full sends what it has first. */
Test(cuda_lanes_series, graphs_that_fill_a_chain_are_sent_at_once)
{
	struct scene scene;

	lanes_series_open(&scene, 8);
	for (int i = 0; i < 9; i++)
		send_launch(&scene);
	send_graph(&scene);
	cr_assert_eq(scene.lane->state->collected_count, 8);
	send_graph(&scene);
	cr_assert_eq(scene.lane->state->collected_count, 0);
	cr_assert_eq(run_all(&scene), 0);
	cr_assert_eq(driver.ran_count, 25);
	cr_assert_eq(scene.completed, 11);
	lanes_series_close(&scene);
}

/* Each number of nodes behind each number of launches runs each kernel once, in order. */
Test(cuda_lanes_series, every_mixture_runs_each_kernel_once)
{
	struct scene scene;

	for (uint32_t length = 1; length <= CUDA_SERIES_MAX; length++) {
		lanes_series_open(&scene, length);
		for (uint32_t round = 0; round < 200; round++) {
			uint32_t expected = 0, commands = 0;
			for (uint32_t bits = round; commands < 7; bits >>= 1, commands++) {
				if (bits & 1)
					send_graph(&scene);
				else
					send_launch(&scene);
				expected += bits & 1 ? length : 1;
			}
			(void)run_all(&scene);
			cr_assert_eq(scene.completed, commands);
			for (uint32_t i = 0; i < driver.ran_count; i++)
				if (driver.ran[i] == GRAPH_RAN)
					expected -= length - 1;
			cr_assert_eq(driver.ran_count, expected, "%u nodes, round %u", length,
				     round);
			cuda_chains_make_wanted(scene.device);
		}
		lanes_series_close(&scene);
	}
}
