/* Waits between lanes, and objects that return to the pools. */
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>

TestSuite(cuda_lanes_order, .timeout = 10);

Test(cuda_lanes_order, a_wait_holds_a_lane_back_until_the_other_has_come_so_far)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *first = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *second = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel a = {.id = 1}, b = {.id = 2};

	lanes_launch(first, &a, 10);
	lanes_launch_after(second, &b, 20, first, 10);
	cuda_flush(device);
	cr_assert_eq(driver_run(second, 99), 0);
	cr_assert_eq(driver.counts.waits, 1);
	driver_run_all(device);
	cr_assert_eq(driver.ran_count, 2);
	cr_assert_eq(driver.ran[0], 1);
	cr_assert_eq(driver.ran[1], 2);
	lanes_device_free(device);
}

Test(cuda_lanes_order, what_was_collected_before_a_wait_does_not_wait)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *first = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *second = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel a = {.id = 1}, b = {.id = 2}, c = {.id = 3};

	lanes_launch(first, &a, 1);
	lanes_launch(second, &b, 1);
	lanes_launch_after(second, &c, 2, first, 1);
	cuda_flush(device);
	(void)driver_run(second, 99);
	cr_assert_eq(driver.ran_count, 1);
	cr_assert_eq(driver.ran[0], 2);
	driver_run_all(device);
	cr_assert_eq(driver.ran[2], 3);
	lanes_device_free(device);
}

Test(cuda_lanes_order, a_wait_for_what_is_complete_or_on_the_same_lane_costs_nothing)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *first = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *second = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completion;

	lanes_launch(first, &kernel, 5);
	cuda_flush(device);
	driver_run_all(device);
	/* The predecessor is complete and not reported yet. */
	lanes_launch_after(second, &kernel, 1, first, 5);
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	/* The predecessor was reported. */
	lanes_launch_after(second, &kernel, 2, first, 5);
	lanes_launch_after(second, &kernel, 3, first, 3);
	lanes_launch_after(second, &kernel, 4, second, 1);
	cr_assert_eq(driver.counts.waits, 0);
	cr_assert_eq(driver.counts.records, 0);
	lanes_device_free(device);
}

Test(cuda_lanes_order, a_wait_for_what_was_never_submitted_is_refused)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *first = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *second = lanes_lane(device, BACKEND_LANE_COMPUTE);
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};
	const struct backend_wait wait = {first, 1};
	struct backend_fault fault = {0};

	cr_assert_eq(cuda_submit(second, &nop, &wait, 1, 1, NULL, &fault), -22);
	cr_assert_neq(fault.text[0], '\0');
	lanes_device_free(device);
}

Test(cuda_lanes_order, one_event_serves_all_who_wait_for_the_same_place)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *first = lanes_lane(device, BACKEND_LANE_COMPUTE), *others[3];
	struct backend_kernel a = {.id = 1}, b = {.id = 2};

	for (int i = 0; i < 3; i++)
		others[i] = lanes_lane(device, BACKEND_LANE_COMPUTE);
	lanes_launch(first, &a, 1);
	for (int i = 0; i < 3; i++)
		lanes_launch_after(others[i], &b, 1, first, 1);
	cr_assert_eq(driver.counts.records, 1);
	cr_assert_eq(driver.counts.waits, 3);
	/* The event is recorded again; an earlier wait is still for the earlier record. */
	lanes_launch(first, &a, 2);
	lanes_launch_after(others[0], &b, 2, first, 2);
	cr_assert_eq(driver.counts.records, 2);
	cr_assert_eq(driver.counts.events_made, 1);
	cuda_flush(device);
	cr_assert_eq(driver_run(first, 3), 3); /* kernel, word, event */
	(void)driver_run(others[1], 99);
	(void)driver_run(others[0], 99);
	cr_assert_eq(driver.ran_count, 3);
	driver_run_all(device);
	cr_assert_eq(driver.ran_count, 6);
	lanes_device_free(device);
}

Test(cuda_lanes_order, a_nop_rides_on_the_command_before_it)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};
	struct backend_completion completions[4];

	lanes_submit(lane, &nop, 1);
	cr_assert_eq(cuda_progress(device, completions, 4), 1);
	cr_assert_eq(completions[0].sequence, 1);
	cr_assert_eq(driver_pending(lane), 0);

	lanes_launch(lane, &kernel, 2);
	lanes_submit(lane, &nop, 3);
	cr_assert_eq(cuda_progress(device, completions, 4), 0);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, completions, 4), 2);
	cr_assert_eq(completions[1].sequence, 3);
	cr_assert_eq(driver.counts.writes, 0);
	lanes_device_free(device);
}

Test(cuda_lanes_order, F3_streams_come_from_a_pool_and_go_back_clean)
{
	struct backend_device *device = lanes_device(0, true);

	for (int i = 0; i < 1000; i++) {
		struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
		cuda_lane_free(lane);
	}
	cr_assert_eq(driver.counts.streams_made, 2); /* the model, and one */
	cr_assert_eq(driver.counts.attributes_copied, 1000);
	lanes_device_free(device);
}

Test(cuda_lanes_order, a_lane_too_many_is_refused_and_one_given_back_can_be_had_again)
{
	struct backend_device *device = lanes_device(0, true);
	struct backend_lane *lane = NULL, *last = NULL;
	struct backend_fault fault = {0};

	for (uint32_t i = 0; i < CUDA_WORDS_MAX; i++)
		last = lanes_lane(device, BACKEND_LANE_COPY_IN);
	cr_assert_eq(cuda_lane_create(device, BACKEND_LANE_COMPUTE, &lane, &fault), -122);
	cr_assert_null(lane);
	cuda_lane_free(last);
	lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	cr_assert_not_null(lane);
	lanes_device_free(device);
}

/* A word is used again and continues from its last value, so that an old value is not mistaken for
 * a new one. */
Test(cuda_lanes_order, a_new_lane_on_an_old_word_begins_with_nothing_complete)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completion;

	for (int i = 0; i < 5; i++) {
		struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
		lanes_launch(lane, &kernel, 1);
		cuda_flush(device);
		cr_assert_eq(cuda_progress(device, &completion, 1), 0);
		driver_run_all(device);
		cr_assert_eq(cuda_progress(device, &completion, 1), 1);
		cuda_lane_free(lane);
	}
	lanes_device_free(device);
}

Test(cuda_lanes_order, F8_a_thousand_commands_wait_for_nothing)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *other = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[64];
	uint64_t completed = 0;

	lanes_launch(other, &kernel, 1); /* never runs until the end */
	cuda_flush(device);
	for (uint64_t i = 1; i <= 1000; i++) {
		lanes_launch(lane, &kernel, i);
		if (i % 7)
			continue;
		cuda_flush(device);
		(void)driver_run(lane, 99);
		completed += cuda_progress(device, completions, 64);
	}
	cuda_flush(device);
	(void)driver_run(lane, 99);
	completed += cuda_progress(device, completions, 64);
	cr_assert_eq(completed, 1000);
	cr_assert_eq(driver.counts.synchronizes, 0);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, completions, 64), 1);
	lanes_device_free(device);
}
