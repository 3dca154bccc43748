/* Chains with marks: what they spare, and that nothing is reported before it has run. */
#include "cuda/lane/chain.h"
#include "cuda/lane/mark.h"
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(cuda_lanes_mark, .timeout = 10);

enum { LENGTH = 6, OFTEN = 8 };

struct scene {
	struct backend_device *device;
	struct backend_lane *lane;
	struct backend_kernel kernel;
	uint64_t sequence, reported;
};

static void lanes_mark_scene_open(struct scene *scene, bool has_marks)
{
	*scene = (struct scene){.kernel = {.id = 1, .parameter_bytes = 8}};
	scene->device = lanes_device(16, true);
	scene->device->backend->settings.exact_chains = true;
	scene->device->backend->settings.chain_marks = has_marks;
	scene->lane = lanes_lane(scene->device, BACKEND_LANE_COMPUTE);
}

static void submit(struct scene *scene, int argument, uint32_t length)
{
	scene->kernel.argument = argument;
	for (uint32_t i = 0; i < length; i++)
		lanes_launch(scene->lane, &scene->kernel, ++scene->sequence);
	cuda_flush(scene->device);
}

/* Returns how many commands have ended, which must come in order. */
static uint32_t take_ended(struct scene *scene)
{
	struct backend_completion completions[64];
	const uint32_t count = cuda_progress(scene->device, completions, 64);

	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(completions[i].fault.status, 0, "%s", completions[i].fault.text);
		cr_assert_eq(completions[i].sequence, ++scene->reported);
	}
	return count;
}

static void run_and_take(struct scene *scene)
{
	(void)driver_run(scene->lane, UINT32_MAX);
	while (take_ended(scene) > 0)
		;
	cr_assert_eq(scene->reported, scene->sequence);
}

/* The lane has a chain of its own for each argument below `arguments`. */
static void warm_up(struct scene *scene, uint32_t length, int arguments)
{
	for (int i = 0; i < 3 * OFTEN * arguments; i++) {
		submit(scene, i % arguments, length);
		run_and_take(scene);
		cuda_chains_make_wanted(scene->device);
	}
}

struct calls {
	uint32_t launches, nodes, words;
};

static struct calls calls_since(struct calls before)
{
	return (struct calls){.launches = driver.counts.graph_launches - before.launches,
			      .nodes = driver.counts.nodes_set - before.nodes,
			      .words = driver.counts.words_set - before.words};
}

static void expect_calls(struct calls before, struct calls wanted)
{
	const struct calls since = calls_since(before);

	cr_expect_eq(since.launches, wanted.launches);
	cr_expect_eq(since.nodes, wanted.nodes);
	cr_expect_eq(since.words, wanted.words);
}

Test(cuda_lanes_mark, TR5_a_stretch_that_comes_again_is_one_call_of_the_driver)
{
	static const uint32_t lengths[] = {1, 2, 4, 8, LENGTH, 13};
	struct scene scene;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		lanes_mark_scene_open(&scene, true);
		warm_up(&scene, lengths[i], 1);
		const struct calls before = calls_since((struct calls){0});
		for (int j = 0; j < 10; j++) {
			submit(&scene, 0, lengths[i]);
			cr_assert_eq(take_ended(&scene), 0, "it has not run");
			run_and_take(&scene);
		}
		expect_calls(before, (struct calls){.launches = 10});
		lanes_device_free(scene.device);
	}
}

Test(cuda_lanes_mark, TR5_without_marks_a_word_is_set_each_time)
{
	struct scene scene;

	lanes_mark_scene_open(&scene, false);
	warm_up(&scene, LENGTH, 1);
	const struct calls before = calls_since((struct calls){0});
	for (int j = 0; j < 10; j++) {
		submit(&scene, 0, LENGTH);
		run_and_take(&scene);
	}
	expect_calls(before, (struct calls){.launches = 10, .words = 10});
	lanes_device_free(scene.device);
}

