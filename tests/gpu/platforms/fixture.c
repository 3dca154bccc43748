#include "platforms/fixture.h"

#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>

static const char source[] =
	"SYCL_KERNEL void add(SYCL_GLOBAL(uint) y, uint a)\n"
	"{ y[sycl_global_linear_id()] += a; }\n"
	"SYCL_KERNEL void hold(SYCL_GLOBAL(uint) y, SYCL_GLOBAL(volatile uint) word, uint words, uint looks)\n"
	"{ while (word[0] == 0 && looks != 0) looks--;\n"
	"  for (uint i = 0; i < words; i++) y[i] += looks != 0 ? 1 : 1000; }\n";

/* How often a kernel polls before it gives up: seconds on a GPU. */
enum { LOOKS = 1 << 24 };

const char *platforms_library(void)
{
	return getenv("SYCLD_TEST_CUDA_LIBRARY");
}

static void start_platform_service(struct platforms *platforms)
{
	char cache[PATH_MAX], configuration[2 * PATH_MAX + 64];
	const char *library = platforms_library();
	cr_assert_eq(build_path("tests", "cache", cache, sizeof(cache)), 0);
	const char *options[] = {"--cache-dir", cache, NULL};
	/* With a double of the driver, this also gives the place of the compiler if the linker does
	 * not find it. */
	const char *nvrtc = getenv("SYCLD_TEST_NVRTC");
	/* The tests measure the device's memory. A standby engine would take some of it at some
	 * moment. */
	(void)snprintf(configuration, sizeof(configuration),
		       "[service]\nstandby = no\n[cuda]\n%s%s\n%s%s\n", library ? "library = " : "",
		       library ? library : "", nvrtc ? "nvrtc = " : "", nvrtc ? nvrtc : "");
	cr_assert_eq(private_service_start(configuration, options, &platforms->service), 0);
	/* The thread that waits in the test must not run a host task that waits. */
	struct sycl_open_options open_options = SYCL_OPEN_OPTIONS_INIT;
	open_options.helper_threads = 1;
	MUST(sycl_platform_open_with(platforms->service->endpoint, &open_options,
				     &platforms->connection));
}

static void list_platforms(struct platforms *platforms)
{
	MUST(sycl_platform_get_platforms(platforms->connection, PLATFORMS_MAX, platforms->all,
					 &platforms->count));
	cr_assert_leq(platforms->count, PLATFORMS_MAX);
	for (uint32_t i = 0; i < platforms->count; i++) {
		uint32_t backend = 0, found = 0;
		sycl_device device = NULL;
		MUST(sycl_platform_get_info(platforms->all[i], SYCL_PLATFORM_INFO_BACKEND,
					    sizeof(backend), &backend, NULL));
		if (backend == SYCL_BACKEND_KIND_CUDA) {
			platforms->cuda = platforms->all[i];
			MUST(sycl_platform_get_devices(platforms->cuda, SYCL_DEVICE_TYPE_ALL,
						       DEVICES_MAX, platforms->devices,
						       &platforms->device_count));
		} else if (!platforms->other) {
			MUST(sycl_platform_get_devices(platforms->all[i], SYCL_DEVICE_TYPE_ALL, 1,
						       &device, &found));
			platforms->other = device;
		}
	}
}

void platforms_begin(struct platforms *platforms, uint32_t devices)
{
	*platforms = (struct platforms){.service = NULL};
	start_platform_service(platforms);
	list_platforms(platforms);
	if (platforms->device_count >= devices)
		return;
	platforms_end(platforms);
	cr_skip_test("fewer than %u GPUs with a CUDA driver", devices);
}

void platforms_end(struct platforms *platforms)
{
	for (uint32_t i = 0; i < platforms->device_count; i++)
		MUST(sycl_device_release(platforms->devices[i]));
	if (platforms->other)
		MUST(sycl_device_release(platforms->other));
	for (uint32_t i = 0; i < platforms->count; i++)
		MUST(sycl_platform_release(platforms->all[i]));
	MUST(sycl_platform_release(platforms->connection));
	platforms->service = private_service_free(platforms->service);
}

sycl_queue platforms_queue(sycl_context context, sycl_device device)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_queue queue = NULL;
	options.properties = SYCL_QUEUE_IN_ORDER | SYCL_QUEUE_ENABLE_PROFILING;
	MUST(sycl_queue_create(context, device, &options, &queue));
	return queue;
}

static sycl_kernel platforms_fixture_kernel_of(sycl_queue queue, const char *name)
{
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_from_source(queue, source, name, &kernel));
	return kernel;
}

sycl_kernel platforms_kernel(sycl_queue queue)
{
	return platforms_fixture_kernel_of(queue, "add");
}

sycl_kernel platforms_hold_kernel(sycl_queue queue)
{
	return platforms_fixture_kernel_of(queue, "hold");
}

void platforms_hold(sycl_queue queue, sycl_kernel kernel, const uint32_t *word, sycl_buffer buffer,
		    sycl_event *event_out)
{
	const uint32_t looks = LOOKS;
	uint64_t bytes = 0;
	sycl_handler handler;
	MUST(sycl_buffer_get_size(buffer, &bytes));
	const uint32_t words = (uint32_t)(bytes / sizeof(words));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_usm(handler, 1, word));
	MUST(sycl_handler_set_value(handler, 2, sizeof(words), &words));
	MUST(sycl_handler_set_value(handler, 3, sizeof(looks), &looks));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
	MUST(sycl_handler_submit(handler, event_out));
}

static sycl_result stand_at_gate(sycl_host_task task, void *user_data)
{
	struct platforms_gate *gate = user_data;
	(void)task;
	(void)pthread_mutex_lock(&gate->lock);
	while (!gate->is_open)
		(void)pthread_cond_wait(&gate->changed, &gate->lock);
	(void)pthread_mutex_unlock(&gate->lock);
	return SYCL_SUCCESS;
}

void platforms_gate_begin(struct platforms_gate *gate, sycl_queue queue, sycl_event *event_out)
{
	sycl_handler handler;
	*gate = (struct platforms_gate){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, stand_at_gate, gate, NULL));
	MUST(sycl_handler_submit(handler, event_out));
}

void platforms_gate_end(struct platforms_gate *gate)
{
	(void)pthread_mutex_lock(&gate->lock);
	gate->is_open = true;
	(void)pthread_cond_broadcast(&gate->changed);
	(void)pthread_mutex_unlock(&gate->lock);
}

void platforms_add(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer, uint32_t words,
		   uint32_t value, sycl_event after, sycl_event *event_out)
{
	sycl_handler handler;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	if (after)
		MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(words)));
	MUST(sycl_handler_submit(handler, event_out));
}

void platforms_expect(sycl_buffer buffer, uint32_t words, uint32_t value)
{
	sycl_host_accessor accessor;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *there = pointer;
	for (uint32_t i = 0; i < words; i++)
		cr_assert_eq(there[i], value, "word %u is %u, not %u", i, there[i], value);
	MUST(sycl_host_accessor_release(accessor));
}
