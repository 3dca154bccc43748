/* CUDA as one of a service's platforms: the list, its facts, and its work together with other
 * backends. */
#include "platforms/fixture.h"

#include "gpu/driver.h"

#include "clock.h"

#include <dlfcn.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(gpu_platforms, .timeout = 120);

enum { WORDS = 4096, COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76, LIST_SECONDS = 90 };

/* The driver itself, for comparison. */
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
	cr_assert_eq(platforms.device_count, (uint32_t)count, "%u devices, the driver has %d",
		     platforms.device_count, count);
	for (uint32_t i = 0; i < platforms.count; i++) {
		uint32_t backend = 0;
		MUST(sycl_platform_get_info(platforms.all[i], SYCL_PLATFORM_INFO_BACKEND,
					    sizeof(backend), &backend, NULL));
		cuda_platforms += backend == SYCL_BACKEND_KIND_CUDA;
	}
	cr_assert_eq(cuda_platforms, 1u);
	for (int i = 0; i < count; i++) {
		uint8_t reported[16] = {0}, wanted[16] = {1};
		cr_assert_eq(driver.uuid(wanted, i), 0);
		MUST(sycl_device_get_info(platforms.devices[i], SYCL_DEVICE_INFO_UUID,
					  sizeof(reported), reported, NULL));
		cr_expect_eq(memcmp(reported, wanted, sizeof(reported)), 0,
			     "device %d differs from the driver's", i);
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
		char reported[64], wanted[64];
		int major = 0, minor = 0;
		cr_assert_eq(driver.functions.device_attribute(&major, COMPUTE_MAJOR, (int)i), 0);
		cr_assert_eq(driver.functions.device_attribute(&minor, COMPUTE_MINOR, (int)i), 0);
		(void)snprintf(wanted, sizeof(wanted), "%d.%d", major, minor);
		info_text(platforms.devices[i], SYCL_DEVICE_INFO_VERSION, reported,
			  sizeof(reported));
		cr_expect_str_eq(reported, wanted);
	}
	platforms_end(&platforms);
}

