/*
 * The driver's queue of a stream is limited: a call on a full one waits for the device, and so does
 * every session of the user (F8). With the bound, a lane whose room is checked before each command
 * never reaches that limit behind a kernel that does not end. Without it, the lane does.
 */
#include "cuda/double.h"

#include "cuda/device/device.h"
#include "cuda/lane/lane.h"
#include "status.h"
#include "targets/cuda.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 200, FILLS = 60, SMALL = 64, PATTERN = 127 };
#define LARGE ((size_t)160 << 20) /* 80 pieces of memory/staging.h */

TestSuite(cuda_room, .timeout = 120);

struct scene {
	struct fixture fixture;
	struct backend_memory *memory;
	struct backend_kernel *blocker;
	struct backend_argument arguments[2];
	uint32_t value;
	uint64_t blocked; /* sequence */
};

static const uint64_t one = 1;

static bool has_room(struct scene *scene, uint32_t lane)
{
	return scene->fixture.ops->has_room(scene->fixture.lanes[lane].lane, NULL, 0);
}

/* The first lane is behind a kernel that the double holds. */
static void cuda_room_scene_open(struct scene *scene, const char *option, size_t bytes)
{
	const char *options[] = {"library=" FAKE_CUDA_LIBRARY, option, NULL};
	const struct backend_settings settings = {.options = options};
	struct fixture *fixture = &scene->fixture;

	*scene = (struct scene){.value = 5};
	/* It may name one of this machine's GPUs; the double has its own. */
	cr_assert_eq(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
	target_cuda_prepare();
	fixture_open_backend_with(fixture, &settings);
	fixture_open(fixture, 0);
	scene->memory = fixture_memory(fixture, bytes, NULL);
	struct backend_memory *other = fixture_memory(fixture, 64, NULL);
	scene->blocker = fixture_kernel(fixture, "fill_u32");
	scene->arguments[0] = global_argument(other);
	scene->arguments[1] = value_argument(&scene->value, sizeof(scene->value));
	double_command("gate close fill_u32");
	struct backend_command launch =
		launch_command(scene->blocker, 1, &one, scene->arguments, 2);
	scene->blocked = fixture_submit(fixture, 1, &launch);
	fixture->ops->flush(fixture->device);
	double_wait("held fill_u32", 1);
}

static void cuda_room_scene_close(struct scene *scene)
{
	const struct backend_ops *ops = scene->fixture.ops;

	ops->kernel_free(scene->blocker);
	ops->memory_free(scene->memory);
	ops->memory_free(scene->arguments[0].global.memory);
	fixture_close(&scene->fixture);
	double_check(true);
}

static uint64_t full_queues(void)
{
	return double_count("full_queues") + double_count("full_host_queues");
}

/* Does as the engine: while there is no room, completions are taken. The gate opens once there is
 * none. Returns how many were sent before that. */
static uint32_t send_all(struct scene *scene, const struct backend_command *commands,
			 uint32_t count, uint64_t *last_out)
{
	uint32_t before = count;

	for (uint32_t i = 0; i < count; i++) {
		if (before == count && !has_room(scene, 1)) {
			before = i;
			cr_assert(has_room(scene, 2), "another lane has room");
			double_command("gate open fill_u32");
		}
		while (!has_room(scene, 1))
			fixture_progress(&scene->fixture);
		*last_out = fixture_submit(&scene->fixture, 1, &commands[i]);
	}
	double_command("gate open fill_u32");
	fixture_wait(&scene->fixture, 1, *last_out);
	return before;
}

static void copy_small(const char *option, bool is_bounded)
{
	static unsigned char bytes[COPIES][SMALL], there[COPIES * SMALL];
	static struct backend_command commands[COPIES];
	struct scene scene;
	uint64_t last = 0;

	cuda_room_scene_open(&scene, option, COPIES * SMALL);
	for (uint32_t i = 0; i < COPIES; i++) {
		memset(bytes[i], (int)(i + 1), SMALL);
		commands[i] =
			(struct backend_command){.kind = BACKEND_COMMAND_WRITE,
						 .transfer = {.memory = scene.memory,
							      .offset_bytes = (uint64_t)i * SMALL,
							      .host = bytes[i],
							      .size_bytes = SMALL}};
	}
	uint32_t before = send_all(&scene, commands, COPIES, &last);
	cr_assert_eq(before < COPIES, is_bounded);
	cr_assert_eq(full_queues() == 0, is_bounded);
	fixture_read(&scene.fixture, scene.memory, 0, there, sizeof(there));
	cr_assert_eq(memcmp(there, bytes, sizeof(there)), 0);
	cuda_room_scene_close(&scene);
}

Test(cuda_room, F8_copies_of_memory_that_is_not_registered_never_fill_the_drivers_queue)
{
	copy_small("lane_operations=512", true);
}

Test(cuda_room, without_the_bound_such_copies_fill_the_drivers_queue)
{
	copy_small("lane_operations=0", false);
}

/* A copy that is not sent at once continues as its pieces are complete. */
static void copy_large(const char *option, enum backend_command_kind kind, bool is_bounded)
{
	struct scene scene;
	unsigned char *bytes = malloc(LARGE), *there = malloc(LARGE);
	struct backend_command command = {.kind = kind};

	cr_assert(bytes && there);
	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = (unsigned char)(i * 31 + i / 4093);
	memset(there, 0, LARGE);
	cuda_room_scene_open(&scene, option, LARGE);
	if (kind == BACKEND_COMMAND_READ) {
		double_command("gate open fill_u32");
		fixture_write(&scene.fixture, scene.memory, 0, bytes, LARGE);
		double_command("gate close fill_u32");
		struct backend_command launch =
			launch_command(scene.blocker, 1, &one, scene.arguments, 2);
		(void)fixture_submit(&scene.fixture, 1, &launch);
		scene.fixture.ops->flush(scene.fixture.device);
		double_wait("held fill_u32", 1);
	}
	const uint64_t full = full_queues();
	command.transfer.memory = scene.memory;
	command.transfer.host = kind == BACKEND_COMMAND_READ ? there : bytes;
	command.transfer.size_bytes = LARGE;
	uint64_t sequence = fixture_submit(&scene.fixture, 1, &command);
	cr_assert_eq(has_room(&scene, 1), !is_bounded, "nothing goes behind what is not all sent");
	for (int i = 0; i < 100; i++)
		fixture_progress(&scene.fixture);
	cr_assert_eq(full_queues() == full, is_bounded);
	cr_assert_eq(scene.fixture.lanes[1].seen_count, kind == BACKEND_COMMAND_READ ? 1 : 0);
	double_command("gate open fill_u32");
	fixture_wait(&scene.fixture, 1, sequence);
	cr_assert_eq(full_queues() == full, is_bounded);
	if (kind == BACKEND_COMMAND_WRITE)
		fixture_read(&scene.fixture, scene.memory, 0, there, LARGE);
	cr_assert_eq(memcmp(there, bytes, LARGE), 0);
	cuda_room_scene_close(&scene);
	free(bytes);
	free(there);
}

Test(cuda_room, F8_a_long_write_is_sent_as_its_pieces_are_done)
{
	copy_large("lane_operations=512", BACKEND_COMMAND_WRITE, true);
}

Test(cuda_room, F8_a_long_read_is_sent_as_its_pieces_are_done)
{
	copy_large("lane_operations=512", BACKEND_COMMAND_READ, true);
}

Test(cuda_room, without_the_bound_a_long_write_fills_the_drivers_queue)
{
	copy_large("lane_operations=0", BACKEND_COMMAND_WRITE, false);
}

/* A caller that does not check for room gets the same bytes: the rest is sent first. */
Test(cuda_room, a_command_behind_the_beginning_of_a_long_write_comes_after_its_end)
{
	struct scene scene;
	unsigned char *bytes = malloc(LARGE);
	unsigned char end = 0;

	cr_assert_not_null(bytes);
	memset(bytes, 0x5a, LARGE);
	cuda_room_scene_open(&scene, "lane_operations=512", LARGE);
	const struct backend_command write = {
		.kind = BACKEND_COMMAND_WRITE,
		.transfer = {.memory = scene.memory, .host = bytes, .size_bytes = LARGE}};
	const struct backend_command read = {.kind = BACKEND_COMMAND_READ,
					     .transfer = {.memory = scene.memory,
							  .offset_bytes = LARGE - 1,
							  .host = &end,
							  .size_bytes = 1}};
	uint64_t written = fixture_submit(&scene.fixture, 1, &write);
	const struct backend_wait wait = {scene.fixture.lanes[1].lane, written};
	cr_assert_not(scene.fixture.ops->has_room(scene.fixture.lanes[2].lane, &wait, 1));
	uint64_t read_there = fixture_submit_after(&scene.fixture, 2, &read, 1, written);
	double_command("gate open fill_u32");
	fixture_wait(&scene.fixture, 2, read_there);
	cr_assert_eq(end, 0x5a);
	fixture_wait(&scene.fixture, 1, written);
	cuda_room_scene_close(&scene);
	free(bytes);
}

/* A wait is recorded behind everything that was sent to the other lane, so it is held as well. */
Test(cuda_room, F8_a_wait_for_a_kernel_before_the_beginning_of_a_long_write_is_held)
{
	struct scene scene;
	unsigned char *bytes = calloc(1, LARGE);

	cr_assert_not_null(bytes);
	cuda_room_scene_open(&scene, "lane_operations=512", LARGE);
	const struct backend_command write = {
		.kind = BACKEND_COMMAND_WRITE,
		.transfer = {.memory = scene.memory, .host = bytes, .size_bytes = LARGE}};
	const uint64_t written = fixture_submit(&scene.fixture, 1, &write);
	const struct backend_wait wait = {scene.fixture.lanes[1].lane, scene.blocked};
	cr_assert_not(scene.fixture.ops->has_room(scene.fixture.lanes[2].lane, &wait, 1));
	double_command("gate open fill_u32");
	fixture_wait(&scene.fixture, 1, scene.blocked);
	cr_assert(scene.fixture.ops->has_room(scene.fixture.lanes[2].lane, &wait, 1),
		  "it was reported");
	fixture_wait(&scene.fixture, 1, written);
	cr_assert_eq(full_queues(), 0);
	cuda_room_scene_close(&scene);
	free(bytes);
}

/* Takes completions and returns how many there were. `of_lane`: adds up those of the lane. */
static uint32_t take(struct scene *scene, const struct backend_lane *lane, uint32_t *of_lane)
{
	struct backend_completion completions[16];
	uint32_t count = scene->fixture.ops->progress(scene->fixture.device, completions, 16);

	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(completions[i].fault.status, 0);
		*of_lane += completions[i].lane == lane;
	}
	return count;
}

