/* Rows of launches that are sent again and again. */
#include "cuda/lane/chain.h"
#include "cuda/lane/series.h"
#include "cuda/lanes_driver.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(cuda_lanes_row, .timeout = 10);

enum { LENGTH = 4 };

struct scene {
	struct backend_device *device;
	struct backend_lane *lane;
	struct backend_kernel kernels[LENGTH], own;
	struct backend_row *row;
	bool is_awaited; /* rows that are sent from now on */
	struct backend_completion completions[32];
	uint32_t completed;
	uint64_t sequence;
};

static int set_launch(const struct scene *scene, struct backend_row *row, uint32_t index,
		      struct backend_kernel *kernel)
{
	(void)scene;
	return cuda_row_set(row, index,
			    &(const struct backend_command){
				    .kind = BACKEND_COMMAND_LAUNCH,
				    .launch = {.kernel = kernel, .dimensions = 1, .global = {1}}});
}

/* A row of kernels whose ids begin with 1. */
static void lanes_row_open(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	scene->device =
		lanes_device_with(&(struct cuda_settings){.chain_length = 16,
							  .chain_marks = true,
							  .exact_chains = true,
							  .chain_signals = CUDA_SIGNALS_EVENTS},
				  true);
	scene->lane = lanes_lane(scene->device, BACKEND_LANE_COMPUTE);
	scene->own = (struct backend_kernel){.id = 100};
	cr_assert_eq(cuda_row_make(scene->device, LENGTH, &scene->row), 0);
	for (uint32_t i = 0; i < LENGTH; i++) {
		scene->kernels[i] = (struct backend_kernel){
			.id = 1 + (int)i, .parameter_bytes = 8, .pace = {.period_ns = 1000}};
		cr_assert_eq(set_launch(scene, scene->row, i, &scene->kernels[i]), 0);
	}
}

static void lanes_row_close(struct scene *scene)
{
	cuda_row_free(scene->row);
	lanes_device_free(scene->device);
	for (uint32_t i = 0; i < LENGTH; i++)
		cr_assert_eq(scene->kernels[i].holds, 0, "%u", i);
}

static void send_row(struct scene *scene)
{
	const struct backend_command last = {.kind = BACKEND_COMMAND_LAUNCH,
					     .is_awaited = scene->is_awaited,
					     .owner = scene->own.owner};
	struct backend_fault fault;

	scene->sequence += LENGTH;
	cr_assert_eq(cuda_row_submit(scene->lane, scene->row, &last, scene->sequence, &fault), 0);
}

static void row_run_all(struct scene *scene)
{
	driver.ran_count = 0;
	cuda_flush(scene->device);
	driver_run_all(scene->device);
	scene->completed = cuda_progress(scene->device, scene->completions, 32);
}

static void row_expect_ran(const int *ids, uint32_t count)
{
	cr_assert_eq(driver.ran_count, count, "%u ran", driver.ran_count);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(driver.ran[i], ids[i], "%u: %d", i, driver.ran[i]);
}

Test(cuda_lanes_row, TR5_it_goes_to_the_driver_in_one_chain_and_is_one_command)
{
	static const int ids[] = {100, 1, 2, 3, 4, 100, 100, 100};
	struct scene scene;

	lanes_row_open(&scene);
	for (int round = 0; round < 20; round++) {
		const struct driver_counts before = driver.counts;
		lanes_launch(scene.lane, &scene.own, ++scene.sequence);
		send_row(&scene);
		for (int i = 0; i < 3; i++)
			lanes_launch(scene.lane, &scene.own, ++scene.sequence);
		row_run_all(&scene);
		row_expect_ran(ids, 8);
		cr_assert_eq(driver.counts.graph_launches - before.graph_launches, 1);
		cr_assert(round == 0 || driver.counts.nodes_set == before.nodes_set);
		cr_assert_eq(scene.completed, 5);
		for (uint32_t i = 0; i < 5; i++)
			cr_assert_eq(scene.completions[i].fault.status, 0);
		cr_assert_eq(scene.completions[1].sequence, scene.sequence - 3);
	}
	lanes_row_close(&scene);
}

