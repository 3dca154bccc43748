/* Chains whose lengths are no powers of two. They are made in a quiet moment if they occur
 * often. */
#include "cuda/lane/chain.h"
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>

TestSuite(cuda_lanes_exact, .timeout = 10);

enum { OFTEN = 8, MAKES = 32 };

struct scene {
	struct backend_device *device;
	struct backend_lane *lane;
	struct backend_kernel kernel;
	uint64_t sequence;
};

static void lanes_exact_scene_open(struct scene *scene, bool has_exact)
{
	*scene = (struct scene){.kernel = {.id = 1}};
	scene->device = lanes_device(16, true);
	scene->device->backend->settings.exact_chains = has_exact;
	scene->lane = lanes_lane(scene->device, BACKEND_LANE_COMPUTE);
}

/* Sends that many launches and ends them. Returns the number of graph launches. */
static uint32_t send(struct scene *scene, uint32_t length)
{
	struct backend_completion completions[CUDA_CHAIN_LENGTH_MAX];
	const uint32_t before = driver.counts.graph_launches;

	for (uint32_t i = 0; i < length; i++)
		lanes_launch(scene->lane, &scene->kernel, ++scene->sequence);
	cuda_flush(scene->device);
	(void)driver_run(scene->lane, UINT32_MAX);
	cr_assert_eq(cuda_progress(scene->device, completions, CUDA_CHAIN_LENGTH_MAX), length);
	for (uint32_t i = 0; i < length; i++)
		cr_assert_eq(completions[i].fault.status, 0);
	return driver.counts.graph_launches - before;
}

static void send_often(struct scene *scene, uint32_t length)
{
	for (uint32_t i = 0; i < OFTEN; i++)
		(void)send(scene, length);
	cuda_chains_make_wanted(scene->device);
}

Test(cuda_lanes_exact, TR1_a_stretch_of_any_length_that_is_seen_often_is_one_launch)
{
	struct scene scene;

	for (uint32_t length = 1; length <= CUDA_CHAIN_LENGTH_MAX; length++) {
		lanes_exact_scene_open(&scene, true);
		const bool is_level = (length & (length - 1)) == 0;
		const uint32_t before = driver.counts.graphs_made;
		cr_assert_eq(send(&scene, length), (uint32_t)__builtin_popcount(length));
		cuda_chains_make_wanted(scene.device);
		cr_assert_eq(driver.counts.graphs_made, before, "once is not often");
		send_often(&scene, length);
		cr_assert_eq(driver.counts.graphs_made, before + !is_level);
		driver.ran_count = 0;
		cr_assert_eq(send(&scene, length), 1, "%u launches", length);
		cr_assert_eq(driver.ran_count, length);
		lanes_device_free(scene.device);
	}
}

Test(cuda_lanes_exact, TR1_the_option_switches_them_off)
{
	struct scene scene;

	lanes_exact_scene_open(&scene, false);
	const uint32_t before = driver.counts.graphs_made;
	for (int i = 0; i < 3; i++)
		send_often(&scene, 7);
	cr_assert_eq(send(&scene, 7), 3);
	cr_assert_eq(driver.counts.graphs_made, before);
	lanes_device_free(scene.device);
}

/* No launch makes one, because that may wait for running commands (F8). */
Test(cuda_lanes_exact, F8_they_are_made_in_quiet_moments_alone)
{
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	const uint32_t before = driver.counts.graphs_made;
	for (uint32_t i = 0; i < 10 * OFTEN; i++)
		cr_assert_eq(send(&scene, 5), 2);
	cr_assert_eq(driver.counts.graphs_made, before);
	cr_assert_eq(scene.device->lanes->wanting_exact, 1);
	cuda_chains_make_wanted(scene.device);
	cr_assert_eq(scene.device->lanes->wanting_exact, 0);
	cr_assert_eq(send(&scene, 5), 1);
	lanes_device_free(scene.device);
	cr_assert_eq(driver.counts.graphs_made, before + 1);
}