Test(gpu_platforms, A15_every_query_is_answered)
{
	struct platforms platforms;
	static char answer[65536];
	platforms_begin(&platforms, 1);
	for (int info = SYCL_DEVICE_INFO_TYPE; info <= SYCL_DEVICE_INFO_USM_SHARED_MIGRATES; info++)
		cr_expect_eq(sycl_device_get_info(platforms.devices[0], (sycl_device_info)info,
						  sizeof(answer), answer, NULL),
			     SYCL_SUCCESS, "device query %d: %s", info, sycl_get_last_error_text());
	for (int info = SYCL_PLATFORM_INFO_NAME; info <= SYCL_PLATFORM_INFO_ENDPOINT; info++)
		cr_expect_eq(sycl_platform_get_info(platforms.cuda, (sycl_platform_info)info,
						    sizeof(answer), answer, NULL),
			     SYCL_SUCCESS, "platform query %d: %s", info,
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
		MUST(sycl_platform_get_devices(platforms.all[i], SYCL_DEVICE_TYPE_ALL, 0, NULL,
					       &count));
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
	const sycl_device mixed[] = {platforms.devices[0], platforms.other};
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
	sycl_queue here = platforms_queue(NULL, platforms.devices[0]),
		   there = platforms_queue(NULL, platforms.other);
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

/* Two backends. Each has a queue, another queue of the same device without predecessors, and a
 * separate buffer. */
struct pair {
	struct platforms platforms;
	sycl_queue queues[2], beside[2];
	sycl_kernel kernels[2], kernels_beside[2];
	sycl_buffer buffers[2];
	uint32_t
		*word; /* of CUDA's context and of the program: the gate of platforms_hold_kernel */
};

static sycl_buffer zeroed_buffer(sycl_platform connection, sycl_queue queue)
{
	const uint32_t zero = 0;
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(connection, NULL, WORDS * 4, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, WORDS * 4, &zero, sizeof(zero), NULL));
	return buffer;
}

static void pair_begin(struct pair *pair)
{
	void *word = NULL;
	platforms_begin(&pair->platforms, 1);
	need_other(&pair->platforms);
	for (int i = 0; i < 2; i++) {
		sycl_device device = i ? pair->platforms.other : pair->platforms.devices[0];
		pair->queues[i] = platforms_queue(NULL, device);
		pair->beside[i] = platforms_queue(NULL, device);
		pair->kernels[i] = platforms_kernel(pair->queues[i]);
		pair->kernels_beside[i] = platforms_kernel(pair->beside[i]);
		pair->buffers[i] = zeroed_buffer(pair->platforms.connection, pair->queues[i]);
		MUST(sycl_queue_wait(pair->queues[i]));
	}
	MUST(sycl_malloc_host(pair->queues[0], sizeof(*pair->word), 0, &word));
	pair->word = word;
}

static void platforms_pair_end(struct pair *pair)
{
	MUST(sycl_free(pair->queues[0], pair->word));
	for (int i = 0; i < 2; i++) {
		MUST(sycl_buffer_release(pair->buffers[i]));
		MUST(sycl_kernel_release(pair->kernels[i]));
		MUST(sycl_kernel_release(pair->kernels_beside[i]));
		MUST(sycl_queue_release(pair->beside[i]));
		MUST(sycl_queue_release(pair->queues[i]));
	}
	platforms_end(&pair->platforms);
}

/* Later work of the same device has ended, and the event's command has not begun. */
static void expect_behind(struct pair *pair, int which, sycl_event event)
{
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	sycl_buffer buffer = zeroed_buffer(pair->platforms.connection, pair->beside[which]);
	platforms_add(pair->beside[which], pair->kernels_beside[which], buffer, WORDS, 7, NULL,
		      NULL);
	platforms_expect(buffer, WORDS, 7);
	MUST(sycl_event_get_status(event, &status));
	cr_assert_eq(status, SYCL_COMMAND_SUBMITTED);
	cr_assert_eq(sycl_event_wait_for(event, 1000000), SYCL_ERROR_TIMEOUT);
	MUST(sycl_buffer_release(buffer));
}

static void platforms_wait_and_release(sycl_event event)
{
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

/* A kernel runs on the GPU and does not end. The other backend's kernel waits for its event, and
 * CUDA's next one for that one's. */
Test(gpu_platforms, B20_events_of_a_running_CUDA_kernel_order_groups_of_two_backends)
{
	struct pair pair;
	sycl_event held = NULL, there = NULL, back = NULL;
	pair_begin(&pair);
	sycl_kernel hold = platforms_hold_kernel(pair.queues[0]);
	*pair.word = 0;
	platforms_hold(pair.queues[0], hold, pair.word, pair.buffers[0], &held);
	platforms_add(pair.queues[1], pair.kernels[1], pair.buffers[1], WORDS, 10, held, &there);
	expect_behind(&pair, 1, there);
	platforms_add(pair.beside[0], pair.kernels[0], pair.buffers[0], WORDS, 100, there, &back);
	__atomic_store_n(pair.word, 1, __ATOMIC_SEQ_CST);
	platforms_wait_and_release(back);
	platforms_wait_and_release(there);
	platforms_wait_and_release(held);
	platforms_expect(pair.buffers[0], WORDS, 101);
	platforms_expect(pair.buffers[1], WORDS, 10);
	MUST(sycl_kernel_release(hold));
	platforms_pair_end(&pair);
}

/*
 * A held kernel of either backend; only its event orders the other backend's kernel. This is done
 * many times, so that some events are about to happen when they are waited for.
 */
Test(gpu_platforms, B20_events_order_groups_of_two_backends_both_ways)
{
	enum { ROUNDS = 20 };
	struct pair pair;
	pair_begin(&pair);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const int first = (int)(round % 2), second = 1 - first;
		struct platforms_gate gate;
		sycl_event task = NULL, before = NULL, after = NULL;
		platforms_gate_begin(&gate, pair.queues[first], &task);
		platforms_add(pair.queues[first], pair.kernels[first], pair.buffers[first], WORDS,
			      1, task, &before);
		platforms_add(pair.queues[second], pair.kernels[second], pair.buffers[second],
			      WORDS, 1, before, &after);
		if (round < 4)
			expect_behind(&pair, second, after);
		platforms_gate_end(&gate);
		platforms_wait_and_release(after);
		sycl_command_status status = SYCL_COMMAND_SUBMITTED;
		MUST(sycl_event_get_status(before, &status));
		cr_assert_eq(status, SYCL_COMMAND_COMPLETE);
		platforms_wait_and_release(before);
		platforms_wait_and_release(task);
	}
	platforms_expect(pair.buffers[0], WORDS, ROUNDS);
	platforms_expect(pair.buffers[1], WORDS, ROUNDS);
	platforms_pair_end(&pair);
}

static sycl_device first_of_cuda(sycl_platform connection)
{
	sycl_device all[DEVICES_MAX], found = NULL;
	uint32_t count = 0;
	MUST(sycl_device_get_devices(connection, SYCL_DEVICE_TYPE_GPU, DEVICES_MAX, all, &count));
	for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
		uint32_t backend = 0;
		MUST(sycl_device_get_info(all[i], SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					  &backend, NULL));
		if (!found && backend == SYCL_BACKEND_KIND_CUDA)
			found = all[i];
		else
			MUST(sycl_device_release(all[i]));
	}
	cr_assert(found);
	return found;
}

