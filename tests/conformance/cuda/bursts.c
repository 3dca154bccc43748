/*
 * Bursts with a driver that accepts no chain, or only some. The tests show which launches are then
 * sent one by one, in what order, and how refused ones are reported (M9, TG2).
 */
#include "cuda/double.h"

#include "cuda/lane/lane.h"
#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define COUNT  64u
#define STRIDE 16u
#define LENGTH 8u

TestSuite(cuda_bursts, .timeout = 120);

struct scene {
	struct fixture fixture;
	struct backend_memory *to, *from;
	struct backend_kernel *mix;
	struct backend_argument arguments[3];
	_Alignas(16) unsigned char values[2 * CUDA_CHAIN_LENGTH_MAX][STRIDE];
	uint64_t global;
};

static void begin_bursts(struct scene *scene)
{
	static const uint32_t zeros[COUNT];

	*scene = (struct scene){.fixture = {.wake_fd = -1}, .global = COUNT};
	fixture_open(&scene->fixture, 0);
	scene->to = fixture_memory(&scene->fixture, sizeof(zeros), NULL);
	scene->from = fixture_memory(&scene->fixture, sizeof(zeros), NULL);
	fixture_write(&scene->fixture, scene->to, 0, zeros, sizeof(zeros));
	fixture_write(&scene->fixture, scene->from, 0, zeros, sizeof(zeros));
	scene->mix = fixture_kernel(&scene->fixture, "mix_u32");
	scene->arguments[0] = global_argument(scene->to);
	scene->arguments[1] = global_argument(scene->from);
	scene->arguments[2] = value_argument(scene->values[0], sizeof(uint32_t));
}

static void end_bursts(struct scene *scene)
{
	scene->fixture.ops->kernel_free(scene->mix);
	scene->fixture.ops->memory_free(scene->to);
	scene->fixture.ops->memory_free(scene->from);
	fixture_close(&scene->fixture);
	double_check(true);
}

/* Each launch does x = 31 x + its value. Returns 0, or the error of the burst. */
static int submit_mixes(struct scene *scene, uint32_t lane, uint32_t count, uint32_t first_value,
			struct backend_command *command, uint64_t *sequence_out)
{
	struct backend_fault fault = {.status = 0};
	struct test_lane *to = &scene->fixture.lanes[lane];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t value = first_value + i;
		memcpy(scene->values[i], &value, sizeof(value));
	}
	uint64_t sequence = to->next_sequence + count - 1;
	int result = scene->fixture.ops->submit_burst(to->lane, command, count, STRIDE, NULL, 0,
						      sequence, &fault);
	if (result == 0) {
		to->next_sequence = sequence + 1;
		*sequence_out = sequence;
	}
	return result;
}

static struct backend_command command_of(struct scene *scene)
{
	return launch_command(scene->mix, 1, &scene->global, scene->arguments, 3);
}

static void expect_mixed(struct scene *scene, uint32_t value)
{
	uint32_t words[COUNT];

	fixture_read(&scene->fixture, scene->to, 0, words, sizeof(words));
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert_eq(words[i], value, "word %u is %u, not %u", i, words[i], value);
}

Test(cuda_bursts, TG2_a_burst_that_the_driver_takes_no_chain_of_is_launched_one_by_one)
{
	struct scene scene;
	uint32_t expected = 0;
	uint64_t sequence = 0;

	begin_bursts(&scene);
	struct backend_command command = command_of(&scene);
	double_command("fail cuGraphLaunch 1 2 1000");
	for (uint32_t round = 0; round < 5; round++) {
		cr_assert_eq(submit_mixes(&scene, 1, LENGTH, round * 100, &command, &sequence), 0);
		for (uint32_t i = 0; i < LENGTH; i++)
			expected = expected * 31 + round * 100 + i;
		fixture_wait(&scene.fixture, 1, sequence);
		expect_mixed(&scene, expected);
	}
	cr_assert_gt(scene.fixture.device->lanes->chains_refused, 0);
	cr_assert_eq(scene.fixture.device->lanes->chains_sent, 0);
	double_command("fail cuGraphLaunch 1 0 0");
	end_bursts(&scene);
}

/* The ones before and behind it run all the same; the bits name them for the engine. */
Test(cuda_bursts, M9_TG2_a_launch_of_a_burst_that_is_refused_is_named)
{
	struct scene scene;
	uint32_t expected = 0;
	uint64_t sequence = 0;

	begin_bursts(&scene);
	struct backend_command command = command_of(&scene);
	double_command("fail cuGraphLaunch 1 2 1000");
	double_command("fail cuLaunchKernel 3 2 1");
	cr_assert_eq(submit_mixes(&scene, 1, LENGTH, 7, &command, &sequence), 0);
	struct backend_completion ended = fixture_finish(&scene.fixture, 1, sequence);
	cr_assert_eq(ended.fault.status, STATUS_MEMORY_ALLOCATION, "%s", ended.fault.text);
	cr_assert_not(ended.fault.device_lost);
	cr_assert_eq(ended.failed_launches, 1u << 2);
	for (uint32_t i = 0; i < LENGTH; i++)
		if (i != 2)
			expected = expected * 31 + 7 + i;
	expect_mixed(&scene, expected);
	/* The next one works as usual. */
	cr_assert_eq(submit_mixes(&scene, 1, LENGTH, 20, &command, &sequence), 0);
	fixture_wait(&scene.fixture, 1, sequence);
	for (uint32_t i = 0; i < LENGTH; i++)
		expected = expected * 31 + 20 + i;
	expect_mixed(&scene, expected);
	double_command("fail cuGraphLaunch 1 0 0");
	end_bursts(&scene);
}

/* They are refused before anything is sent. What follows, launch by launch, has the same numbers as
 * without that. */
Test(cuda_bursts, TG2_what_no_chain_takes_leaves_nothing_behind_and_goes_alone)
{
	struct scene scene;
	uint32_t expected = 0;
	uint64_t sequence = 0;

	begin_bursts(&scene);
	struct backend_command command = command_of(&scene), whole = command_of(&scene);
	const struct backend_launch_properties together = {.cooperative = true};
	whole.launch.properties = &together;
	cr_assert_eq(submit_mixes(&scene, 1, 2 * CUDA_CHAIN_LENGTH_MAX, 0, &command, &sequence),
		     -EAGAIN, "longer than a chain");
	cr_assert_eq(submit_mixes(&scene, 1, LENGTH, 40, &whole, &sequence), -EAGAIN,
		     "cooperative");
	for (uint32_t i = 0; i < LENGTH; i++) {
		uint32_t value = 60 + i;
		memcpy(scene.values[0], &value, sizeof(value));
		sequence = fixture_submit(&scene.fixture, 1, i == 3 ? &whole : &command);
		expected = expected * 31 + value;
	}
	fixture_wait(&scene.fixture, 1, sequence);
	expect_mixed(&scene, expected);
	cr_assert_eq(submit_mixes(&scene, 1, LENGTH, 80, &command, &sequence), 0);
	for (uint32_t i = 0; i < LENGTH; i++)
		expected = expected * 31 + 80 + i;
	fixture_wait(&scene.fixture, 1, sequence);
	expect_mixed(&scene, expected);
	end_bursts(&scene);
}
