/* Multiprocessors that are set apart for the latency class: which kernels run where, when lanes
 * move, and what is refused. */
#include "cuda/double.h"
#include "cuda/device/device.h"
#include "cuda/lane/lane.h"
#include "status.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
	COUNT = 1000,
	MULTIPROCESSORS = 132,
	FEW = 16,
	LATENCY = 1
}; /* LATENCY: a lane's index; of the others 0 is used */

TestSuite(cuda_partition, .timeout = 60);

static struct fake_cuda_record records[DOUBLE_RECORDS];

struct scene {
	struct fixture fixture;
	struct backend_memory *memory;
	struct backend_kernel *increment, *fill;
	uint32_t increments; /* number that were sent */
};

static void open_with_option(struct fixture *fixture, const char *option)
{
	const char *const options[] = {"library=" FAKE_CUDA_LIBRARY, option, NULL};
	const struct backend_settings settings = {.options = options};
	fixture_open_backend_with(fixture, &settings);
}

static void make_lane(struct fixture *fixture, uint32_t index, enum backend_lane_kind kind)
{
	struct test_lane *lane = &fixture->lanes[index];
	struct backend_fault fault = {0};

	fixture->ops->lane_free(lane->lane);
	cr_assert_eq(fixture->ops->lane_create(fixture->device, kind, &lane->lane, &fault), 0, "%s",
		     fault.text);
}

static void make_latency_lane(struct fixture *fixture)
{
	make_lane(fixture, LATENCY, BACKEND_LANE_LATENCY);
}

static void open_partition_scene(struct scene *scene, const char *option)
{
	*scene = (struct scene){.increments = 0};
	open_with_option(&scene->fixture, option);
	fixture_open(&scene->fixture, 0);
	scene->memory = fixture_memory(&scene->fixture, COUNT * 4ull, NULL);
	scene->increment = fixture_kernel(&scene->fixture, "increment_u32");
	scene->fill = fixture_kernel(&scene->fixture, "fill_u32");
	make_latency_lane(&scene->fixture);
}

static void cuda_partition_scene_close(struct scene *scene)
{
	scene->fixture.ops->kernel_free(scene->increment);
	scene->fixture.ops->kernel_free(scene->fill);
	scene->fixture.ops->memory_free(scene->memory);
	fixture_close(&scene->fixture);
	cr_assert_eq(double_count("green_contexts"), 0);
	double_check(true);
}

/* The engine notifies the device, and gives it a quiet moment if it needs one. Returns how many are
 * set apart then. */
static uint32_t want(struct scene *scene, uint32_t reasons)
{
	const struct backend_ops *ops = scene->fixture.ops;

	ops->latency_wanted(scene->fixture.device, reasons);
	if (ops->quiet_wanted(scene->fixture.device)) {
		cr_assert_eq(ops->quiet_hold_ns(scene->fixture.device), UINT64_MAX);
		ops->quiet(scene->fixture.device);
	}
	cr_assert(!ops->quiet_wanted(scene->fixture.device));
	return ops->latency_units(scene->fixture.device);
}

static uint64_t cuda_partition_submit_increment(struct scene *scene, uint32_t lane,
						const struct backend_launch_properties *properties)
{
	const uint64_t global = COUNT;
	const struct backend_argument arguments[] = {global_argument(scene->memory)};
	struct backend_command command = launch_command(scene->increment, 1, &global, arguments, 1);

	command.launch.properties = properties;
	scene->increments++;
	return fixture_submit(&scene->fixture, lane, &command);
}

/* The last kernel of that name ran on `count` multiprocessors from `first` on. */
static void expect_where(const char *name, uint64_t first, uint64_t count)
{
	for (size_t i = double_records(records); i > 0; i--) {
		if (records[i - 1].kind != FAKE_CUDA_LAUNCH ||
		    strcmp(records[i - 1].text, name) != 0)
			continue;
		cr_assert_eq(records[i - 1].address, first, "from %llu on",
			     (unsigned long long)records[i - 1].address);
		cr_assert_eq(records[i - 1].size_bytes, count, "on %llu",
			     (unsigned long long)records[i - 1].size_bytes);
		return;
	}
	cr_assert_fail("%s never ran", name);
}

