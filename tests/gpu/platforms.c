/* CUDA as one of a service's platforms: what is listed, what is told of it, and its work beside the other backends'. */
#include "platforms_fixture.h"

#include "gpu_driver.h"

#include "clock.h"

#include <dlfcn.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(gpu_platforms, .timeout = 120);

enum { WORDS = 4096, COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76, LIST_SECONDS = 90 };

/* The driver's own word, for comparison. */
struct driver {
	struct gpu_driver functions;
	int (*uuid)(uint8_t uuid_out[16], int device);
};

static void driver_open(struct driver *driver)
{
	cr_assert(gpu_driver_open(&driver->functions, platforms_library(), true));
	*(void **)&driver->uuid = dlsym(driver->functions.library, "cuDeviceGetUuid_v2");
	cr_assert(driver->uuid);
}

static void info_text(sycl_device device, sycl_device_info info, char *text_out, size_t size)
{
	MUST(sycl_device_get_info(device, info, size, text_out, NULL));
}

Test(gpu_platforms, A5_A6_one_platform_with_every_device)
{
	struct platforms platforms;
	struct driver driver;
	int count = 0;
	unsigned cuda_platforms = 0;
	platforms_begin(&platforms, 1);
	driver_open(&driver);
	cr_assert_eq(driver.functions.device_count(&count), 0);
	cr_assert_eq(platforms.device_count, (uint32_t)count, "%u devices, the driver has %d", platforms.device_count,
		     count);
	for (uint32_t i = 0; i < platforms.count; i++) {
		uint32_t backend = 0;
		MUST(sycl_platform_get_info(platforms.all[i], SYCL_PLATFORM_INFO_BACKEND, sizeof(backend), &backend,
					    NULL));
		cuda_platforms += backend == SYCL_BACKEND_KIND_CUDA;
	}
	cr_assert_eq(cuda_platforms, 1u);
	for (int i = 0; i < count; i++) {
		uint8_t told[16] = { 0 }, wanted[16] = { 1 };
		cr_assert_eq(driver.uuid(wanted, i), 0);
		MUST(sycl_device_get_info(platforms.devices[i], SYCL_DEVICE_INFO_UUID, sizeof(told), told, NULL));
		cr_expect_eq(memcmp(told, wanted, sizeof(told)), 0, "device %d is another", i);
	}
	platforms_end(&platforms);
}

Test(gpu_platforms, A13_version_is_the_compute_capability)
{
	struct platforms platforms;
	struct driver driver;
	platforms_begin(&platforms, 1);
	driver_open(&driver);
	for (uint32_t i = 0; i < platforms.device_count; i++) {
		char told[64], wanted[64];
		int major = 0, minor = 0;
		cr_assert_eq(driver.functions.device_attribute(&major, COMPUTE_MAJOR, (int)i), 0);
		cr_assert_eq(driver.functions.device_attribute(&minor, COMPUTE_MINOR, (int)i), 0);
		(void)snprintf(wanted, sizeof(wanted), "%d.%d", major, minor);
		info_text(platforms.devices[i], SYCL_DEVICE_INFO_VERSION, told, sizeof(told));
		cr_expect_str_eq(told, wanted);
	}
	platforms_end(&platforms);
}

Test(gpu_platforms, A15_every_query_is_answered)
{
	struct platforms platforms;
	static char answer[65536];
	platforms_begin(&platforms, 1);
	for (int info = SYCL_DEVICE_INFO_TYPE; info <= SYCL_DEVICE_INFO_PARTITION_TYPE_AFFINITY_DOMAIN;
	     info++)
		cr_expect_eq(sycl_device_get_info(platforms.devices[0], (sycl_device_info)info, sizeof(answer), answer,
						  NULL), SYCL_SUCCESS, "device query %d: %s", info,
			     sycl_get_last_error_text());
	for (int info = SYCL_PLATFORM_INFO_NAME; info <= SYCL_PLATFORM_INFO_ENDPOINT; info++)
		cr_expect_eq(sycl_platform_get_info(platforms.cuda, (sycl_platform_info)info, sizeof(answer), answer,
						    NULL), SYCL_SUCCESS, "platform query %d: %s", info,
			     sycl_get_last_error_text());
	platforms_end(&platforms);
}