Test(cuda_lanes_exact, the_one_that_was_sent_longest_ago_is_replaced)
{
	static const uint32_t lengths[CUDA_EXACT_MAX] = {3, 5, 6, 7, 9, 10, 11, 12};
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		send_often(&scene, lengths[i]);
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		cr_assert_eq(send(&scene, lengths[i]), 1);
	cr_assert_eq(send(&scene, 3), 1); /* so 5 is the oldest */
	send_often(&scene, 15);           /* at first as 8 and 7 */
	cr_assert_eq(send(&scene, 15), 1);
	cr_assert_eq(send(&scene, 3), 1);
	cr_assert_eq(send(&scene, 5), 2);
	lanes_device_free(scene.device);
}

/* Where something always runs, no quiet moment comes by itself. */
Test(cuda_lanes_exact, TR5_a_chain_that_is_lacked_often_is_worth_a_moment_without_commands)
{
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	struct cuda_lanes *lanes = scene.device->lanes;
	lanes_launch(lanes_lane(scene.device, BACKEND_LANE_COMPUTE), &scene.kernel, 1);
	cuda_flush(scene.device); /* and it runs for ever */
	for (uint32_t i = 0; i < OFTEN + CUDA_REFUSED_FIRST; i++) {
		cr_assert(!cuda_chains_are_due(lanes), "%u", i);
		cr_assert_eq(send(&scene, 5), 2);
	}
	cr_assert(cuda_chains_are_due(lanes));
	cuda_chains_make_wanted(scene.device);
	cr_assert_eq(send(&scene, 5), 1);
	for (uint32_t i = 0; i < OFTEN + CUDA_REFUSED_FIRST; i++)
		cr_assert_eq(send(&scene, 6), 2);
	cr_assert(!cuda_chains_are_due(lanes),
		  "the next is worth one when it is lacked more often");
	driver_run_all(scene.device);
	lanes_device_free(scene.device);
}

/* Beside a long kernel there is no such moment for a long time. */
Test(cuda_lanes_exact, F8_the_request_for_such_a_moment_ends_by_itself)
{
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	struct cuda_lanes *lanes = scene.device->lanes;
	lanes_launch(lanes_lane(scene.device, BACKEND_LANE_COMPUTE), &scene.kernel, 1);
	cuda_flush(scene.device);
	for (uint32_t i = 0; i < OFTEN + CUDA_REFUSED_FIRST; i++)
		(void)send(&scene, 5);
	cr_assert(cuda_chains_are_due(lanes));
	lanes->exact_asks_until_ns = 1; /* that time is over */
	cr_assert(!cuda_chains_are_due(lanes));
	for (uint32_t i = 0; i < 2 * CUDA_REFUSED_FIRST; i++) {
		cr_assert(!cuda_chains_are_due(lanes), "%u", i);
		(void)send(&scene, 5);
	}
	cr_assert(cuda_chains_are_due(lanes), "twice as many sends lacked it");
	driver_run_all(scene.device);
	lanes_device_free(scene.device);
}

/* Kernels of that length are in flight on a new lane. */
static struct backend_lane *run_beside(struct scene *scene, enum backend_lane_kind kind,
				       struct backend_kernel *kernel, uint64_t period_ns,
				       uint32_t count)
{
	struct backend_lane *lane = lanes_lane(scene->device, kind);

	*kernel = (struct backend_kernel){.id = 2, .is_new = true};
	for (uint32_t i = 0; i < count; i++) {
		kernel->pace = (struct cuda_pace){.period_ns = period_ns};
		lanes_launch(lane, kernel, i + 1);
	}
	cuda_flush(scene->device);
	return lane;
}

static void end_beside(struct scene *scene)
{
	driver_run_all(scene->device);
	lanes_device_free(scene->device);
}

/* Whoever waits for a short command must not wait for the chains of others. */
Test(cuda_lanes_exact, B18_TG9_commands_are_held_back_for_a_few_times_their_length_at_most)
{
	static const struct {
		uint64_t first_ns, second_ns;
		uint32_t second_count;
		uint64_t hold_ns;
	} cases[] = {
		{10000, 10000, 1, 40000}, {10000, 10000, 4, 40000}, {10000, 10000, 5, 0},
		{10000, 41000, 1, 0},     {3000, 12000, 1, 12000},  {60000, 30000, 3, 100000},
		{60000, 60000, 2, 0},     {10000, 0, 1, 0}, /* a kernel that never ran */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct backend_kernel first, second;
		struct scene scene;
		lanes_exact_scene_open(&scene, true);
		(void)run_beside(&scene, BACKEND_LANE_COMPUTE, &first, cases[i].first_ns, 1);
		(void)run_beside(&scene, BACKEND_LANE_COMPUTE, &second, cases[i].second_ns,
				 cases[i].second_count);
		cr_expect_eq(cuda_chains_hold_ns(scene.device->lanes), cases[i].hold_ns, "%zu", i);
		end_beside(&scene);
	}
}