/* No time of a group is later than now, counted from before its connection was made. */
static void expect_times(sycl_platform connection, sycl_device device, uint64_t before_ns)
{
	sycl_buffer buffer = NULL;
	const uint32_t zero = 0;
	sycl_queue queue = platforms_queue(NULL, device);
	sycl_kernel add = platforms_kernel(queue);
	MUST(sycl_buffer_create(connection, NULL, WORDS * 4, SYCL_HOST_NONE, &buffer));
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
		cr_expect(submit <= start && start <= end && end < since,
			  "times %llu %llu %llu, now %llu", (unsigned long long)submit,
			  (unsigned long long)start, (unsigned long long)end,
			  (unsigned long long)since);
		MUST(sycl_event_release(event));
	}
	platforms_expect(buffer, WORDS, 100);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(add));
	MUST(sycl_queue_release(queue));
}

/* The times count from the begin of a connection, not of the service or its engine: a later
 * connection begins to count later. */
Test(gpu_platforms, H1_H3_H4_times_count_from_the_connection)
{
	struct platforms platforms;
	sycl_platform later = NULL;
	uint64_t before_ns = clock_now_ns();
	platforms_begin(&platforms, 1);
	expect_times(platforms.connection, platforms.devices[0], before_ns);
	before_ns = clock_now_ns();
	MUST(sycl_platform_open(platforms.service->endpoint, &later));
	sycl_device device = first_of_cuda(later);
	expect_times(later, device, before_ns);
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(later));
	platforms_end(&platforms);
}

/* One process for each device of each platform, all at one time on one service. */
static void start_list(struct child *child, const struct platforms *platforms,
		       sycl_platform platform, uint32_t device)
{
	char program[PATH_MAX], name[256] = "", number[16];
	uint32_t backend = 0;
	cr_assert_eq(build_path("tests", "gpu_list", program, sizeof(program)), 0);
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_BACKEND, sizeof(backend), &backend,
				    NULL));
	MUST(sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_NAME, sizeof(name), name, NULL));
	(void)snprintf(number, sizeof(number), "%u", device);
	const char *argv[] = {program,
			      "--endpoint",
			      platforms->service->endpoint,
			      "--platform",
			      name,
			      "--device",
			      number,
			      "--times",
			      platforms_library() ? "1" : "3",
			      "--backend",
			      backend == SYCL_BACKEND_KIND_CUDA ? "cuda" : "opencl",
			      NULL};
	cr_assert_eq(child_start(argv, NULL, child), 0);
}

static void expect_list(struct child *child)
{
	static char text[1 << 16];
	ssize_t length = child_read_all(child, text, sizeof(text), SECONDS_NS(LIST_SECONDS));
	cr_assert_geq(length, 0, "gpu_list did not end");
	int status = child_wait(child, SECONDS_NS(LIST_SECONDS));
	cr_expect_eq(status, 0, "status %d:\n%s", status, text);
	child_end(child);
}

/* SYCLD_TEST_PLATFORMS: names of platforms that must exist beside CUDA's; separated by ";". */
static void expect_wanted(const char *names)
{
	char wanted[1024];
	const char *given = getenv("SYCLD_TEST_PLATFORMS");
	(void)snprintf(wanted, sizeof(wanted), "%s", given ? given : "");
	for (char *rest = wanted, *name = strsep(&rest, ";"); name; name = strsep(&rest, ";"))
		cr_expect(*name == '\0' || strstr(names, name),
			  "there is no platform '%s', only:\n%s", name, names);
}

Test(gpu_platforms, A3_every_platform_passes_the_list_at_one_time)
{
	struct platforms platforms;
	struct child children[DEVICES_MAX];
	char names[4096] = "";
	uint32_t started = 0;
	platforms_begin(&platforms, 1);
	for (uint32_t i = 0; i < platforms.count; i++) {
		uint32_t count = 0;
		char name[256] = "";
		MUST(sycl_platform_get_devices(platforms.all[i], SYCL_DEVICE_TYPE_ALL, 0, NULL,
					       &count));
		MUST(sycl_platform_get_info(platforms.all[i], SYCL_PLATFORM_INFO_NAME, sizeof(name),
					    name, NULL));
		(void)fprintf(stderr, "platform '%s': %u devices\n", name, count);
		size_t length = strlen(names);
		(void)snprintf(names + length, sizeof(names) - length, "%s;", name);
		for (uint32_t device = 0; device < count && started < DEVICES_MAX; device++)
			start_list(&children[started++], &platforms, platforms.all[i], device);
	}
	for (uint32_t i = 0; i < started; i++)
		expect_list(&children[i]);
	expect_wanted(names);
	platforms_end(&platforms);
}