Test(gpu_platforms, A21_devices_of_all_backends_are_listed)
{
	struct platforms platforms;
	uint32_t sum = 0, all = 0;
	platforms_begin(&platforms, 1);
	for (uint32_t i = 0; i < platforms.count; i++) {
		uint32_t count = 0;
		MUST(sycl_platform_get_devices(platforms.all[i], SYCL_DEVICE_TYPE_ALL, 0, NULL, &count));
		sum += count;
	}
	MUST(sycl_device_get_devices(platforms.connection, SYCL_DEVICE_TYPE_ALL, 0, NULL, &all));
	cr_assert_eq(all, sum);
	cr_assert_geq(all, platforms.device_count);
	platforms_end(&platforms);
}

static void need_other(struct platforms *platforms)
{
	if (platforms->other)
		return;
	platforms_end(platforms);
	cr_skip_test("CUDA is the only backend with a device here");
}

Test(gpu_platforms, A10_a_context_takes_one_platform)
{
	struct platforms platforms;
	sycl_context context = NULL;
	platforms_begin(&platforms, 1);
	need_other(&platforms);
	const sycl_device mixed[] = { platforms.devices[0], platforms.other };
	cr_assert_eq(sycl_context_create(2, mixed, &context), SYCL_ERROR_INVALID);
	MUST(sycl_context_create(1, mixed, &context));
	MUST(sycl_context_release(context));
	platforms_end(&platforms);
}

Test(gpu_platforms, A27_a_buffer_goes_from_backend_to_backend_and_back)
{
	struct platforms platforms;
	sycl_buffer buffer = NULL;
	const uint32_t zero = 0;
	platforms_begin(&platforms, 1);
	need_other(&platforms);
	sycl_queue here = platforms_queue(NULL, platforms.devices[0]), there = platforms_queue(NULL, platforms.other);
	sycl_kernel add_here = platforms_kernel(here), add_there = platforms_kernel(there);
	MUST(sycl_buffer_create(platforms.connection, NULL, WORDS * 4, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(here, buffer, 0, WORDS * 4, &zero, sizeof(zero), NULL));
	for (uint32_t turn = 1; turn <= 10; turn++) {
		platforms_add(here, add_here, buffer, WORDS, 1, NULL, NULL);
		platforms_add(there, add_there, buffer, WORDS, 100, NULL, NULL);
	}
	platforms_expect(buffer, WORDS, 1010);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(add_here));
	MUST(sycl_kernel_release(add_there));
	MUST(sycl_queue_release(here));
	MUST(sycl_queue_release(there));
	platforms_end(&platforms);
}

/* Each backend's kernel waits for the other's event; buffers of their own make no order. */
Test(gpu_platforms, B20_events_order_groups_of_two_backends)
{
	struct platforms platforms;
	sycl_buffer buffers[2];
	const uint32_t zero = 0;
	platforms_begin(&platforms, 1);
	need_other(&platforms);
	sycl_queue queues[] = { platforms_queue(NULL, platforms.devices[0]), platforms_queue(NULL, platforms.other) };
	sycl_kernel kernels[] = { platforms_kernel(queues[0]), platforms_kernel(queues[1]) };
	sycl_event before = NULL;
	for (int i = 0; i < 2; i++) {
		MUST(sycl_buffer_create(platforms.connection, NULL, WORDS * 4, SYCL_HOST_NONE, &buffers[i]));
		MUST(sycl_queue_fill(queues[i], buffers[i], 0, WORDS * 4, &zero, sizeof(zero), NULL));
	}
	for (int step = 0; step < 20; step++) {
		sycl_event event = NULL;
		sycl_command_status status;
		platforms_add(queues[step % 2], kernels[step % 2], buffers[step % 2], WORDS, 1, before, &event);
		MUST(sycl_event_wait(event));
		if (before) {
			MUST(sycl_event_get_status(before, &status));
			cr_assert_eq(status, SYCL_COMMAND_COMPLETE);
			MUST(sycl_event_release(before));
		}
		before = event;
	}
	MUST(sycl_event_release(before));
	for (int i = 0; i < 2; i++) {
		platforms_expect(buffers[i], WORDS, 10);
		MUST(sycl_buffer_release(buffers[i]));
		MUST(sycl_kernel_release(kernels[i]));
		MUST(sycl_queue_release(queues[i]));
	}
	platforms_end(&platforms);
}

