/* Signals: a command that is awaited by itself is reported when it ends, though it is in a chain
 * with others (B18, H9). */
#include "cuda/lane/chain.h"
#include "cuda/lane/signal.h"
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>

TestSuite(cuda_lanes_signal, .timeout = 10);

enum { OFTEN = 8 };

struct scene {
	struct backend_device *device;
	struct backend_lane *lane;
	struct backend_kernel kernel;
	uint64_t sequence, reported;
};

static void lanes_signal_scene_open(struct scene *scene, enum cuda_signals signals)
{
	*scene = (struct scene){.kernel = {.id = 1, .parameter_bytes = 8}};
	scene->device = lanes_device_with(&(struct cuda_settings){.chain_length = 16,
								  .exact_chains = true,
								  .chain_marks = true,
								  .chain_signals = signals},
					  true);
	scene->lane = lanes_lane(scene->device, BACKEND_LANE_COMPUTE);
}

static void submit_one(struct scene *scene, bool is_awaited)
{
	scene->kernel.is_awaited = is_awaited;
	lanes_launch(scene->lane, &scene->kernel, ++scene->sequence);
}

/* A letter for each launch: `e` has an event, `-` has none. */
static void submit(struct scene *scene, const char *launches)
{
	for (; *launches; launches++)
		submit_one(scene, *launches == 'e');
	cuda_flush(scene->device);
}

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

/* The lane has a chain for the launches then. */
static void warm_up(struct scene *scene, const char *launches)
{
	for (int i = 0; i < 3 * OFTEN; i++) {
		submit(scene, launches);
		run_and_take(scene);
		cuda_chains_make_wanted(scene->device);
	}
}

/* The launches go in one call. After each operation, as many are reported as `wanted` says. */
static void expect_reports(struct scene *scene, const char *launches, const char *wanted)
{
	const uint32_t calls = driver.counts.graph_launches;

	submit(scene, launches);
	cr_assert_eq(driver.counts.graph_launches, calls + 1, "%s", launches);
	for (; *wanted; wanted++) {
		cr_assert_eq(driver_run(scene->lane, 1), 1, "%s", launches);
		cr_assert_eq(take_ended(scene), (uint32_t)(*wanted - '0'), "%s: at %s", launches,
			     wanted);
	}
	cr_assert_eq(driver_pending(scene->lane), 0, "%s", launches);
	cr_assert_eq(scene->reported, scene->sequence);
}

/* The short one is reported while the one behind it, which was short as often, has not ended. */
Test(cuda_lanes_signal, B18_H9_an_awaited_kernel_does_not_wait_for_a_long_one_behind_it)
{
	static const struct {
		const char *launches, *reports;
	} cases[] = {
		{"e-", "0101"},   /* the kernel, its signal, the kernel, the chain's end */
		{"ee", "0101"},   /* the chain's end is a signal, too */
		{"-e-", "00201"}, /* those before it are complete, too */
		{"eee", "010101"},     {"--", "002"}, /* nothing awaited within: no signal */
		{"-----e", "0000006"}, {"e------e", "0100000007"},
	};
	struct scene scene;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
		warm_up(&scene, cases[i].launches);
		expect_reports(&scene, cases[i].launches, cases[i].reports);
		lanes_device_free(scene.device);
	}
}

Test(cuda_lanes_signal, B18_all_kernels_of_a_chain_or_none_are_reported_by_themselves)
{
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_ALL);
	warm_up(&scene, "---");
	expect_reports(&scene, "---", "010101");
	lanes_device_free(scene.device);
	lanes_signal_scene_open(&scene, CUDA_SIGNALS_NO);
	warm_up(&scene, "eee");
	expect_reports(&scene, "eee", "0003");
	lanes_device_free(scene.device);
}

/* Programs that share a lane. */
Test(cuda_lanes_signal, B18_a_kernel_does_not_wait_for_another_owners)
{
	static const uint32_t owners[] = {1, 1, 2, 2, 0, 2};
	static const char wanted[] = "002"
				     "00004";
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	for (int round = 0; round < 3 * OFTEN; round++) {
		for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
			scene.kernel.owner = owners[i];
			submit_one(&scene, false);
		}
		cuda_flush(scene.device);
		for (size_t i = 0; round == 3 * OFTEN - 1 && wanted[i]; i++) {
			cr_assert_eq(driver_run(scene.lane, 1), 1);
			cr_assert_eq(take_ended(&scene), (uint32_t)(wanted[i] - '0'), "at %zu", i);
		}
		run_and_take(&scene);
		cuda_chains_make_wanted(scene.device);
	}
	lanes_device_free(scene.device);
}

Test(cuda_lanes_signal, TR5_a_chain_with_signals_that_comes_again_is_one_call_of_the_driver)
{
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	warm_up(&scene, "e--e-");
	const struct driver_counts before = driver.counts;
	for (int i = 0; i < 200; i++) { /* also when the values' places are used again */
		submit(&scene, "e--e-");
		run_and_take(&scene);
	}
	cr_expect_eq(driver.counts.graph_launches, before.graph_launches + 200);
	cr_expect_eq(driver.counts.nodes_set, before.nodes_set);
	cr_expect_eq(driver.counts.words_set, before.words_set);
	cr_expect_eq(driver.counts.writes, before.writes);
	lanes_device_free(scene.device);
}

/* Until there is a chain of that length, or where chains are refused, each goes by itself and is
 * reported by itself. */
Test(cuda_lanes_signal, B18_without_a_chain_each_awaited_kernel_has_a_word)
{
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	submit(&scene, "e-");
	(void)driver_run(scene.lane, 2);
	cr_expect_eq(take_ended(&scene), 1);
	run_and_take(&scene);
	warm_up(&scene, "e-");
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	scene.kernel.argument = 5;
	submit(&scene, "e-");
	driver.set_parameters_result = CUDA_SUCCESS;
	(void)driver_run(scene.lane, 2);
	cr_expect_eq(take_ended(&scene), 1);
	run_and_take(&scene);
	lanes_device_free(scene.device);
}

