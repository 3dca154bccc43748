/* The CUDA backend's reports when the device, the driver or a kernel fails. */
#include "cuda/double.h"

#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT   1000u
#define PENDING 8u

TestSuite(cuda_faults, .timeout = 60);

struct scene {
	struct fixture fixture;
	struct backend_memory *memory;
	struct backend_kernel *fill, *increment;
	struct backend_argument fill_arguments[2], increment_arguments[1];
	uint32_t value;
};

static const uint64_t global = COUNT;

static void open_fault_scene(struct scene *scene)
{
	*scene = (struct scene){.fixture = {.wake_fd = -1}, .value = 9};
	fixture_open(&scene->fixture, 0);
	scene->memory = fixture_memory(&scene->fixture, COUNT * 4, NULL);
	scene->fill = fixture_kernel(&scene->fixture, "fill_u32");
	scene->increment = fixture_kernel(&scene->fixture, "increment_u32");
	scene->fill_arguments[0] = global_argument(scene->memory);
	scene->fill_arguments[1] = value_argument(&scene->value, 4);
	scene->increment_arguments[0] = global_argument(scene->memory);
}

static struct backend_command fill_command(struct scene *scene)
{
	return launch_command(scene->fill, 1, &global, scene->fill_arguments, 2);
}

static struct backend_command increment_command(struct scene *scene)
{
	return launch_command(scene->increment, 1, &global, scene->increment_arguments, 1);
}

/* After a fault everything can be freed, and nothing hangs. */
static void cuda_list_faults_scene_close(struct scene *scene)
{
	scene->fixture.ops->kernel_free(scene->fill);
	scene->fixture.ops->kernel_free(scene->increment);
	scene->fixture.ops->memory_free(scene->memory);
	fixture_close(&scene->fixture);
}

/* Collects completions of progress() until that many have been reported; then it must report no
 * more. */
static uint32_t collect(struct fixture *fixture, struct backend_completion *ended,
			uint32_t capacity, uint32_t expected)
{
	const struct timespec poll = {.tv_nsec = 100000};
	uint32_t count = 0;

	while (count < expected) {
		uint32_t more =
			fixture->ops->progress(fixture->device, ended + count, capacity - count);
		count += more;
		if (more == 0)
			(void)nanosleep(&poll, NULL);
	}
	for (unsigned i = 0; i < 100; i++)
		cr_assert_eq(
			fixture->ops->progress(fixture->device, ended + count, capacity - count),
			0);
	return count;
}

/* A table has the results that are such faults: unit/cuda/fault_header.c tests each. */
Test(cuda_faults, F12_an_illegal_address)
{
	const int result = 700;
	struct scene scene;
	struct backend_completion ended[64];
	struct backend_fault fault = {0};

	open_fault_scene(&scene);
	const struct backend_command fill = fill_command(&scene),
				     increment = increment_command(&scene);
	fixture_wait(&scene.fixture, 0, fixture_submit(&scene.fixture, 0, &fill));
	/* The offender is first on lane 1; on lane 0 there is held work, which is not at fault. */
	double_command("gate close increment_u32");
	for (unsigned i = 0; i < PENDING; i++)
		(void)fixture_submit(&scene.fixture, 0, &increment);
	scene.fixture.ops->flush(scene.fixture.device);
	double_wait("held increment_u32", 1);
	double_command("fault_launch 1 %d", result);
	uint64_t offender = fixture_submit(&scene.fixture, 1, &fill);
	for (unsigned i = 1; i < PENDING; i++)
		(void)fixture_submit(&scene.fixture, 1, &fill);
	scene.fixture.ops->flush(scene.fixture.device);

	uint32_t count = collect(&scene.fixture, ended, 64, 2 * PENDING);
	bool named = false, is_suspect = true;
	cr_assert_eq(count, 2 * PENDING);
	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(ended[i].fault.status, STATUS_DEVICE_LOST, "%u: %d %s", i,
			     ended[i].fault.status, ended[i].fault.text);
		cr_assert(ended[i].fault.device_lost && ended[i].fault.process_lost);
		/* Commands that may have been running come first. */
		is_suspect &= !ended[i].fault.not_begun;
		cr_assert_eq(ended[i].fault.not_begun, !is_suspect);
		cr_assert_eq(ended[i].fault.native_code, result);
		for (uint32_t k = 0; k < i; k++)
			cr_assert(ended[k].lane != ended[i].lane ||
					  ended[k].sequence != ended[i].sequence,
				  "reported twice");
		if (ended[i].lane == scene.fixture.lanes[1].lane && ended[i].sequence == offender)
			named = is_suspect;
	}
	cr_assert(named);

	cr_assert_lt(scene.fixture.ops->submit(scene.fixture.lanes[0].lane, &fill, NULL, 0, 1000,
					       NULL, &fault),
		     0);
	cr_assert_eq(fault.status, STATUS_DEVICE_LOST, "%s", fault.text);
	cr_assert(fault.device_lost && fault.process_lost);
	cr_assert_neq(fault.text[0], '\0');
	cuda_list_faults_scene_close(&scene);
	cr_assert_eq(double_count("faults"), 1);
}