Test(gpu_platforms, H1_H3_H4_times_count_from_the_connection)
{
	struct platforms platforms;
	sycl_buffer buffer = NULL;
	const uint32_t zero = 0;
	uint64_t before_ns = clock_now_ns();
	platforms_begin(&platforms, 1);
	sycl_queue queue = platforms_queue(NULL, platforms.devices[0]);
	sycl_kernel add = platforms_kernel(queue);
	MUST(sycl_buffer_create(platforms.connection, NULL, WORDS * 4, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, WORDS * 4, &zero, sizeof(zero), NULL));
	for (int i = 0; i < 100; i++) {
		uint64_t submit = 0, start = 0, end = 0;
		sycl_event event = NULL;
		platforms_add(queue, add, buffer, WORDS, 1, NULL, &event);
		MUST(sycl_event_wait(event));
		uint64_t since = clock_now_ns() - before_ns;
		MUST(sycl_event_get_profiling(event, SYCL_PROFILING_SUBMIT, &submit));
		MUST(sycl_event_get_profiling(event, SYCL_PROFILING_START, &start));
		MUST(sycl_event_get_profiling(event, SYCL_PROFILING_END, &end));
		cr_expect(submit <= start && start <= end && end < since, "times %llu %llu %llu, now %llu",
			  (unsigned long long)submit, (unsigned long long)start, (unsigned long long)end,
			  (unsigned long long)since);
		MUST(sycl_event_release(event));
	}
	platforms_expect(buffer, WORDS, 100);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(add));
	MUST(sycl_queue_release(queue));
	platforms_end(&platforms);
}

/* One process for each device of each platform, all at one time on one service. */
static void start_list(struct child *child, const struct platforms *platforms, sycl_platform platform, uint32_t device)
{
	char program[PATH_MAX], name[256] = "", number[16];
	uint32_t backend = 0;
	cr_assert_eq(build_path("tests", "gpu_list", program, sizeof(program)), 0);
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_BACKEND, sizeof(backend), &backend, NULL));
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_NAME, sizeof(name), name, NULL));
	(void)snprintf(number, sizeof(number), "%u", device);
	const char *argv[] = { program, "--endpoint", platforms->service->endpoint, "--platform", name, "--device", number,
			       "--times", platforms_library() ? "1" : "3", "--backend", backend == SYCL_BACKEND_KIND_CUDA ? "cuda" : "opencl", NULL };
	cr_assert_eq(child_start(argv, NULL, child), 0);
}

static void expect_list(struct child *child)
{
	static char text[1 << 16];
	ssize_t length = child_read_all(child, text, sizeof(text), SECONDS_NS(LIST_SECONDS));
	cr_assert_geq(length, 0, "a list did not end");
	int status = child_wait(child, SECONDS_NS(LIST_SECONDS));
	cr_expect_eq(status, 0, "status %d:\n%s", status, text);
	child_end(child);
}

Test(gpu_platforms, A3_every_platform_passes_the_list_at_one_time)
{
	struct platforms platforms;
	struct child children[DEVICES_MAX];
	uint32_t started = 0;
	platforms_begin(&platforms, 1);
	for (uint32_t i = 0; i < platforms.count; i++) {
		uint32_t count = 0;
		char name[256] = "";
		MUST(sycl_platform_get_devices(platforms.all[i], SYCL_DEVICE_TYPE_ALL, 0, NULL, &count));
		MUST(sycl_platform_get_info(platforms.all[i], SYCL_PLATFORM_INFO_NAME, sizeof(name), name, NULL));
		(void)fprintf(stderr, "platform '%s': %u devices\n", name, count);
		for (uint32_t device = 0; device < count && started < DEVICES_MAX; device++)
			start_list(&children[started++], &platforms, platforms.all[i], device);
	}
	for (uint32_t i = 0; i < started; i++)
		expect_list(&children[i]);
	platforms_end(&platforms);
}
