/* The reports of progress() on commands that succeeded. */
#include "cuda/lanes_driver.h"

#include "clock.h"

#include <criterion/criterion.h>

TestSuite(cuda_lanes_result, .timeout = 10);

#define LATER_NS ((uint64_t)1 << 60) /* later than anything was sent */

Test(cuda_lanes_result, completions_come_in_order_each_once_whatever_the_capacity)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[3];
	uint64_t next = 1;

	for (uint64_t i = 1; i <= 100; i++)
		lanes_launch(lane, &kernel, i);
	cuda_flush(device);
	cr_assert_eq(cuda_progress(device, completions, 0), 0);
	driver_run_all(device);
	while (next <= 100) {
		uint32_t count = cuda_progress(device, completions, 3);
		cr_assert(count > 0 && count <= 3);
		for (uint32_t i = 0; i < count; i++)
			cr_assert_eq(completions[i].sequence, next++);
	}
	cr_assert_eq(cuda_progress(device, completions, 3), 0);
	lanes_device_free(device);
}

/* A lane that always has more commands does not delay the reports of the others. */
Test(cuda_lanes_result, lanes_are_told_in_turns)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lanes[3];
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[4];
	uint32_t completed[3] = {0};

	for (int i = 0; i < 3; i++) {
		lanes[i] = lanes_lane(device, BACKEND_LANE_COMPUTE);
		for (uint64_t k = 1; k <= 64; k++)
			lanes_launch(lanes[i], &kernel, k);
	}
	driver_run_all(device);
	for (int turn = 0; turn < 6; turn++) {
		uint32_t count = cuda_progress(device, completions, 4);
		for (uint32_t k = 0; k < count; k++)
			for (int i = 0; i < 3; i++)
				completed[i] += completions[k].lane == lanes[i];
	}
	for (int i = 0; i < 3; i++)
		cr_assert_eq(completed[i], 8, "lane %d: %u", i, completed[i]);
	lanes_device_free(device);
}

Test(cuda_lanes_result, H4_estimated_times_are_in_order_and_lie_between_submission_and_now)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[64];
	uint64_t before[48], last_end = 0;
	uint32_t completed = 0;

	for (uint32_t batch = 0; batch < 3; batch++) {
		for (uint32_t i = 0; i < 16; i++) {
			before[batch * 16 + i] = clock_now_ns();
			lanes_launch(lane, &kernel, batch * 16 + i + 1);
		}
		if (batch == 1)
			continue;
		driver_run_all(device);
		completed += cuda_progress(device, completions + completed, 64);
	}
	uint64_t after = clock_now_ns();
	cr_assert_eq(completed, 48);
	for (uint32_t i = 0; i < completed; i++) {
		cr_assert(completions[i].estimated);
		cr_assert_geq(completions[i].start_ns, before[i]);
		cr_assert_geq(completions[i].start_ns, last_end);
		cr_assert_geq(completions[i].end_ns, completions[i].start_ns);
		cr_assert_leq(completions[i].end_ns, after);
		last_end = completions[i].end_ns;
	}
	lanes_device_free(device);
}

Test(cuda_lanes_result, H3_a_timed_command_is_bracketed_by_events_of_the_pool)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	const struct backend_command launch = {.kind = BACKEND_COMMAND_LAUNCH,
					       .timed = true,
					       .launch = {.kernel = &kernel}},
				     nop = {.kind = BACKEND_COMMAND_NOP, .timed = true};
	struct backend_completion completions[2];

	for (uint64_t i = 0; i < 50; i++) {
		driver.clock_ns = LATER_NS + i * 100;
		lanes_submit(lane, &launch, 2 * i + 1);
		lanes_submit(lane, &nop, 2 * i + 2);
		driver_run_all(device);
		cr_assert_eq(cuda_progress(device, completions, 2), 2);
		for (int k = 0; k < 2; k++)
			cr_assert(!completions[k].estimated);
		cr_assert_eq(completions[0].start_ns, driver.clock_ns + 11);
		cr_assert_eq(completions[0].end_ns, driver.clock_ns + 22);
		/* The driver reports the same for both: of two on a stream, the second begins when
		 * the first has ended. */
		cr_assert_eq(completions[1].start_ns, driver.clock_ns + 22);
		cr_assert_eq(completions[1].end_ns, driver.clock_ns + 22);
	}
	cr_assert_eq(driver.counts.events_made, 4);
	lanes_device_free(device);
}