Test(cuda_lanes_mark, TR5_programs_that_share_a_lane_have_marks_at_one_time)
{
	struct scene scene;

	lanes_mark_scene_open(&scene, true);
	warm_up(&scene, LENGTH, 2);
	const struct calls before = calls_since((struct calls){0});
	for (int j = 0; j < 10; j++) {
		submit(&scene, 0, LENGTH);
		submit(&scene, 1, LENGTH);
		cr_assert_eq(take_ended(&scene), 0);
		(void)driver_run(scene.lane, LENGTH);
		cr_assert_eq(take_ended(&scene), 0, "its mark is not written");
		(void)driver_run(scene.lane, 1);
		cr_assert_eq(take_ended(&scene), LENGTH, "the second one runs still");
		run_and_take(&scene);
	}
	expect_calls(before, (struct calls){.launches = 20});
	lanes_device_free(scene.device);
}

Test(cuda_lanes_mark, B18_a_chain_whose_mark_is_on_its_way_writes_the_word)
{
	struct scene scene;

	lanes_mark_scene_open(&scene, true);
	warm_up(&scene, LENGTH, 1);
	const struct calls before = calls_since((struct calls){0});
	for (int i = 0; i < 3; i++)
		submit(&scene, 0, LENGTH);
	expect_calls(before, (struct calls){.launches = 3, .words = 2});
	for (int i = 0; i < 3; i++) {
		(void)driver_run(scene.lane, LENGTH);
		cr_assert_eq(take_ended(&scene), 0);
		(void)driver_run(scene.lane, 1);
		cr_assert_eq(take_ended(&scene), LENGTH);
	}
	lanes_device_free(scene.device);
}

/* Otherwise the late mark would end a later launch. */
Test(cuda_lanes_mark, B18_a_mark_that_was_not_seen_is_not_used_again)
{
	struct scene scene;

	lanes_mark_scene_open(&scene, true);
	warm_up(&scene, LENGTH, 1);
	const struct cuda_lane_state *state = scene.lane->state;
	submit(&scene, 0, LENGTH);
	const struct cuda_chain *chain = state->first_marked;
	cr_assert_not_null(chain);
	submit(&scene, 0, LENGTH);
	(void)driver_run(scene.lane, UINT32_MAX);
	atomic_store(chain->mark_host, 0); /* it comes late */
	cr_assert_eq(take_ended(&scene), 2 * LENGTH, "the word is behind both");
	const struct calls before = calls_since((struct calls){0});
	submit(&scene, 0, LENGTH);
	expect_calls(before, (struct calls){.launches = 1, .words = 1});
	atomic_store(chain->mark_host, 1);
	cr_assert_eq(take_ended(&scene), 0, "the third has not run");
	run_and_take(&scene);
	lanes_device_free(scene.device);
}

Test(cuda_lanes_mark, a_chain_that_is_replaced_leaves_no_mark_behind)
{
	static const uint32_t lengths[CUDA_EXACT_MAX + 1] = {3, 5, 6, 7, 9, 10, 11, 12, 13};
	struct scene scene;

	lanes_mark_scene_open(&scene, true);
	struct cuda_lane_state *state = scene.lane->state;
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		warm_up(&scene, lengths[i], 1);
	submit(&scene, 0, lengths[0]);
	struct cuda_chain *chain = state->first_marked;
	cr_assert_not_null(chain);
	submit(&scene, 0, lengths[1]);
	(void)driver_run(scene.lane, UINT32_MAX);
	atomic_store(chain->mark_host, 0); /* the next mark is seen, this one is not */
	(void)take_ended(&scene);
	cuda_mark_close(state, chain);
	cr_assert_neq(state->first_marked, chain);
	cr_assert_neq(state->last_marked, chain);
	cr_assert_eq(take_ended(&scene), lengths[0] + lengths[1]);
	cr_assert_null(state->first_marked);
	chain->is_marked = false;
	run_and_take(&scene);
	lanes_device_free(scene.device);
}