/* This many writes at a time have slots. The last slot is left for a transfer that can begin. */
Test(cuda_room, F8_transfers_behind_kernels_leave_slots_to_those_of_others)
{
	enum { OTHERS = 8 };
	struct scene scene;
	struct backend_lane *fifth = NULL;
	struct backend_fault fault = {0};
	unsigned char *bytes = calloc(1, LARGE);
	unsigned char byte = 7, there = 0;
	uint32_t left = 1 + 2 * TEST_LANES, ended = 0;

	cr_assert_not_null(bytes);
	cuda_room_scene_open(&scene, "lane_operations=512", LARGE);
	const struct backend_ops *ops = scene.fixture.ops;
	cr_assert_eq(ops->lane_create(scene.fixture.device, BACKEND_LANE_COMPUTE, &fifth, &fault),
		     0);
	struct backend_memory *small = fixture_memory(&scene.fixture, 64, NULL);
	const struct backend_command write = {
		.kind = BACKEND_COMMAND_WRITE,
		.transfer = {.memory = scene.memory, .host = bytes, .size_bytes = LARGE}};
	const struct backend_command other = {
		.kind = BACKEND_COMMAND_WRITE,
		.transfer = {.memory = small, .host = &byte, .size_bytes = 1}};
	const struct backend_command launch =
		launch_command(scene.blocker, 1, &one, scene.arguments, 2);
	for (uint32_t i = 0; i < TEST_LANES; i++) {
		(void)fixture_submit(&scene.fixture, i, &launch);
		(void)fixture_submit(&scene.fixture, i, &write);
		cr_assert_not(has_room(&scene, i));
	}
	for (uint32_t i = 1; i <= OTHERS; i++) {
		cr_assert_eq(ops->submit(fifth, &other, NULL, 0, i, NULL, &fault), 0, "%s",
			     fault.text);
		ops->flush(scene.fixture.device);
		while (ended < i)
			(void)take(&scene, fifth, &ended);
	}
	cr_assert_eq(full_queues(), 0);
	double_command("gate open fill_u32");
	while (left > 0)
		left -= take(&scene, fifth, &ended);
	cr_assert_eq(ended, OTHERS);
	cr_assert_eq(full_queues(), 0);
	fixture_read(&scene.fixture, small, 0, &there, 1);
	cr_assert_eq(there, 7);
	ops->lane_free(fifth);
	ops->memory_free(small);
	cuda_room_scene_close(&scene);
	free(bytes);
}