/* There is one value for each signal on its way. Without room, chains end instead. */
Test(cuda_lanes_signal, B18_more_signals_than_have_room_are_ends_of_chains)
{
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	warm_up(&scene, "ee");
	const struct cuda_lane_state *state = scene.lane->state;
	for (uint32_t i = 0; i < 3 * CUDA_SIGNALS_MAX; i++) {
		submit(&scene, "ee");
		cr_assert_leq(state->signals_sent - state->signals_seen, CUDA_SIGNALS_MAX);
	}
	for (uint32_t i = 0; driver_pending(scene.lane) > 0; i++) {
		(void)driver_run(scene.lane, 1);
		(void)take_ended(&scene);
		cr_assert_leq(scene.reported, driver.ran_count);
	}
	cr_assert_eq(scene.reported, scene.sequence);
	lanes_device_free(scene.device);
}

/* A kernel may write anywhere. A wrong count must not end what has not run. */
Test(cuda_lanes_signal, a_count_that_is_not_possible_is_a_fault)
{
	struct backend_completion completions[4];
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	warm_up(&scene, "e-");
	const struct cuda_lane_state *state = scene.lane->state;
	submit(&scene, "e-");
	atomic_store(state->signals_host, state->signals_sent + 1);
	uint32_t count = cuda_progress(scene.device, completions, 4);
	count = count > 0 ? count : cuda_progress(scene.device, completions, 4);
	cr_assert_eq(count, 2);
	cr_expect(completions[0].fault.device_lost);
	lanes_device_free(scene.device);
}

/* A word has its count from the lane that had it before. */
Test(cuda_lanes_signal, B18_a_lane_goes_on_with_the_count_of_the_one_before_it)
{
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	warm_up(&scene, "e-");
	cuda_lane_free(scene.lane);
	scene.lane = lanes_lane(scene.device, BACKEND_LANE_COMPUTE);
	cr_assert_gt(((struct cuda_lane_state *)scene.lane->state)->signals_sent, 0);
	warm_up(&scene, "e-");
	expect_reports(&scene, "e-", "0101");
	lanes_device_free(scene.device);
}

/* The count and the lane's numbers are compared by their differences. */
Test(cuda_lanes_signal, B18_a_count_that_begins_anew_is_a_count)
{
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	struct cuda_lane_state *state = scene.lane->state;
	atomic_store(state->signals_host, UINT32_MAX - 5);
	state->signals_sent = state->signals_seen = UINT32_MAX - 5;
	warm_up(&scene, "ee");
	expect_reports(&scene, "ee", "0101");
	cr_assert_lt(state->signals_sent, 100);
	lanes_device_free(scene.device);
}

/* A signal is only between two commands of one chain. */
Test(cuda_lanes_signal, no_signal_is_sent_where_a_chain_ends)
{
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP, .timed = false};
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	const struct cuda_lane_state *state = scene.lane->state;
	submit(&scene, "e");
	submit(&scene, "e");
	submit_one(&scene, true);
	lanes_submit(scene.lane, &nothing, ++scene.sequence);
	run_and_take(&scene);
	cr_expect_eq(state->signals_sent, 0);
	scene.kernel.is_new = true; /* of unknown length: it goes alone */
	scene.kernel.pace = (struct cuda_pace){.period_ns = 0};
	submit(&scene, "ee");
	cr_expect_eq(state->signals_sent, 0);
	run_and_take(&scene);
	lanes_device_free(scene.device);
}

/* What a kernel took counts for those that are reported with it, and for no others. */
Test(cuda_lanes_signal, B18_a_kernel_before_a_long_one_is_no_surprise)
{
	struct backend_kernel quick = {.id = 1}, slow = {.id = 2};
	struct scene scene;

	lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
	warm_up(&scene, "e-");
	quick.is_awaited = true;
	lanes_launch(scene.lane, &quick, ++scene.sequence);
	lanes_launch(scene.lane, &slow, ++scene.sequence);
	cuda_flush(scene.device);
	(void)driver_run(scene.lane, 2);
	cr_assert_eq(take_ended(&scene), 1);
	const uint64_t until_ns = scene.device->lanes->polled_ns + 1000000;
	while (scene.device->lanes->all_polled_ns < until_ns)
		(void)take_ended(&scene);
	run_and_take(&scene);
	cr_expect_not(surprise_lasts(&quick.pace.surprise));
	cr_expect_gt(slow.pace.period_ns, 400000);
	lanes_device_free(scene.device);
}

static uint32_t next_random(uint32_t *seed, uint32_t range)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % range;
}

/* Chains of any length with signals anywhere: a command is reported when it has run and not before,
 * and an awaited one as soon as its signal has. */
Test(cuda_lanes_signal, B18_B21_nothing_is_reported_before_it_has_run)
{
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t seed = round;
		struct scene scene;
		lanes_signal_scene_open(&scene, CUDA_SIGNALS_EVENTS);
		for (int step = 0; step < 150; step++) {
			switch (next_random(&seed, 4)) {
			case 0:
			case 1:
				scene.kernel.argument = (int)next_random(&seed, 2);
				for (uint32_t i = next_random(&seed, 20); i > 0; i--) {
					scene.kernel.owner = next_random(&seed, 8) / 6;
					submit_one(&scene, next_random(&seed, 3) == 0);
				}
				cuda_flush(scene.device);
				break;
			case 2:
				(void)driver_run(scene.lane, next_random(&seed, 40));
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