/* Otherwise commands of other lanes would seem to wait for it still, and would not be suspects. */
Test(cuda_lanes_mark, what_a_lane_has_reached_is_kept_when_it_is_freed)
{
	struct scene scene;

	lanes_mark_scene_open(&scene, true);
	warm_up(&scene, LENGTH, 1);
	const struct cuda_lane_state *state = scene.lane->state;
	const uint32_t word = state->word;
	submit(&scene, 0, LENGTH);
	const uint32_t sent = state->sent;
	(void)driver_run(scene.lane, UINT32_MAX);
	cuda_lane_free(scene.lane); /* its marks are not read yet */
	cr_expect_eq(scene.device->lanes->reached[word], sent);
	lanes_device_free(scene.device);
}

/* Numbers are compared by their difference. */
Test(cuda_lanes_mark, the_word_is_written_before_it_seems_to_be_ahead)
{
	static const uint32_t lengths[] = {1, LENGTH};
	struct scene scene;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		lanes_mark_scene_open(&scene, true);
		warm_up(&scene, lengths[i], 1);
		struct cuda_lane_state *state = scene.lane->state;
		const uint32_t value = state->word_value + CUDA_MARKS_MOST - 2 * lengths[i];
		state->issued = state->sent = state->written = value;
		scene.device->lanes->reached[state->word] = value;
		const struct calls before = calls_since((struct calls){0});
		submit(&scene, 0, lengths[i]);
		run_and_take(&scene);
		cr_expect_neq(state->word_value, state->sent);
		submit(&scene, 0, lengths[i]);
		run_and_take(&scene);
		cr_expect_eq(state->word_value, state->sent);
		cr_expect_eq(calls_since(before).words, 1);
		submit(&scene, 0, lengths[i]);
		run_and_take(&scene);
		cr_expect_neq(state->word_value, state->sent, "marks are used again");
		lanes_device_free(scene.device);
	}
}

Test(cuda_lanes_mark, a_launch_that_fails_leaves_its_mark_free)
{
	struct scene scene;

	lanes_mark_scene_open(&scene, true);
	warm_up(&scene, LENGTH, 1);
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	submit(&scene, 1, LENGTH); /* sent one by one */
	driver.set_parameters_result = CUDA_SUCCESS;
	cr_assert_null(((struct cuda_lane_state *)scene.lane->state)->first_marked);
	run_and_take(&scene);
	submit(&scene, 0, LENGTH);
	run_and_take(&scene);
	lanes_device_free(scene.device);
}

static uint32_t next_random(uint32_t *seed, uint32_t range)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % range;
}

/* Chains of any length and argument, some in flight: a command is reported when its kernel and the
 * word or mark behind it were run, and not before. */
Test(cuda_lanes_mark, B18_B21_nothing_is_reported_before_it_has_run)
{
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t seed = round;
		struct scene scene;
		lanes_mark_scene_open(&scene, round % 4 != 0);
		for (int step = 0; step < 150; step++) {
			switch (next_random(&seed, 4)) {
			case 0:
			case 1:
				submit(&scene, (int)next_random(&seed, 3),
				       1 + next_random(&seed, 3) * (LENGTH - 1) / 2);
				break;
			case 2:
				(void)driver_run(scene.lane, next_random(&seed, 20));
				break;
			default:
				if (driver_pending(scene.lane) == 0 &&
				    scene.reported == scene.sequence)
					cuda_chains_make_wanted(scene.device);
			}
			(void)take_ended(&scene);
			cr_assert_leq(scene.reported, driver.ran_count, "round %u", round);
		}
		run_and_take(&scene);
		cr_assert_eq(driver.ran_count, scene.sequence);
		driver.ran_count = 0;
		lanes_device_free(scene.device);
	}
}