/* It is behind a kernel, too, so it may not take the last slots. */
Test(cuda_room, F8_a_transfer_for_which_there_are_no_slots_is_not_sent)
{
	struct scene scene;
	static unsigned char bytes[TEST_LANES][SMALL];
	uint32_t left = 1 + 2 * TEST_LANES, ended = 0;

	cuda_room_scene_open(&scene, "lane_operations=512", SMALL * TEST_LANES);
	const struct backend_ops *ops = scene.fixture.ops;
	const struct backend_command launch =
		launch_command(scene.blocker, 1, &one, scene.arguments, 2);
	for (uint32_t i = 0; i < TEST_LANES; i++) {
		const struct backend_command write = {
			.kind = BACKEND_COMMAND_WRITE,
			.transfer = {.memory = scene.memory,
				     .offset_bytes = (uint64_t)i * SMALL,
				     .host = bytes[i],
				     .size_bytes = SMALL}};
		(void)fixture_submit(&scene.fixture, i, &launch);
		(void)fixture_submit(&scene.fixture, i, &write);
		cr_assert_eq(has_room(&scene, i), i + 1 < TEST_LANES, "lane %u", i);
	}
	ops->flush(scene.fixture.device);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(take(&scene, NULL, &ended), 0);
	cr_assert_eq(full_queues(), 0);
	double_command("gate open fill_u32");
	while (left > 0)
		left -= take(&scene, NULL, &ended);
	cr_assert(has_room(&scene, TEST_LANES - 1));
	cuda_room_scene_close(&scene);
}

