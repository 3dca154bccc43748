/* Small copies by a kernel of the backend: how they share chains and times with programs'
 * kernels. */
#include "clock.h"
#include "cuda/lanes_driver.h"
#include "cuda/memory/memory.h"

#include <criterion/criterion.h>

TestSuite(cuda_lanes_copy, .timeout = 10);

#define SECOND_NS UINT64_C(1000000000)

struct scene {
	struct backend_device *device;
	struct backend_lane *lane;
	struct backend_memory memory;
	struct backend_kernel kernel;
	uint64_t sequence;
	unsigned char host[64];
};

static void lanes_copy_scene_open(struct scene *scene, uint32_t limit)
{
	*scene = (struct scene){.kernel = {.id = 1, .is_new = true, .pace = {.period_ns = 1000}}};
	scene->device = lanes_device(16, true);
	scene->device->backend->settings.copy_kernel_bytes = limit;
	scene->lane = lanes_lane(scene->device, BACKEND_LANE_COMPUTE);
	scene->memory = (struct backend_memory){
		.device = scene->device, .address = 4096, .size_bytes = sizeof(scene->host)};
}

static void launch(struct scene *scene)
{
	lanes_launch(scene->lane, &scene->kernel, ++scene->sequence);
}

static void copy(struct scene *scene, enum backend_command_kind kind)
{
	const struct backend_command command = {
		.kind = kind,
		.transfer = {.memory = &scene->memory, .size_bytes = 4, .host = scene->host}};

	lanes_submit(scene->lane, &command, ++scene->sequence);
}

/* Makes them seem to have been sent a second ago and polled without a pause since. Returns how many
 * ended. */
static uint32_t finish_after_a_second(struct scene *scene, struct backend_completion *ended)
{
	struct cuda_lane_state *state = scene->lane->state;

	cuda_flush(scene->device);
	state->last_end_ns = 0;
	for (size_t i = state->head; i < state->sent_end; i++)
		cuda_pending_at(state, i)->submit_ns -= SECOND_NS;
	scene->device->lanes->all_polled_ns = clock_now_ns();
	driver_run_all(scene->device);
	return cuda_progress(scene->device, ended, 16);
}

static uint64_t took(const struct backend_completion *ended)
{
	return ended->end_ns - ended->start_ns;
}

/* Only the end of the chain is measured. The copies get the usual time of copies, and the kernel
 * the rest. */
Test(cuda_lanes_copy, H4_a_long_kernel_beside_copies_counts_in_full)
{
	struct scene scene;
	struct backend_completion ended[16];

	lanes_copy_scene_open(&scene, 4096);
	copy(&scene, BACKEND_COMMAND_WRITE);
	launch(&scene);
	launch(&scene);
	copy(&scene, BACKEND_COMMAND_READ);
	cr_assert_eq(finish_after_a_second(&scene, ended), 4);
	cr_assert_eq(driver.counts.chains[2], 1);
	cr_assert_lt(took(&ended[0]), 10000);
	cr_assert_geq(took(&ended[1]), SECOND_NS / 2 - 10000);
	cr_assert_geq(took(&ended[2]), SECOND_NS / 2 - 10000);
	cr_assert_lt(took(&ended[3]), 10000);
	for (int i = 1; i < 4; i++)
		cr_assert_geq(ended[i].start_ns, ended[i - 1].end_ns);
	lanes_device_free(scene.device);
}

/* A kernel is alone in a chain with copies: no other kernel was reported late with it. */
Test(cuda_lanes_copy, B18_copies_beside_a_long_kernel_are_no_surprise)
{
	struct scene scene;
	struct backend_completion ended[16];

	lanes_copy_scene_open(&scene, 4096);
	for (uint32_t i = 1; i <= 3; i++) {
		launch(&scene);
		copy(&scene, BACKEND_COMMAND_READ);
		cr_assert_eq(finish_after_a_second(&scene, ended), 2);
		/* This also holds if the estimate of the kernel is long. */
		cr_assert_eq(driver.counts.chains[1], i);
	}
	cr_assert_eq(scene.kernel.pace.surprise.left, 0);
	/* Two kernels that together took a second count as one. */
	scene.kernel.pace.period_ns = 1000;
	launch(&scene);
	launch(&scene);
	cr_assert_eq(finish_after_a_second(&scene, ended), 2);
	cr_assert_gt(scene.kernel.pace.surprise.left, 0);
	/* While it is sent alone, with copies behind it, launches count. */
	const uint32_t left = scene.kernel.pace.surprise.left;
	launch(&scene);
	copy(&scene, BACKEND_COMMAND_READ);
	cr_assert_eq(finish_after_a_second(&scene, ended), 2);
	cr_assert_eq(driver.counts.chains[1], 5);
	cr_assert_eq(scene.kernel.pace.surprise.left, left - 1);
	lanes_device_free(scene.device);
}

/* It would be reported when the kernel ends. */
Test(cuda_lanes_copy, B18_a_copy_does_not_wait_for_a_long_kernel_behind_it)
{
	struct scene scene;
	struct backend_completion ended[16];

	lanes_copy_scene_open(&scene, 4096);
	scene.kernel.pace.period_ns = SECOND_NS;
	copy(&scene, BACKEND_COMMAND_WRITE);
	launch(&scene);
	cr_assert_eq(finish_after_a_second(&scene, ended), 2);
	cr_assert_eq(driver.counts.chains[0], 2);
	cr_assert_eq(driver.counts.chains[1], 0);
	lanes_device_free(scene.device);
}

Test(cuda_lanes_copy, TR4_the_option_switches_kernels_for_copies_off)
{
	struct scene scene;
	struct backend_completion ended[16];

	lanes_copy_scene_open(&scene, 0);
	launch(&scene);
	copy(&scene, BACKEND_COMMAND_READ);
	cr_assert_eq(finish_after_a_second(&scene, ended), 2);
	cr_assert_eq(driver.counts.chains[0], 1);
	cr_assert_eq(driver.ran[1], 1000 + BACKEND_COMMAND_READ);
	lanes_device_free(scene.device);
}

/* Without chains there is none that it could join. It is a launch all the same. */
Test(cuda_lanes_copy, a_copy_that_the_driver_takes_no_chain_of_is_launched)
{
	struct scene scene;
	struct backend_completion ended[16];

	lanes_copy_scene_open(&scene, 4096);
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	launch(&scene);
	copy(&scene, BACKEND_COMMAND_READ);
	cr_assert_eq(finish_after_a_second(&scene, ended), 2);
	cr_assert_eq(driver.counts.kernel_launches, 2);
	cr_assert_eq(ended[1].fault.status, 0);
	lanes_device_free(scene.device);
}