Test(cuda_lanes_row, a_launch_with_new_values_is_set_and_no_other)
{
	struct scene scene;

	lanes_row_open(&scene);
	send_row(&scene);
	row_run_all(&scene);
	for (int round = 1; round < 20; round++) {
		const uint32_t before = driver.counts.nodes_set;
		scene.kernels[2].argument = round;
		cr_assert_eq(set_launch(&scene, scene.row, 2, &scene.kernels[2]), 0);
		send_row(&scene);
		row_run_all(&scene);
		cr_assert_eq(driver.ran_count, LENGTH);
		cr_assert_eq(driver.counts.nodes_set - before, 1);
	}
	lanes_row_close(&scene);
}

/* The launches behind one that was refused need it. Other commands do not. */
Test(cuda_lanes_row, F12_a_refused_launch_is_named_and_those_behind_it_do_not_run)
{
	static const int ids[] = {100, 1, 100};
	struct scene scene;

	lanes_row_open(&scene);
	driver.set_parameters_result = CUDA_ERROR_INVALID_VALUE;
	driver.launch_result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	driver.launches_before_failure = 2;
	lanes_launch(scene.lane, &scene.own, ++scene.sequence);
	send_row(&scene);
	cuda_flush(scene.device);
	driver.launch_result = CUDA_SUCCESS;
	lanes_launch(scene.lane, &scene.own, ++scene.sequence);
	row_run_all(&scene);
	row_expect_ran(ids, 3);
	cr_assert_eq(scene.completed, 3);
	cr_assert_eq(scene.completions[0].fault.status, 0);
	cr_assert_eq(scene.completions[1].fault.native_code, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	cr_assert_eq(scene.completions[1].failed_launches, 2);
	cr_assert_eq(scene.completions[2].fault.status, 0);
	lanes_row_close(&scene);
}

Test(cuda_lanes_row, it_may_be_freed_while_it_is_in_flight)
{
	struct scene scene;

	lanes_row_open(&scene);
	send_row(&scene);
	cuda_row_free(scene.row);
	scene.row = NULL;
	cr_assert_eq(scene.kernels[0].holds, 1);
	row_run_all(&scene);
	cr_assert_eq(scene.completed, 1);
	lanes_row_close(&scene);
}

/* Such launches go alone, or their time must be known first. */
Test(cuda_lanes_row, some_launches_are_in_no_row)
{
	struct scene scene;
	struct backend_row *row, *most;
	struct backend_kernel alone = {.id = 7, .cooperative = true, .pace = {.period_ns = 1000}},
			      bad = {.id = -7, .pace = {.period_ns = 1000}}, fresh = {.id = 8};

	lanes_row_open(&scene);
	cr_assert_eq(cuda_row_make(scene.device, 2, &row), 0);
	cr_assert_eq(set_launch(&scene, row, 0, &alone), -EAGAIN);
	cr_assert_eq(set_launch(&scene, row, 0, &bad), -EAGAIN);
	cr_assert_eq(set_launch(&scene, row, 0, &fresh), -EAGAIN);
	cuda_row_free(row);
	cuda_row_free(NULL);
	cr_assert_eq(cuda_row_make(scene.device, CUDA_SERIES_MAX + 1, &most), -EAGAIN);
	lanes_row_close(&scene);
}

/* A row is awaited at its end, and what is before it may be awaited, too. The launch behind it is
 * long this time. */
Test(cuda_lanes_row, B18_H9_an_awaited_row_is_reported_before_those_behind_it_have_ended)
{
	struct scene scene;

	lanes_row_open(&scene);
	for (int round = 0; round < 40; round++) {
		uint32_t steps = 0, completed = 0;
		scene.own.is_awaited = scene.is_awaited = true;
		lanes_launch(scene.lane, &scene.own, ++scene.sequence);
		send_row(&scene);
		lanes_launch(scene.lane, &scene.own, ++scene.sequence);
		cuda_flush(scene.device);
		/* The first, the row's launches, and what reports them. */
		driver.ran_count = 0;
		while (driver.ran_count < 1 + LENGTH || completed < 2) {
			cr_assert_lt(++steps, 32, "%u completed of round %d", completed, round);
			cr_assert_lt(driver.ran_count, 2 + LENGTH);
			cr_assert_eq(driver_run(scene.lane, 1), 1);
			completed += cuda_progress(scene.device, scene.completions, 32);
			cr_assert(completed == 0 || driver.ran_count >= 1);
			cr_assert(completed >= 1 || driver.ran_count <= 1);
			cr_assert(completed < 2 || driver.ran_count >= 1 + LENGTH);
		}
		cr_assert_eq(driver.ran_count, 1 + LENGTH, "the last one has not run");
		cr_assert_eq(completed, 2);
		driver_run_all(scene.device);
		while (cuda_progress(scene.device, scene.completions, 32) > 0)
			;
		cuda_chains_make_wanted(scene.device);
	}
	lanes_row_close(&scene);
}

/* A row of three launches and a read of a few bytes. */
static struct backend_row *row_with_read(struct scene *scene, struct backend_memory *memory,
					 void *host)
{
	const struct backend_command read = {
		.kind = BACKEND_COMMAND_READ,
		.transfer = {.memory = memory, .size_bytes = 4, .host = host}};
	struct backend_row *row;

	cr_assert_eq(cuda_row_make(scene->device, LENGTH, &row), 0);
	for (uint32_t i = 0; i + 1 < LENGTH; i++)
		cr_assert_eq(set_launch(scene, row, i, &scene->kernels[i]), 0);
	cr_assert_eq(cuda_row_set(row, 1, &read), -EAGAIN, "it is behind the launches");
	cr_assert_eq(cuda_row_set(row, LENGTH - 1, &read), 0);
	return row;
}

Test(cuda_lanes_row, TR1_TR5_a_read_behind_it_is_in_its_chain_and_no_command)
{
	unsigned char host[64];
	struct scene scene;

	lanes_row_open(&scene);
	scene.device->backend->settings.copy_kernel_bytes = 4096;
	struct backend_memory memory = {
		.device = scene.device, .address = 4096, .size_bytes = sizeof(host)};
	cuda_row_free(scene.row);
	scene.row = row_with_read(&scene, &memory, host);
	for (int round = 0; round < 20; round++) {
		const struct driver_counts before = driver.counts;
		send_row(&scene);
		row_run_all(&scene);
		cr_assert_eq(driver.ran_count, LENGTH);
		cr_assert_eq(driver.counts.graph_launches - before.graph_launches, 1);
		cr_assert(round == 0 || driver.counts.nodes_set == before.nodes_set);
		cr_assert_eq(scene.completed, 1);
		cr_assert_eq(scene.completions[0].fault.status, 0);
		cr_assert_eq(scene.completions[0].sequence, scene.sequence);
	}
	lanes_row_close(&scene);
}

/* The read is larger than kernels copy, or leads outside. */
Test(cuda_lanes_row, F8_some_reads_are_in_no_row)
{
	unsigned char host[64];
	struct scene scene;
	struct backend_row *row;

	lanes_row_open(&scene);
	struct backend_memory memory = {
		.device = scene.device, .address = 4096, .size_bytes = sizeof(host)};
	struct backend_command read = {
		.kind = BACKEND_COMMAND_READ,
		.transfer = {.memory = &memory, .size_bytes = 16, .host = host}};
	cr_assert_eq(cuda_row_make(scene.device, 1, &row), 0);
	scene.device->backend->settings.copy_kernel_bytes = 8;
	cr_assert_eq(cuda_row_set(row, 0, &read), -EAGAIN);
	scene.device->backend->settings.copy_kernel_bytes = 4096;
	read.transfer.offset_bytes = sizeof(host) - 8;
	cr_assert_eq(cuda_row_set(row, 0, &read), -EAGAIN);
	read.transfer.offset_bytes = 0;
	cr_assert_eq(cuda_row_set(row, 0, &read), 0);
	cr_assert_eq(cuda_row_set(row, 0, &read), -EAGAIN, "it is set once");
	cuda_row_free(row);
	lanes_row_close(&scene);
}