/* Each has put its wait on the stream before the driver refuses it. */
Test(cuda_room, F8_launches_that_are_refused_never_fill_the_drivers_queue)
{
	enum { LAUNCHES = 2000 };
	struct scene scene;
	struct backend_fault fault = {0};
	uint32_t taken = 0;
	const struct backend_launch_properties properties = {.cooperative = true};

	cuda_room_scene_open(&scene, "lane_operations=512", 64);
	struct test_lane *lane = &scene.fixture.lanes[2];
	const struct backend_wait wait = {scene.fixture.lanes[1].lane, scene.blocked};
	struct backend_command launch = launch_command(scene.blocker, 1, &one, scene.arguments, 2);
	launch.launch.properties = &properties;
	double_command("fail cuLaunchKernelEx 1 720 %d", LAUNCHES);
	while (taken < LAUNCHES && scene.fixture.ops->has_room(lane->lane, &wait, 1)) {
		cr_assert_eq(scene.fixture.ops->submit(lane->lane, &launch, &wait, 1,
						       lane->next_sequence++, NULL, &fault),
			     0);
		cr_assert_neq(fault.status, 0, "so that what needs it is not sent");
		taken++;
	}
	cr_assert_lt(taken, LAUNCHES);
	cr_assert_eq(full_queues(), 0);
	double_command("forget");
	double_command("gate open fill_u32");
	(void)fixture_finish(&scene.fixture, 2, lane->next_sequence - 1);
	cr_assert_eq(lane->seen_count, taken);
	for (uint32_t i = 0; i < taken; i++)
		cr_assert_neq(lane->seen[i].fault.status, 0);
	cuda_room_scene_close(&scene);
}

/* The launches of such a burst are then sent one by one, and the first one has these waits
 * again. */