/* Launches that go together where chains are sent, and one that is timed. */
static void expect_lane(struct scene *scene, uint32_t lane, uint64_t first, uint64_t count)
{
	uint64_t last = 0;

	for (int i = 0; i < 5; i++)
		last = cuda_partition_submit_increment(scene, lane, NULL);
	fixture_wait(&scene->fixture, lane, last);
	expect_where("increment_u32", first, count);
}

static void expect_sum(struct scene *scene)
{
	uint32_t words[COUNT];

	fixture_read(&scene->fixture, scene->memory, 0, words, sizeof(words));
	for (size_t i = 0; i < COUNT; i++)
		cr_assert_eq(words[i], scene->increments);
}

static void clear_memory(struct scene *scene)
{
	static const uint32_t zeros[COUNT];

	fixture_write(&scene->fixture, scene->memory, 0, zeros, sizeof(zeros));
}

Test(cuda_partition, without_the_option_or_without_the_class_there_is_none)
{
	struct scene scene;

	open_partition_scene(&scene, NULL);
	cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 0);
	expect_lane(&scene, LATENCY, 0, MULTIPROCESSORS);
	cuda_partition_scene_close(&scene);
	open_partition_scene(&scene, "latency_multiprocessors=16");
	cr_assert_eq(want(&scene, 0), 0);
	expect_lane(&scene, LATENCY, 0, MULTIPROCESSORS);
	cr_assert_eq(double_count("green_contexts_created"), 0);
	cr_assert_eq(double_count("call cuDeviceGetDevResource"), 0);
	cuda_partition_scene_close(&scene);
}

Test(cuda_partition, the_latency_class_has_some_and_all_others_the_rest)
{
	struct scene scene;

	open_partition_scene(&scene, "latency_multiprocessors=9");
	clear_memory(&scene);
	for (int round = 0; round < 3; round++) {
		expect_lane(&scene, LATENCY, 0, MULTIPROCESSORS);
		cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), FEW);
		expect_lane(&scene, LATENCY, 0, FEW);
		expect_lane(&scene, 0, FEW, MULTIPROCESSORS - FEW);
		/* A lane that is made now. */
		make_latency_lane(&scene.fixture);
		expect_lane(&scene, LATENCY, 0, FEW);
		cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), FEW);
		cr_assert_eq(want(&scene, 0), 0);
		expect_lane(&scene, 0, 0, MULTIPROCESSORS);
	}
	expect_lane(&scene, LATENCY, 0, MULTIPROCESSORS);
	expect_sum(&scene);
	cr_assert_eq(double_count("green_contexts_created"), 6);
	cr_assert_eq(scene.fixture.device->lanes->chains_refused, 0,
		     "what is not asked for is not refused");
	cr_assert_eq(double_count("green_contexts"), 0);
	cuda_partition_scene_close(&scene);
}

/* All others have the whole device meanwhile, and nothing is set apart. */
Test(cuda_partition, TR6_best_effort_spares_some_while_others_are_there)
{
	struct scene scene;

	open_partition_scene(&scene, "best_effort_spares=9");
	clear_memory(&scene);
	cr_assert_eq(want(&scene, BACKEND_APART_BESIDE), 0);
	cr_assert_eq(double_count("green_contexts_created"), 0, "without best effort");
	for (int round = 0; round < 3; round++) {
		make_lane(&scene.fixture, 0, BACKEND_LANE_BESIDE);
		cr_assert_eq(want(&scene, BACKEND_APART_BESIDE), 0);
		expect_lane(&scene, 0, FEW, MULTIPROCESSORS - FEW);
		expect_lane(&scene, LATENCY, 0, MULTIPROCESSORS);
		make_lane(&scene.fixture, 0, BACKEND_LANE_BESIDE);
		expect_lane(&scene, 0, FEW, MULTIPROCESSORS - FEW);
		make_lane(&scene.fixture, 0, BACKEND_LANE_COMPUTE);
		expect_lane(&scene, 0, 0, MULTIPROCESSORS);
		make_lane(&scene.fixture, 0, BACKEND_LANE_BESIDE);
		cr_assert_eq(want(&scene, 0), 0);
		expect_lane(&scene, 0, 0, MULTIPROCESSORS);
		make_lane(&scene.fixture, 0, BACKEND_LANE_COMPUTE);
	}
	expect_sum(&scene);
	cuda_partition_scene_close(&scene);
}