Test(cuda_lanes_exact, B18_no_command_is_held_back_behind_one_of_unknown_length)
{
	struct backend_kernel kernel;
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	struct backend_lane *lane = run_beside(&scene, BACKEND_LANE_COMPUTE, &kernel, 10000, 1);
	cr_assert_gt(cuda_chains_hold_ns(scene.device->lanes), 0);
	lanes_submit(lane,
		     &(struct backend_command){.kind = BACKEND_COMMAND_COPY,
					       .transfer.size_bytes = 1 << 30},
		     2);
	cr_assert_eq(cuda_chains_hold_ns(scene.device->lanes), 0);
	end_beside(&scene);

	lanes_exact_scene_open(&scene, true);
	(void)run_beside(&scene, BACKEND_LANE_COMPUTE, &kernel, 10000, 1);
	surprise_note(&kernel.pace.surprise);
	cr_assert_eq(cuda_chains_hold_ns(scene.device->lanes), 0, "it was long lately");
	end_beside(&scene);
}

Test(cuda_lanes_exact, TG9_no_command_is_held_back_beside_the_latency_class)
{
	struct backend_completion completion;
	struct backend_kernel kernel, other;
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	struct backend_lane *lane = run_beside(&scene, BACKEND_LANE_LATENCY, &kernel, 10000, 1);
	cr_assert_eq(cuda_chains_hold_ns(scene.device->lanes), 0);
	(void)driver_run(lane, UINT32_MAX);
	cr_assert_eq(cuda_progress(scene.device, &completion, 1), 1);
	(void)run_beside(&scene, BACKEND_LANE_COMPUTE, &other, 10000, 1);
	cr_assert_eq(cuda_chains_hold_ns(scene.device->lanes), 0, "its next one may come");
	((struct cuda_lane_state *)lane->state)->last_end_ns = 1; /* long ago */
	cr_assert_gt(cuda_chains_hold_ns(scene.device->lanes), 0);
	end_beside(&scene);
}

/* Commands wait while chains are made. */
Test(cuda_lanes_exact, B18_a_quiet_moment_makes_no_further_chain_once_it_was_long)
{
	enum { LANES = 3 };
	struct backend_lane *lanes[LANES];
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	for (int i = 0; i < LANES; i++)
		lanes[i] = i == 0 ? scene.lane : lanes_lane(scene.device, BACKEND_LANE_COMPUTE);
	for (uint32_t i = 0; i < LANES * OFTEN; i++) {
		scene.lane = lanes[i % LANES];
		(void)send(&scene, 5);
	}
	const uint32_t before = driver.counts.graphs_made;
	driver.instantiate_ns = 200000;
	for (uint32_t i = 1; i <= LANES; i++) {
		cr_assert(cuda_chains_are_due(scene.device->lanes));
		cuda_chains_make_wanted(scene.device);
		cr_assert_eq(driver.counts.graphs_made, before + i);
	}
	cr_assert(!cuda_chains_are_due(scene.device->lanes));
	lanes_device_free(scene.device);
}

/* Returns how many nodes were set for these launches. */
static uint32_t send_with(struct scene *scene, int argument, uint32_t length)
{
	const uint32_t before = driver.counts.nodes_set;

	scene->kernel.argument = argument;
	(void)send(scene, length);
	return driver.counts.nodes_set - before;
}

Test(cuda_lanes_exact, TR5_programs_that_share_a_lane_find_their_arguments)
{
	static const uint32_t lengths[] = {4, 5};
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	scene.kernel.parameter_bytes = 8;
	for (int j = 0; j < 2; j++) {
		for (int i = 0; i < 3 * (int)OFTEN * (int)CUDA_SAME_MAX; i++) {
			(void)send_with(&scene, i % (int)CUDA_SAME_MAX, lengths[j]);
			cuda_chains_make_wanted(scene.device);
		}
		for (int i = 0; i < (int)CUDA_SAME_MAX; i++)
			cr_expect_eq(send_with(&scene, i, lengths[j]), 0, "%u", lengths[j]);
	}
	lanes_device_free(scene.device);
}

