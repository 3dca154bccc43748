/* Failures, and the commands that report them. */
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(cuda_lanes_fault, .timeout = 10);

static uint32_t progress_until(struct backend_device *device,
			       struct backend_completion *completions, uint32_t capacity,
			       uint32_t wanted)
{
	uint32_t count = 0;

	while (count < wanted)
		count += cuda_progress(device, completions + count, capacity);
	return count;
}

Test(cuda_lanes_fault, a_launch_that_the_driver_refuses_is_told_as_failed_and_the_others_run)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[4];

	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	driver.launch_result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	driver.launches_before_failure = 1;
	for (uint64_t i = 1; i <= 2; i++)
		lanes_launch(lane, &kernel, i);
	cuda_flush(device);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, completions, 4), 2);
	cr_assert_eq(completions[0].fault.status, 0);
	cr_assert_eq(completions[1].fault.status, -4); /* nd_range */
	cr_assert_eq(completions[1].fault.native_code, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	cr_assert(!completions[1].fault.device_lost);
	cr_assert_eq(kernel.holds, 0);
	lanes_device_free(device);
}

static bool has_no_memory_for_faults;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	bool fails = has_no_memory_for_faults && bytes == sizeof(struct backend_fault);
	return fails ? NULL : __real_malloc(bytes);
}

/* The others usually belong to other sessions, so the device continues. */
Test(cuda_lanes_fault, a_refused_launch_without_memory_for_its_fault_fails_alone)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[4];

	has_no_memory_for_faults = true;
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	driver.launch_result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	driver.launches_before_failure = 1;
	for (uint64_t i = 1; i <= 2; i++)
		lanes_launch(lane, &kernel, i);
	cuda_flush(device);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, completions, 4), 2);
	cr_assert_eq(completions[0].fault.status, 0);
	cr_assert_eq(completions[1].fault.status, -9); /* memory_allocation */
	cr_assert(!completions[1].fault.device_lost);
	driver.launch_result = CUDA_SUCCESS;
	lanes_launch(lane, &kernel, 3);
	cuda_flush(device);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, completions, 4), 1);
	cr_assert_eq(completions[0].fault.status, 0);
	cr_assert_eq(kernel.holds, 0);
	lanes_device_free(device);
}

Test(cuda_lanes_fault, a_launch_by_itself_that_is_refused_was_not_sent)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1, .cooperative = true}, bad = {.id = -1};
	const struct backend_command command = {.kind = BACKEND_COMMAND_LAUNCH,
						.timed = true,
						.launch = {.kernel = &kernel}},
				     wrong = {.kind = BACKEND_COMMAND_LAUNCH,
					      .launch = {.kernel = &bad}},
				     empty = {.kind = BACKEND_COMMAND_COPY};
	struct backend_fault fault = {0};
	struct backend_completion completion;

	driver.launch_result = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	cr_assert_eq(cuda_submit(lane, &command, NULL, 0, 1, NULL, &fault), -22);
	cr_assert_eq(fault.native_code, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	cr_assert_eq(cuda_submit(lane, &wrong, NULL, 0, 1, NULL, &fault), -22);
	cr_assert_eq(cuda_submit(lane, &empty, NULL, 0, 1, NULL, &fault), -22);
	cr_assert_eq(kernel.holds, 0);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	/* Its events are in the pool again, so the next command makes none. */
	uint32_t made = driver.counts.events_made;
	driver.launch_result = CUDA_SUCCESS;
	lanes_submit(lane, &command, 2);
	cr_assert_eq(driver.counts.events_made, made);
	lanes_device_free(device);
}

Test(cuda_lanes_fault, a_copy_lane_launches_nothing)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COPY_OUT);
	struct backend_kernel kernel = {.id = 1};
	const struct backend_command command = {.kind = BACKEND_COMMAND_LAUNCH,
						.launch = {.kernel = &kernel}};
	struct backend_fault fault = {0};

	cr_assert_eq(cuda_submit(lane, &command, NULL, 0, 1, NULL, &fault), -22);
	lanes_device_free(device);
}

/* Lane a has a complete command, a chain with two begun commands, and another chain behind. Lane b
 * waits for a. Lane c runs. Nothing else is a suspect. */
