/* Full devices: images and graphs whose memory is spilled. */
#include "worker/spill_fixture.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

static void spill_objects_make_image(struct words *image)
{
	const struct backend_image description = {
		.format = BACKEND_IMAGE_R8G8B8A8_UNORM, .dimensions = 2, .size = {WORDS / 8, 8}};
	*image = (struct words){.count = WORDS, .host = malloc(BYTES)};
	cr_assert(image->host != NULL);
	cr_assert(zero(int, sched_buffer_create_image(spill_harness.scheduler, &description, BYTES,
						      image->host, false, &image->freed,
						      &image->buffer)));
}

static void spill_objects_fill_image(struct words *image, uint32_t value)
{
	const struct task_requirement requirement = {
		.buffer = image->buffer, .mode = ACCESS_MODE_WRITE_NO_INIT, .size_bytes = BYTES};
	const struct task_argument arguments[2] = {
		{.kind = BACKEND_ARGUMENT_IMAGE, .writes = true},
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &value, .size_bytes = sizeof(value)},
	};
	struct task_request request = {.device = spill_harness.devices[0],
				       .what = "fill_image",
				       .action = TASK_LAUNCH,
				       .requirements = &requirement,
				       .requirement_count = 1};
	struct probe probe;
	request.launch.kernel = harness_kernel(&spill_harness, 0, "fill_image");
	request.launch.dimensions = 1;
	request.launch.global[0] = 1;
	request.launch.arguments = arguments;
	request.launch.argument_count = 2;
	(void)harness_submit(&spill_harness, &request, &probe);
	spill_expect_status(&probe, STATUS_SUCCESS);
}

Test(spill, TG15_images_go_and_come_back)
{
	struct words images[2], words[ROOM];
	spill_begin(ROOM, BACKEND_FEATURE_IMAGE, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM);
	for (uint32_t i = 0; i < 2; i++) {
		spill_objects_make_image(&images[i]);
		spill_objects_fill_image(&images[i], 0x11 * (i + 1));
	}
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &words[i]);
	cr_expect(gt(u64, spill_counts(0).spills, 0));
	for (uint32_t i = 0; i < 2; i++) {
		struct probe probe;
		struct task *access =
			harness_host(&spill_harness, &images[i], ACCESS_MODE_READ, &probe);
		spill_expect_status(&probe, STATUS_SUCCESS);
		for (uint32_t w = 0; w < WORDS; w++)
			cr_assert(eq(u32, images[i].host[w], 0x11111111 * (i + 1)));
		host_access_release(access);
	}
	spill_free_words(images, 2);
	spill_free_words(words, ROOM);
	harness_expect_stopped(&spill_harness);
}

static struct sched_graph *make_graph(struct words *words, struct probe *built)
{
	struct sched_graph *graph;
	const struct task_argument argument = {.kind = BACKEND_ARGUMENT_GLOBAL};
	const struct task_requirement requirement = {
		.buffer = words->buffer, .mode = ACCESS_MODE_READ_WRITE, .size_bytes = BYTES};
	struct task_request request = {.device = spill_harness.devices[0],
				       .action = TASK_LAUNCH,
				       .requirements = &requirement,
				       .requirement_count = 1};
	request.launch.kernel = harness_kernel(&spill_harness, 0, "increment_u32");
	request.launch.dimensions = 1;
	request.launch.global[0] = WORDS;
	request.launch.arguments = &argument;
	request.launch.argument_count = 1;
	*built = (struct probe){.done = false};
	cr_assert(zero(int, sched_graph_create(spill_harness.devices[0], 2, false, built, &graph)));
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t before = 0;
		cr_assert(zero(int, sched_graph_add(graph, &request, &before, i)));
	}
	sched_graph_build(graph, true);
	spill_expect_status(built, STATUS_SUCCESS);
	return graph;
}

static void spill_objects_launch_graph(struct sched_graph *graph, struct words *words)
{
	const struct task_requirement requirement = {
		.buffer = words->buffer, .mode = ACCESS_MODE_READ_WRITE, .size_bytes = BYTES};
	struct task_request request = {.device = spill_harness.devices[0],
				       .what = "graph",
				       .home_lane = 1,
				       .requirements = &requirement,
				       .requirement_count = 1,
				       .action = TASK_GRAPH,
				       .graph = {graph, NULL}};
	struct probe probe;
	(void)harness_submit(&spill_harness, &request, &probe);
	spill_expect_status(&probe, STATUS_SUCCESS);
}