/* The double's device has work for good; then it is idle. */
Test(cuda_partition, TR6_sparing_some_holds_others_back_for_a_short_time)
{
	struct scene scene;

	open_partition_scene(&scene, "best_effort_spares=16");
	clear_memory(&scene);
	make_lane(&scene.fixture, 0, BACKEND_LANE_BESIDE);
	const struct backend_ops *ops = scene.fixture.ops;
	struct backend_device *device = scene.fixture.device;
	struct cuda_partition *partition = &device->lanes->partition;

	device->lanes->in_flight++;
	ops->latency_wanted(device, BACKEND_APART_BESIDE);
	cr_assert(ops->quiet_wanted(device));
	partition->asks_until_ns = 0; /* the time has passed */
	cr_assert(!ops->quiet_wanted(device));
	ops->latency_wanted(device, 0);
	ops->latency_wanted(device, BACKEND_APART_BESIDE);
	cr_assert(!ops->quiet_wanted(device), "once in a minute");
	device->lanes->in_flight--;
	cr_assert(ops->quiet_wanted(device));
	ops->quiet(device);
	expect_lane(&scene, 0, 16, MULTIPROCESSORS - 16);
	cuda_partition_scene_close(&scene);
}

Test(cuda_partition, TR6_what_is_set_apart_for_the_latency_class_is_so_for_it_alone)
{
	struct scene scene;

	open_partition_scene(&scene, "latency_multiprocessors=16");
	clear_memory(&scene);
	make_lane(&scene.fixture, 0, BACKEND_LANE_BESIDE);
	cr_assert_eq(want(&scene, BACKEND_APART_BESIDE), 0);
	expect_lane(&scene, 0, 0, MULTIPROCESSORS);
	cuda_partition_scene_close(&scene);
}

/* Lanes keep their order meanwhile, and wait for each other. */
Test(cuda_partition, F1_what_is_sent_stays_in_order)
{
	struct scene scene;
	uint64_t last = 0;

	open_partition_scene(&scene, "latency_multiprocessors=16");
	clear_memory(&scene);
	for (uint32_t round = 0; round < 12; round++) {
		const uint64_t global = COUNT;
		const struct backend_argument arguments[] = {global_argument(scene.memory)};
		const struct backend_command command =
			launch_command(scene.increment, 1, &global, arguments, 1);
		for (uint32_t i = 0; i <= round; i++)
			last = cuda_partition_submit_increment(&scene, 0, NULL);
		last = fixture_submit_after(&scene.fixture, LATENCY, &command, 0, last);
		last = fixture_submit_after(&scene.fixture, 0, &command, LATENCY, last);
		scene.increments += 2;
		fixture_wait(&scene.fixture, 0, last);
		(void)want(&scene, round % 2 == 0);
		expect_sum(&scene);
	}
	cuda_partition_scene_close(&scene);
}

/* The device's facts are unchanged with a part set apart. So a kernel without room in the part runs
 * on the whole device. */