Test(cuda_lanes_fault, F12_a_lost_device_tells_everything_once_and_suspects_first)
{
	struct backend_device *device = lanes_device(2, true);
	struct backend_lane *a = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *b = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *c = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[16];
	uint32_t suspects = 0, of_lane[3] = {0};

	lanes_launch(a, &kernel, 1);
	cuda_flush(device);
	(void)driver_run(a, 2);
	for (uint64_t i = 2; i <= 5; i++)
		lanes_launch(a, &kernel, i);
	lanes_launch_after(b, &kernel, 1, a, 3);
	lanes_launch(c, &kernel, 1);
	cuda_flush(device);
	lanes_launch(c, &kernel, 2); /* never sent */
	driver.dead = CUDA_ERROR_ILLEGAL_ADDRESS;
	cr_assert_eq(progress_until(device, completions, 2, 8), 8);
	cr_assert_eq(cuda_progress(device, completions + 8, 8), 0);

	cr_assert_eq(completions[0].fault.status, 0);
	for (uint32_t i = 1; i < 8; i++) {
		const struct backend_completion *ended = &completions[i];
		cr_assert_eq(ended->fault.status, -33);
		cr_assert(ended->fault.device_lost && ended->fault.process_lost);
		cr_assert_eq(ended->fault.native_code, CUDA_ERROR_ILLEGAL_ADDRESS);
		suspects += !ended->fault.not_begun;
		cr_assert_eq(!ended->fault.not_begun, i <= 3, "suspects come first");
		uint32_t lane = ended->lane == a ? 0 : ended->lane == b ? 1 : 2;
		cr_assert_eq(ended->sequence, (lane == 0 ? 2 : 1) + of_lane[lane]++);
		cr_assert(lane != 1 || ended->fault.not_begun, "it waited for another");
	}
	cr_assert_eq(suspects, 3); /* two of lane a's chain, one of lane c */
	cr_assert_eq(kernel.holds, 0);
	lanes_device_free(device);
}

Test(cuda_lanes_fault, a_lost_device_takes_nothing_more)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	const struct backend_command command = {
		.kind = BACKEND_COMMAND_LAUNCH, .timed = true, .launch = {.kernel = &kernel}};
	struct backend_fault fault = {0};

	driver.dead = CUDA_ERROR_ASSERT;
	cr_assert_lt(cuda_submit(lane, &command, NULL, 0, 1, NULL, &fault), 0);
	cr_assert(fault.device_lost && fault.process_lost);
	cr_assert_not_null(strstr(fault.text, "assertion"));
	cr_assert_not_null(strstr(fault.text, "the driver's own words"));
	/* The first failure counts. */
	driver.dead = CUDA_ERROR_UNKNOWN;
	cr_assert_eq(cuda_submit(lane, &command, NULL, 0, 2, NULL, &fault), -5);
	cr_assert_eq(fault.native_code, CUDA_ERROR_ASSERT);
	lanes_device_free(device);
}

/* A command is sent while others are in flight. It is the first to get the failure and must not be
 * reported as its cause. */
Test(cuda_lanes_fault, F12_a_submit_that_meets_a_lost_device_is_told_after_the_suspects)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE),
			    *other = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1}, cooperative = {.id = 2, .cooperative = true};
	struct backend_completion completions[8];

	for (uint64_t i = 1; i <= 4; i++)
		lanes_launch(lane, &kernel, i);
	cuda_flush(device);
	driver.dead = CUDA_ERROR_ILLEGAL_ADDRESS;
	lanes_launch(other, &cooperative, 1); /* gets the failure first */
	lanes_launch(other, &kernel, 2);      /* has the failure */
	cuda_flush(device);
	cr_assert_eq(progress_until(device, completions, 8, 6), 6);
	for (uint32_t i = 0; i < 6; i++) {
		cr_assert_eq(completions[i].fault.status, -33);
		cr_assert_eq(completions[i].lane, i < 4 ? lane : other);
		cr_assert_eq(completions[i].fault.native_code, CUDA_ERROR_ILLEGAL_ADDRESS);
		cr_assert_eq(completions[i].fault.not_begun, i >= 4);
	}
	cr_assert_eq(kernel.holds + cooperative.holds, 0);
	lanes_device_free(device);
}

/* This result is not sticky, but the stream is broken all the same. */
Test(cuda_lanes_fault, a_stream_that_fails_in_any_way_loses_the_device)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completion;

	lanes_launch(lane, &kernel, 1);
	cuda_flush(device);
	driver.dead = CUDA_ERROR_UNKNOWN;
	cr_assert_eq(progress_until(device, &completion, 1, 1), 1);
	cr_assert_eq(completion.fault.status, -33);
	cr_assert(completion.fault.device_lost);
	lanes_device_free(device);
}

/* The device failed while it was idle. The launch that gets the failure was refused, so it is not
 * the cause. */