Test(cuda_lanes_result, times_that_are_not_known_yet_are_queried_again)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP, .timed = true};
	struct backend_completion completion;

	driver.clock_ns = LATER_NS;
	lanes_submit(lane, &nop, 1);
	driver_run_all(device);
	driver.clock_result = CUDA_ERROR_NOT_READY;
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	driver.clock_result = CUDA_SUCCESS;
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_assert_eq(completion.end_ns, LATER_NS + 22);
	lanes_device_free(device);
}

Test(cuda_lanes_result, H5_the_beginning_of_a_timed_command_is_known_while_it_runs)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	const struct backend_command launch = {
		.kind = BACKEND_COMMAND_LAUNCH, .timed = true, .launch = {.kernel = &kernel}};
	struct backend_completion completion;
	uint64_t begun_ns = 1;

	driver.clock_ns = LATER_NS;
	lanes_submit(lane, &launch, 1);
	cr_assert(cuda_begun(lane, 1, &begun_ns), "as far as is known");
	driver.clock_result = CUDA_ERROR_NOT_READY; /* of the event before the command */
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	(void)cuda_begun(lane, 1, &begun_ns);
	cr_assert_eq(begun_ns, 0);
	cr_assert_eq(driver_run(lane, 1), 1);
	driver.clock_result = CUDA_SUCCESS;
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	cr_assert(cuda_begun(lane, 1, &begun_ns));
	cr_assert_eq(begun_ns, LATER_NS + 11);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_assert_eq(completion.start_ns, begun_ns);
	lanes_device_free(device);
}

/* A measurement meanwhile showed that the clock was late. */
Test(cuda_lanes_result, nothing_begins_before_the_one_before_it_on_its_stream_has_ended)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP, .timed = true};
	struct backend_completion completion;

	for (uint64_t i = 1; i <= 2; i++) {
		driver.clock_ns = LATER_NS - i * 1000;
		lanes_submit(lane, &nop, i);
		driver_run_all(device);
		cr_assert_eq(cuda_progress(device, &completion, 1), 1);
		cr_assert_eq(completion.end_ns, LATER_NS - 1000 + 22);
	}
	cr_assert_eq(completion.start_ns, LATER_NS - 1000 + 22);
	lanes_device_free(device);
}

/* By a late clock it began before it was sent, which cannot be. */
Test(cuda_lanes_result, H4_nothing_begins_before_it_was_sent)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP, .timed = true};
	struct backend_completion completion;
	uint64_t before = clock_now_ns();

	lanes_submit(lane, &nop, 1);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_assert_geq(completion.start_ns, before);
	cr_assert_geq(completion.end_ns, completion.start_ns);
	lanes_device_free(device);
}

Test(cuda_lanes_result, a_finish_runs_once_before_its_command_is_told)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	const struct backend_command read = {.kind = BACKEND_COMMAND_READ,
					     .transfer = {.size_bytes = 4}};
	struct backend_completion completion;

	lanes_submit(lane, &read, 1);
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	cr_assert_eq(driver.finished, 0);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_assert_eq(driver.finished, 1);
	/* The same for commands that are reported as lost. */
	lanes_submit(lane, &read, 2);
	driver.dead = CUDA_ERROR_LAUNCH_FAILED;
	while (cuda_progress(device, &completion, 1) == 0)
		;
	cr_assert_eq(driver.finished, 2);
	lanes_device_free(device);
}

Test(cuda_lanes_result, values_go_on_when_they_wrap)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct cuda_lane_state *state = lane->state;
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[40];

	atomic_store(state->word_host, UINT32_MAX - 5);
	state->issued = state->sent = state->written = device->lanes->reached[state->word] =
		UINT32_MAX - 5;
	for (uint64_t i = 1; i <= 20; i++)
		lanes_launch(lane, &kernel, i);
	cuda_flush(device);
	cr_assert_eq(cuda_progress(device, completions, 40), 0);
	(void)driver_run(lane, 17);
	cr_assert_eq(cuda_progress(device, completions, 40), 16);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, completions, 40), 4);
	lanes_device_free(device);
}