Test(cuda_partition, E8_a_cooperative_launch_that_the_part_does_not_hold_runs_on_the_whole)
{
	static const struct backend_launch_properties together = {.cooperative = true};
	const uint64_t local[3] = {0, 0, 256};
	struct backend_occupancy before, after;
	struct backend_fault fault = {0};
	struct scene scene;

	open_partition_scene(&scene, "latency_multiprocessors=8");
	clear_memory(&scene);
	const uint32_t units = scene.fixture.facts->max_compute_units;
	cr_assert_eq(
		scene.fixture.ops->kernel_occupancy(scene.increment, local, 0, &before, &fault), 0);
	cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 8);
	cr_assert_eq(scene.fixture.ops->kernel_occupancy(scene.increment, local, 0, &after, &fault),
		     0);
	cr_assert_eq(after.max_cooperative_groups, before.max_cooperative_groups);
	cr_assert_eq(scene.fixture.facts->max_compute_units, units);
	/* 1000 work-items in groups of the backend's choice fit into eight. */
	fixture_wait(&scene.fixture, LATENCY,
		     cuda_partition_submit_increment(&scene, LATENCY, &together));
	expect_where("increment_u32", 0, 8);

	const uint64_t global = 256ull * after.max_cooperative_groups, group = 256;
	struct backend_memory *large = fixture_memory(&scene.fixture, global * 4, NULL);
	const uint32_t value = 7;
	const struct backend_argument arguments[] = {global_argument(large),
						     value_argument(&value, 4)};
	struct backend_command command = launch_command(scene.fill, 1, &global, arguments, 2);
	command.launch.local[0] = group;
	command.launch.properties = &together;
	(void)cuda_partition_submit_increment(&scene, LATENCY, NULL);
	(void)fixture_submit(&scene.fixture, LATENCY, &command);
	const uint64_t last = cuda_partition_submit_increment(&scene, LATENCY, NULL);
	fixture_wait(&scene.fixture, LATENCY, last);
	expect_where("fill_u32", 0, MULTIPROCESSORS);
	expect_where("increment_u32", 0, 8);
	uint32_t word = 0;
	fixture_read(&scene.fixture, large, (global - 1) * 4, &word, 4);
	cr_assert_eq(word, 7);
	expect_sum(&scene);
	scene.fixture.ops->memory_free(large);
	cuda_partition_scene_close(&scene);
}

/* Its kernels run on the multiprocessors of their functions, which are all, and in the lane's order
 * all the same. */
Test(cuda_partition, K_a_graph_runs_on_the_whole_in_its_lane_s_order)
{
	struct backend_graph *graph = NULL;
	struct backend_fault fault = {0};
	struct scene scene;
	uint32_t node = 0;

	open_partition_scene(&scene, "latency_multiprocessors=8");
	clear_memory(&scene);
	const uint64_t global = COUNT;
	const struct backend_argument arguments[] = {global_argument(scene.memory)};
	const struct backend_command step =
		launch_command(scene.increment, 1, &global, arguments, 1);
	cr_assert_eq(scene.fixture.ops->graph_create(scene.fixture.device, &graph, &fault), 0);
	cr_assert_eq(scene.fixture.ops->graph_add(graph, &step, NULL, 0, &node, &fault), 0, "%s",
		     fault.text);
	cr_assert_eq(scene.fixture.ops->graph_finish(graph, false, &fault), 0, "%s", fault.text);
	cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 8);
	for (int i = 0; i < 20; i++) {
		(void)cuda_partition_submit_increment(&scene, LATENCY, NULL);
		uint64_t last = fixture_submit(
			&scene.fixture, LATENCY,
			&(struct backend_command){.kind = BACKEND_COMMAND_GRAPH, .graph = graph});
		scene.increments++;
		if (i == 19) {
			fixture_wait(&scene.fixture, LATENCY, last);
			expect_where("increment_u32", 0, MULTIPROCESSORS);
		}
	}
	expect_sum(&scene);
	expect_lane(&scene, LATENCY, 0, 8);
	scene.fixture.ops->graph_free(graph);
	cuda_partition_scene_close(&scene);
}

/* Whatever the driver refuses, lanes still work. The request is repeated after the class was
 * absent. */