Test(cuda_room, F8_waits_of_a_burst_that_is_not_taken_never_fill_the_drivers_queue)
{
	enum { BURSTS = 2000, LANE = 2 };
	struct scene scene;
	struct backend_fault fault = {0};
	struct backend_wait waits[TEST_LANES];
	uint32_t wait_count = 0, sent = 0;
	const struct backend_launch_properties properties = {.cooperative = true};

	cuda_room_scene_open(&scene, "lane_operations=512", 64);
	const struct backend_ops *ops = scene.fixture.ops;
	struct test_lane *lane = &scene.fixture.lanes[LANE];
	struct backend_command launch = launch_command(scene.blocker, 1, &one, scene.arguments, 2);
	for (uint32_t i = 0; i < TEST_LANES; i++)
		if (i != LANE)
			waits[wait_count++] =
				(struct backend_wait){scene.fixture.lanes[i].lane,
						      fixture_submit(&scene.fixture, i, &launch)};
	launch.launch.properties = &properties;
	while (sent < BURSTS && ops->has_room(lane->lane, waits, wait_count)) {
		cr_assert_eq(ops->submit_burst(lane->lane, &launch, 2, 0, waits, wait_count,
					       lane->next_sequence + 1, &fault),
			     -EAGAIN);
		cr_assert_eq(ops->submit(lane->lane, &launch, NULL, 0, lane->next_sequence++, NULL,
					 &fault),
			     0);
		sent++;
	}
	cr_assert_lt(sent, BURSTS);
	cr_assert_eq(full_queues(), 0);
	double_command("gate open fill_u32");
	fixture_wait(&scene.fixture, LANE, lane->next_sequence - 1);
	cr_assert(ops->has_room(lane->lane, NULL, 0));
	cuda_room_scene_close(&scene);
}

/* A requested quiet moment delays commands, but not if it would only save time. */
Test(cuda_room, F8_a_chain_of_an_exact_length_is_made_when_nothing_is_in_flight_anyway)
{
	struct scene scene;
	uint64_t last = 0;

	cuda_room_scene_open(&scene, "exact_chains=yes", 64);
	const struct backend_ops *ops = scene.fixture.ops;
	const struct backend_command fill = {.kind = BACKEND_COMMAND_FILL,
					     .fill = {.memory = scene.memory,
						      .size_bytes = 64,
						      .pattern = "abc",
						      .pattern_bytes = 3}};
	for (uint32_t i = 0; i < 3 * 10; i++) {
		last = fixture_submit(&scene.fixture, 2, &fill);
		if (i % 3 == 2)
			fixture_wait(&scene.fixture, 2, last);
	}
	cr_assert_not(ops->quiet_wanted(scene.fixture.device));
	double_command("gate open fill_u32");
	fixture_wait(&scene.fixture, 1, scene.blocked);
	cr_assert(ops->quiet_wanted(scene.fixture.device));
	cr_assert_leq(ops->quiet_hold_ns(scene.fixture.device), 100000, "it saves little");
	ops->quiet(scene.fixture.device);
	cr_assert_not(ops->quiet_wanted(scene.fixture.device));
	cuda_room_scene_close(&scene);
}

static void fill_odd(const char *option, bool is_kernel)
{
	static unsigned char there[FILLS * 1000];
	static struct backend_command commands[FILLS];
	unsigned char pattern[PATTERN];
	struct scene scene;
	uint64_t last = 0;

	for (uint32_t i = 0; i < PATTERN; i++)
		pattern[i] = (unsigned char)(3 + i);
	cuda_room_scene_open(&scene, option, sizeof(there));
	for (uint32_t i = 0; i < FILLS; i++)
		commands[i] = (struct backend_command){.kind = BACKEND_COMMAND_FILL,
						       .timed = true,
						       .fill = {.memory = scene.memory,
								.offset_bytes = i * 1000u,
								.size_bytes = 1000,
								.pattern = pattern,
								.pattern_bytes = PATTERN}};
	uint32_t before = send_all(&scene, commands, FILLS, &last);
	cr_assert_eq(full_queues(), 0);
	cr_assert_gt(before, 2);
	cr_assert_eq(double_count("held memset"), 0);
	cr_assert_eq(double_count("call cuMemsetD2D8Async") == 0, is_kernel);
	fixture_read(&scene.fixture, scene.memory, 0, there, sizeof(there));
	for (uint32_t i = 0; i < sizeof(there); i++)
		cr_assert_eq(there[i], pattern[i % 1000 % PATTERN]);
	cuda_room_scene_close(&scene);
}

Test(cuda_room, F8_a_fill_with_an_odd_pattern_is_one_operation)
{
	fill_odd("fill_kernel=yes", true);
}

Test(cuda_room, F8_fills_of_many_operations_never_fill_the_drivers_queue)
{
	fill_odd("fill_kernel=no", false);
}