Test(cuda_lanes_fault, F12_a_launch_that_was_refused_is_no_suspect)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completions[2];

	lanes_launch(lane, &kernel, 1);
	lanes_launch(lane, &kernel, 2);
	driver.dead = CUDA_ERROR_UNKNOWN;
	cuda_flush(device);
	cr_assert_eq(progress_until(device, completions, 2, 2), 2);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(completions[i].fault.status, -33);
		cr_assert(completions[i].fault.not_begun);
	}
	lanes_device_free(device);
}

Test(cuda_lanes_fault, a_kernel_that_forges_a_word_is_caught)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	struct backend_kernel kernel = {.id = 1};
	struct backend_completion completion;

	lanes_launch(lane, &kernel, 1);
	cuda_flush(device);
	*(uint32_t *)(uintptr_t)lane->state->word_device += 9;
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_assert_eq(completion.fault.status, -33);
	cr_assert_not_null(strstr(completion.fault.text, "memory of the service"));
	cr_assert_neq(completion.fault.native_code, 0);
	lanes_device_free(device);
}

Test(cuda_lanes_fault, a_word_that_could_not_be_sent_is_made_up_for)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_lane *lane = lanes_lane(device, BACKEND_LANE_COMPUTE);
	const struct backend_command copy = {.kind = BACKEND_COMMAND_COPY,
					     .transfer = {.size_bytes = 1}};
	struct backend_completion completion;

	driver.write_result = CUDA_ERROR_OUT_OF_MEMORY;
	lanes_submit(lane, &copy, 1);
	cr_assert_eq(cuda_progress(device, &completion, 1), 0);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	cr_assert_eq(completion.fault.status, 0);
	driver.write_result = CUDA_SUCCESS;
	lanes_submit(lane, &copy, 2);
	driver_run_all(device);
	cr_assert_eq(cuda_progress(device, &completion, 1), 1);
	lanes_device_free(device);
}

static uint32_t woken;
static void count_wake(void *token)
{
	(void)token;
	woken++;
}

Test(cuda_lanes_fault, F12_what_is_sticky_and_what_is_not)
{
	static const int sticky[] = {4,   214, 220, 226, 700, 702, 709, 710, 714,
				     715, 716, 717, 718, 719, 721, 806, 810, 911};
	static const int harmless[] = {1,   2,   100, 201, 218, 304, 400, 500,  600,
				       701, 704, 712, 720, 801, 805, 999, 12345};

	for (size_t i = 0; i < sizeof(sticky) / sizeof(*sticky); i++)
		cr_assert(cuda_result_is_sticky((CUresult)sticky[i]), "%d", sticky[i]);
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		cr_assert(!cuda_result_is_sticky((CUresult)harmless[i]), "%d", harmless[i]);
}

Test(cuda_lanes_fault, I11_every_result_is_a_sentence_with_its_number_and_the_drivers_words)
{
	struct backend_device *device = lanes_device(16, true);
	struct backend_fault fault;

	device->wake = count_wake;
	for (int result = 1; result < 1000; result++) {
		fault = (struct backend_fault){0};
		int error = cuda_fault(NULL, &device->backend->library, (CUresult)result, &fault,
				       "cannot do %s %d", "this", 7);
		cr_assert_lt(error, 0);
		cr_assert_lt(fault.status, 0);
		cr_assert_eq(fault.native_code, result);
		cr_assert_eq(strncmp(fault.text, "cannot do this 7: ", 18), 0, "%s", fault.text);
		cr_assert_not_null(strstr(fault.text, "RESULT_"));
		cr_assert_not_null(strstr(fault.text, "own words"), "cut off: %s", fault.text);
	}
	cr_assert_null(cuda_lost(device));
	(void)cuda_fault(device, &device->backend->library, CUDA_ERROR_OUT_OF_MEMORY, &fault, "x");
	cr_assert_null(cuda_lost(device));
	/* Here no other call fails. */
	(void)cuda_fault(device, &device->backend->library, CUDA_ERROR_UNKNOWN, &fault, "x");
	cr_assert_null(cuda_lost(device));
	(void)cuda_fault(device, &device->backend->library, CUDA_ERROR_ECC_UNCORRECTABLE, &fault,
			 "x");
	(void)cuda_fault(device, &device->backend->library, CUDA_ERROR_LAUNCH_FAILED, &fault, "x");
	cr_assert_eq(cuda_lost(device)->native_code, CUDA_ERROR_ECC_UNCORRECTABLE);
	cr_assert_eq(woken, 1);
	lanes_device_free(device);
}