Test(cuda_partition, what_fails_when_it_is_made_leaves_lanes_on_the_whole)
{
	static const char *const calls[] = {"cuDeviceGetDevResource 1",
					    "cuDevSmResourceSplitByCount 1",
					    "cuDevResourceGenerateDesc 1",
					    "cuDevResourceGenerateDesc 2",
					    "cuGreenCtxCreate 1",
					    "cuGreenCtxCreate 2",
					    "cuGreenCtxStreamCreate 1",
					    "cuGreenCtxStreamCreate 2",
					    "cuGreenCtxStreamCreate 4",
					    "cuEventRecord 2",
					    "cuEventElapsedTime 1",
					    "cuStreamWriteValue32 1",
					    "cuLaunchKernel 1"};
	struct scene scene;

	open_partition_scene(&scene, "latency_multiprocessors=8");
	clear_memory(&scene);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		double_command("fail %s 801", calls[i]);
		cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 0, "%s", calls[i]);
		double_command("forget");
		cr_assert_eq(double_count("green_contexts"), 0, "%s", calls[i]);
		expect_lane(&scene, LATENCY, 0, MULTIPROCESSORS);
		expect_lane(&scene, 0, 0, MULTIPROCESSORS);
		/* It is not repeated at once. */
		cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 0);
		cr_assert_eq(want(&scene, 0), 0);
	}
	cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 8);
	expect_lane(&scene, LATENCY, 0, 8);
	expect_sum(&scene);
	cuda_partition_scene_close(&scene);
}

/* I8: a stream that was given to the application always stays with its lane. */
Test(cuda_partition, I8_a_lane_whose_stream_was_given_out_stays_there)
{
	struct backend_fault fault = {0};
	uint64_t before = 0, after = 0;
	struct scene scene;

	open_partition_scene(&scene, "latency_multiprocessors=8");
	clear_memory(&scene);
	cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 8);
	(void)cuda_partition_submit_increment(&scene, LATENCY, NULL);
	const struct backend_ops *ops = scene.fixture.ops;
	cr_assert_eq(ops->native_get(scene.fixture.device, BACKEND_NATIVE_QUEUE,
				     scene.fixture.lanes[LATENCY].lane, &before, &fault),
		     0, "%s", fault.text);
	fixture_wait(&scene.fixture, LATENCY,
		     cuda_partition_submit_increment(&scene, LATENCY, NULL));
	expect_where("increment_u32", 0, MULTIPROCESSORS);
	cr_assert_eq(want(&scene, 0), 0);
	cr_assert_eq(want(&scene, BACKEND_APART_LATENCY), 8);
	expect_lane(&scene, LATENCY, 0, MULTIPROCESSORS);
	expect_lane(&scene, 0, 8, MULTIPROCESSORS - 8);
	cr_assert_eq(ops->native_get(scene.fixture.device, BACKEND_NATIVE_QUEUE,
				     scene.fixture.lanes[LATENCY].lane, &after, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(before, after);
	expect_sum(&scene);
	cuda_partition_scene_close(&scene);
}

static void cuda_partition_expect_refused(const char *option, const char *words)
{
	struct fixture fixture;

	open_with_option(&fixture, option);
	cr_assert(!fixture.topology.devices[0].available);
	cr_assert_not_null(strstr(fixture.topology.devices[0].unavailable_reason, words), "%s",
			   fixture.topology.devices[0].unavailable_reason);
	fixture.ops->close(fixture.backend);
}

Test(cuda_partition, a_number_that_leaves_nothing_for_others_is_refused_in_words)
{
	struct fixture fixture;

	double_command("devices 1");
	cuda_partition_expect_refused(
		"latency_multiprocessors=129",
		"that is 136 on this device, which has 132, and leaves nothing for others");
	cuda_partition_expect_refused("latency_multiprocessors=1024", "leaves nothing for others");
	open_with_option(&fixture, "latency_multiprocessors=128");
	cr_assert(fixture.topology.devices[0].available);
	fixture.ops->close(fixture.backend);
	double_check(false);
}

Test(cuda_partition, a_driver_without_green_contexts_is_refused_in_words)
{
	double_command("devices 1");
	double_command("missing cuGreenCtxStreamCreate");
	cuda_partition_expect_refused("latency_multiprocessors=8",
				      "this NVIDIA driver has no green contexts");
	struct fixture fixture;
	open_with_option(&fixture, "latency_multiprocessors=0");
	cr_assert(fixture.topology.devices[0].available);
	fixture.ops->close(fixture.backend);
	double_check(false);
}