Test(cuda_faults, a_device_that_falls_off_the_bus_is_told_once_to_all)
{
	struct scene scene;
	struct backend_completion ended[64];
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	open_fault_scene(&scene);
	const struct backend_command fill = fill_command(&scene);
	double_command("gate close fill_u32");
	for (unsigned lane = 0; lane < TEST_LANES; lane++)
		for (unsigned i = 0; i < 3; i++)
			(void)fixture_submit(&scene.fixture, lane, &fill);
	scene.fixture.ops->flush(scene.fixture.device);
	double_wait("held fill_u32", 1);
	double_command("lose");
	uint32_t count = collect(&scene.fixture, ended, 64, 3 * TEST_LANES);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(ended[i].fault.status, STATUS_DEVICE_LOST, "%s", ended[i].fault.text);
	cr_assert_lt(scene.fixture.ops->memory_create(scene.fixture.device, 4096, NULL,
						      BACKEND_EXPORT_NONE, &memory, &fault),
		     0);
	cr_assert(fault.device_lost, "%d %s", fault.status, fault.text);
	cr_assert_null(memory);
	cuda_list_faults_scene_close(&scene);
}

/* The device is not polled: the loss of an idle device is also detected when it is next used. */
Test(cuda_faults, an_idle_device_that_is_lost)
{
	struct scene scene;
	struct backend_fault fault = {0};

	open_fault_scene(&scene);
	const struct backend_command fill = fill_command(&scene);
	fixture_wait(&scene.fixture, 0, fixture_submit(&scene.fixture, 0, &fill));
	double_command("lose");
	int error = scene.fixture.ops->submit(scene.fixture.lanes[0].lane, &fill, NULL, 0, 100,
					      NULL, &fault);
	if (error == 0) {
		struct backend_completion ended = fixture_finish(&scene.fixture, 0, 100);
		fault = ended.fault;
	}
	cr_assert_eq(fault.status, STATUS_DEVICE_LOST, "%s", fault.text);
	cuda_list_faults_scene_close(&scene);
}

/* Each client of an MPS server gets the fault of one of them, and must not be blamed for it. */
Test(cuda_faults, F12_a_client_of_mps_is_told_that_another_may_have_failed)
{
	struct scene scene;
	struct backend_completion ended[2];

	double_command("attribute 133 1"); /* CU_DEVICE_ATTRIBUTE_MPS_ENABLED */
	open_fault_scene(&scene);
	const struct backend_command fill = fill_command(&scene);
	double_command("gate close fill_u32");
	(void)fixture_submit(&scene.fixture, 0, &fill);
	scene.fixture.ops->flush(scene.fixture.device);
	double_wait("held fill_u32", 1);
	double_command("lose 700");
	cr_assert_eq(collect(&scene.fixture, ended, 2, 1), 1);
	cr_assert_eq(ended[0].fault.status, STATUS_DEVICE_LOST, "%s", ended[0].fault.text);
	cr_assert_not_null(strstr(ended[0].fault.text, "or of another client of MPS"), "%s",
			   ended[0].fault.text);
	cuda_list_faults_scene_close(&scene);
}

/*
 * Others use the device's memory. A client that requests too much gets an error, and the device
 * still works.
 */
Test(cuda_faults, I11_out_of_memory_is_no_fault_of_the_device)
{
	struct scene scene;
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	double_command("memory %llu", 1ull << 30);
	open_fault_scene(&scene);
	cr_assert_lt(scene.fixture.ops->memory_create(scene.fixture.device, 2ull << 30, NULL,
						      BACKEND_EXPORT_NONE, &memory, &fault),
		     0);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
	cr_assert(!fault.device_lost && !fault.process_lost);
	const struct backend_command fill = fill_command(&scene);
	fixture_wait(&scene.fixture, 0, fixture_submit(&scene.fixture, 0, &fill));
	cuda_list_faults_scene_close(&scene);
	double_check(true);
}

/* A call that fails once must leave nothing half-made. */
Test(cuda_faults, a_driver_that_refuses_a_call_once)
{
	static const char *const calls[] = {"cuDevicePrimaryCtxRetain",
					    "cuStreamCreateWithPriority",
					    "cuMemHostAlloc",
					    "cuEventCreate",
					    "cuGraphCreate",
					    "cuGraphInstantiateWithFlags",
					    "cuModuleLoadDataEx",
					    "cuMemPoolCreate"};
	struct fixture fixture = {.wake_fd = -1};
	unsigned refused = 0;

	fixture_open_backend(&fixture);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		for (unsigned n = 1; n <= 3; n++) {
			struct backend_device *device = NULL;
			struct backend_lane *lane = NULL;
			struct backend_fault fault = {0};
			double_command("fail %s %u 2", calls[i], n);
			int error = fixture.ops->device_open(fixture.backend, 0, NULL, NULL,
							     &device, &fault);
			if (error == 0)
				error = fixture.ops->lane_create(device, BACKEND_LANE_COMPUTE,
								 &lane, &fault);
			if (error < 0) {
				refused++;
				cr_assert_neq(fault.text[0], '\0', "%s", calls[i]);
				cr_assert(!fault.process_lost, "%s", calls[i]);
			}
			if (lane)
				fixture.ops->lane_free(lane);
			if (device)
				fixture.ops->device_close(device);
			double_command("forget");
			double_check(true);
		}
	cr_assert_gt(refused, 3);
	fixture.ops->close(fixture.backend);
}
