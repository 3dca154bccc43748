/* Contexts of CUDA devices: many of them cost no more than one, and one may have several
 * devices. */
#include "platforms/fixture.h"

#include "gpu/driver.h"

#include <stdlib.h>

TestSuite(gpu_contexts, .timeout = 120);

enum { WORDS = 4096, CONTEXTS = 100, SLACK_BYTES = 64 << 20 };

/* Free memory of device 0, by this process's own context. */
static size_t free_bytes(const struct gpu_driver *driver)
{
	size_t free_now = 0, total = 0;
	cr_assert_eq(driver->memory_information(&free_now, &total), 0);
	return free_now;
}

Test(gpu_contexts, A8_a_hundred_contexts_cost_what_one_does)
{
	struct platforms platforms;
	struct gpu_driver driver;
	struct gpu_context *own = NULL;
	sycl_context contexts[CONTEXTS];
	sycl_buffer buffer = NULL;
	const uint32_t zero = 0;
	platforms_begin(&platforms, 1);
	cr_assert(gpu_driver_open(&driver, platforms_library(), true));
	cr_assert_eq(driver.context_retain(&own, 0), 0);
	cr_assert_eq(driver.context_use(own), 0);
	MUST(sycl_buffer_create(platforms.connection, NULL, WORDS * 4, SYCL_HOST_NONE, &buffer));
	size_t after_first = 0;
	for (uint32_t i = 0; i < CONTEXTS; i++) {
		MUST(sycl_context_create(1, platforms.devices, &contexts[i]));
		sycl_queue queue = platforms_queue(contexts[i], platforms.devices[0]);
		if (i == 0)
			MUST(sycl_queue_fill(queue, buffer, 0, WORDS * 4, &zero, sizeof(zero),
					     NULL));
		sycl_kernel add = platforms_kernel(queue);
		platforms_add(queue, add, buffer, WORDS, 1, NULL, NULL);
		platforms_expect(buffer, WORDS, i + 1);
		MUST(sycl_kernel_release(add));
		MUST(sycl_queue_release(queue));
		if (i == 0)
			after_first = free_bytes(&driver);
	}
	size_t after_all = free_bytes(&driver);
	cr_expect(after_all + SLACK_BYTES >= after_first,
		  "%zu bytes were free with one context, %zu with %d", after_first, after_all,
		  CONTEXTS);
	for (uint32_t i = 0; i < CONTEXTS; i++)
		MUST(sycl_context_release(contexts[i]));
	MUST(sycl_buffer_release(buffer));
	(void)driver.context_release(0);
	platforms_end(&platforms);
}

/* One device reads what the other wrote, in both directions, in whatever way the machine
 * supports. */
Test(gpu_contexts, A7_A11_a_context_over_two_devices)
{
	struct platforms platforms;
	sycl_context context = NULL;
	sycl_buffer buffer = NULL;
	sycl_device devices[2] = {NULL, NULL};
	uint32_t count = 0;
	const uint32_t zero = 0;
	platforms_begin(&platforms, 2);
	MUST(sycl_context_create(2, platforms.devices, &context));
	MUST(sycl_context_get_devices(context, 2, devices, &count));
	cr_assert_eq(count, 2u);
	sycl_queue queues[2];
	sycl_kernel kernels[2];
	for (int i = 0; i < 2; i++) {
		queues[i] = platforms_queue(context, devices[i]);
		kernels[i] = platforms_kernel(queues[i]);
	}
	MUST(sycl_buffer_create(platforms.connection, NULL, WORDS * 4, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queues[0], buffer, 0, WORDS * 4, &zero, sizeof(zero), NULL));
	for (int turn = 0; turn < 100; turn++)
		platforms_add(queues[turn % 2], kernels[turn % 2], buffer, WORDS, 1, NULL, NULL);
	platforms_expect(buffer, WORDS, 100);
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < 2; i++) {
		MUST(sycl_kernel_release(kernels[i]));
		MUST(sycl_queue_release(queues[i]));
		MUST(sycl_device_release(devices[i]));
	}
	MUST(sycl_context_release(context));
	platforms_end(&platforms);
}