Test(cuda_lanes_exact, TR5_arguments_that_are_always_new_make_no_further_chain)
{
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	scene.kernel.parameter_bytes = 8;
	send_often(&scene, 5);
	const uint32_t before = driver.counts.graphs_made;
	for (int i = 0; i < 10 * OFTEN; i++) {
		cr_assert_eq(send_with(&scene, i, 5), 5);
		cuda_chains_make_wanted(scene.device);
	}
	cr_assert_eq(driver.counts.graphs_made, before);
	lanes_device_free(scene.device);
}

/* Each needs a quiet moment. */
Test(cuda_lanes_exact, a_lane_makes_a_bounded_number)
{
	/* One more than there are places. */
	static const uint32_t lengths[CUDA_EXACT_MAX + 1] = {3, 5, 6, 7, 9, 10, 11, 12, 13};
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	const uint32_t before = driver.counts.graphs_made;
	for (uint32_t i = 0; i < 4 * MAKES; i++)
		send_often(&scene, lengths[i % (CUDA_EXACT_MAX + 1)]);
	cr_assert_eq(driver.counts.graphs_made, before + MAKES);
	cr_assert_eq(scene.device->lanes->wanting_exact, 0);
	lanes_device_free(scene.device);
}

Test(cuda_lanes_exact, one_that_cannot_be_made_is_sent_in_parts_and_not_tried_again)
{
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	driver.instantiate_result = CUDA_ERROR_OUT_OF_MEMORY;
	send_often(&scene, 5);
	driver.instantiate_result = CUDA_SUCCESS;
	const uint32_t before = driver.counts.graphs_made;
	for (int i = 0; i < 3; i++)
		send_often(&scene, 5);
	cr_assert_eq(send(&scene, 5), 2);
	cr_assert_eq(driver.counts.graphs_made, before);
	lanes_device_free(scene.device);
}

/* Only the end of a chain is reported, so it must come soon. */
Test(cuda_lanes_exact, B18_H9_long_kernels_make_none)
{
	struct scene scene;

	lanes_exact_scene_open(&scene, true);
	const uint32_t before = driver.counts.graphs_made;
	scene.kernel.is_new = true;
	for (uint32_t i = 0; i < 2 * OFTEN; i++) {
		scene.kernel.pace = (struct cuda_pace){.period_ns = 1000000000};
		cr_assert_eq(send(&scene, 5), 5);
	}
	cuda_chains_make_wanted(scene.device);
	cr_assert_eq(driver.counts.graphs_made, before);
	lanes_device_free(scene.device);
}

/* The driver must never use an unloaded function. */
Test(cuda_lanes_exact, the_code_of_a_kernel_stays_while_a_node_names_it)
{
	struct scene scene;
	struct backend_program code = {.holds = 1};

	lanes_exact_scene_open(&scene, true);
	send_often(&scene, 5);
	/* The kernel without code is the last: in the levels of 4 and 1, or alone. */
	scene.kernel.code = &code;
	cr_assert_eq(send(&scene, 5), 1);
	cr_assert_eq(code.kept, 5);
	scene.device->on_abandoned(scene.device);
	cr_assert_eq(code.kept, 5);
	code.holds--;
	scene.device->on_abandoned(scene.device);
	cr_assert_eq(code.kept, 0);
	scene.kernel.code = NULL;
	cr_assert_eq(send(&scene, 5), 1);
	lanes_device_free(scene.device);
}

Test(cuda_lanes_exact, the_code_is_let_go_with_the_chain)
{
	static const uint32_t others[CUDA_EXACT_MAX] = {3, 6, 7, 9, 10, 11, 12, 13};
	struct scene scene;
	struct backend_program code = {.holds = 1};

	lanes_exact_scene_open(&scene, true);
	send_often(&scene, 5);
	scene.kernel.code = &code;
	(void)send(&scene, 5);
	cr_assert_eq(code.kept, 5);
	scene.kernel.code = NULL;
	for (uint32_t i = 0; i < CUDA_EXACT_MAX; i++)
		send_often(&scene, others[i]);
	cr_assert_eq(code.kept, 0);
	lanes_device_free(scene.device);
}