/* If it is made of a spilled buffer, the buffer is moved back. From then on it stays until the
 * graph is freed. */
Test(spill, TG15_what_a_graph_names_stays)
{
	struct words words[ROOM + 1];
	struct probe built;
	spill_begin(ROOM, BACKEND_FEATURE_GRAPH, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, ROOM + 1);
	for (uint32_t i = 0; i < ROOM + 1; i++)
		spill_run_increment(0, &words[i]);
	struct sched_graph *graph = make_graph(&words[0], &built);
	uint64_t returns = spill_counts(0).returns;
	cr_assert(eq(u64, returns, 1));
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 1; i < ROOM + 1; i++)
			spill_run_increment(0, &words[i]);
	returns = spill_counts(0).returns;
	spill_objects_launch_graph(graph, &words[0]);
	spill_objects_launch_graph(graph, &words[0]);
	cr_expect(eq(u64, spill_counts(0).returns, returns));
	spill_expect_counted(&words[0], 1 + 4);
	sched_graph_release(graph);
	cr_assert(harness_settle(&spill_harness));
	for (uint32_t i = 1; i < ROOM + 1; i++)
		spill_run_increment(0, &words[i]);
	spill_run_increment(0, &words[0]);
	cr_expect(gt(u64, spill_counts(0).returns, returns), "it went as any other");
	spill_expect_counted(&words[0], 1 + 5);
	for (uint32_t i = 1; i < ROOM + 1; i++)
		spill_expect_counted(&words[i], i * 1000 + 5);
	spill_free_words(words, ROOM + 1);
	harness_expect_stopped(&spill_harness);
}

/* A change removes objects from a graph, and the device is lost with that change. The objects may
 * be freed, and then the graph. */
Test(spill, TG15_L13_a_graph_ends_behind_what_it_named_before_a_change_that_lost_the_device)
{
	struct words words[2];
	struct probe built = {.done = false}, probe;
	struct sched_graph *graph;
	struct sched_graph_node *changes = NULL;
	spill_begin(ROOM, BACKEND_FEATURE_GRAPH | BACKEND_FEATURE_GRAPH_UPDATE,
		    &(struct scheduler_config){.processors = 2});
	spill_make_words(words, 2);
	const struct task_argument argument = {.kind = BACKEND_ARGUMENT_GLOBAL};
	struct task_requirement requirements[2];
	for (uint32_t i = 0; i < 2; i++)
		requirements[i] = (struct task_requirement){.buffer = words[i].buffer,
							    .mode = ACCESS_MODE_READ_WRITE,
							    .size_bytes = BYTES};
	struct task_request request = {.device = spill_harness.devices[0],
				       .action = TASK_LAUNCH,
				       .requirements = &requirements[0],
				       .requirement_count = 1};
	request.launch.kernel = harness_kernel(&spill_harness, 0, "increment_u32");
	request.launch.dimensions = 1;
	request.launch.global[0] = WORDS;
	request.launch.arguments = &argument;
	request.launch.argument_count = 1;
	cr_assert(zero(int, sched_graph_create(spill_harness.devices[0], 1, true, &built, &graph)));
	cr_assert(zero(int, sched_graph_add(graph, &request, NULL, 0)));
	sched_graph_build(graph, true);
	spill_expect_status(&built, STATUS_SUCCESS);
	request.requirements = &requirements[1];
	cr_assert(zero(int, sched_graph_change(graph, 0, &request, NULL, 0, &changes)));
	cr_assert(
		zero(int, fake_fail(FAKE_GRAPH_UPDATE, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	struct task_request launch = {.device = spill_harness.devices[0],
				      .what = "graph",
				      .home_lane = 1,
				      .requirements = requirements,
				      .requirement_count = 2,
				      .action = TASK_GRAPH,
				      .graph = {graph, changes}};
	(void)harness_submit(&spill_harness, &launch, &probe);
	spill_expect_status(&probe, STATUS_DEVICE_LOST);
	spill_free_words(&words[0], 1);
	sched_graph_release(graph);
	spill_free_words(&words[1], 1);
	harness_expect_stopped(&spill_harness);
}
