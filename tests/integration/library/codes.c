/*
 * One cause for each of SYCL's error codes (M11), as a program can meet it. Three codes have their
 * tests elsewhere. errc::event: an application's native event that ends with an error
 * (opencl_memory.c). errc::profiling: times that are not kept any more (natives.c). errc::platform:
 * an engine that is not installed (unit/client/greeting.c).
 */
#include "library/test.h"

#include <string.h>

static int32_t codes_choose_no_device(sycl_device device, void *user_data)
{
	(void)device;
	(void)user_data;
	return -1;
}

static sycl_result runtime(void)
{
	sycl_device device = NULL;
	return sycl_device_select(platform, codes_choose_no_device, NULL, &device);
}

static sycl_result kernel(void)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel made = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, "fill_u32\n", NULL,
					    &bundle));
	sycl_result result = sycl_kernel_create(bundle, "increment_u32", &made);
	MUST(sycl_kernel_bundle_release(bundle));
	return result;
}

static sycl_result accessor(void)
{
	const uint64_t origin[2] = {0};
	const uint32_t value[4] = {0};
	sycl_image image = NULL;
	sycl_host_image access = NULL;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UINT, sycl_range2(2, 2), NULL,
			       SYCL_HOST_NONE, &image));
	MUST(sycl_host_image_create(image, SYCL_ACCESS_READ, &access));
	sycl_result result = sycl_host_image_write_uint(access, origin, value);
	MUST(sycl_host_image_release(access));
	MUST(sycl_image_release(image));
	return result;
}

static sycl_result nd_range(void)
{
	sycl_kernel noop = fake_kernel(queue, "noop");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	sycl_result result =
		sycl_handler_parallel_for_nd(handler, noop, sycl_range1(10), sycl_range1(3));
	MUST(sycl_handler_discard(handler));
	MUST(sycl_kernel_release(noop));
	return result;
}

static sycl_result kernel_argument(void)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(1)));
	sycl_result result = sycl_handler_submit(handler, NULL);
	MUST(sycl_kernel_release(fill));
	return result;
}

static sycl_result build_unknown_function(void)
{
	sycl_kernel made = NULL;
	return sycl_kernel_from_source(queue, "no_such_function\n", "no_such_function", &made);
}

static sycl_result invalid(void)
{
	return sycl_queue_barrier(queue, NULL) ? SYCL_SUCCESS
					       : sycl_device_select(platform, NULL, NULL, NULL);
}

/* The device has no more memory when the group's turn comes. */
static sycl_result memory_allocation(void)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = NULL;
	sycl_event event = NULL;
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	cr_assert(eq(int,
		     fake_fail(FAKE_MEMORY_CREATE, FAKE_ANY_DEVICE, 0, 1,
			       SYCL_ERROR_MEMORY_ALLOCATION, false, ""),
		     0));
	submit_fill(queue, fill, buffer, 1, N, &event);
	sycl_result result = sycl_event_wait(event);
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	return result;
}

static sycl_result feature_not_supported(void)
{
	void *pointer = NULL;
	return sycl_malloc_device(queue, 64, 0, &pointer);
}

static sycl_result kernel_not_supported(void)
{
	sycl_kernel noop = fake_kernel(queue, "noop");
	sycl_device other = fake_device(platform, 1);
	sycl_queue there = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_queue_create(NULL, other, NULL, &there));
	MUST(sycl_handler_begin(there, &handler));
	sycl_result result = sycl_handler_parallel_for(handler, noop, sycl_range1(1));
	MUST(sycl_handler_discard(handler));
	MUST(sycl_queue_release(there));
	MUST(sycl_device_release(other));
	MUST(sycl_kernel_release(noop));
	return result;
}

static sycl_result backend_mismatch(void)
{
	uint32_t has = 0;
	return sycl_platform_has_extension(platform, SYCL_BACKEND_KIND_OPENCL, "cl_khr_fp16", &has);
}

Test(client_basic, M11_each_error_code_has_its_cause, .init = with_service, .fini = without_service)
{
	static const struct {
		sycl_result (*cause)(void);
		sycl_result result;
	} codes[] = {
		{runtime, SYCL_ERROR_RUNTIME},
		{kernel, SYCL_ERROR_KERNEL},
		{accessor, SYCL_ERROR_ACCESSOR},
		{nd_range, SYCL_ERROR_ND_RANGE},
		{kernel_argument, SYCL_ERROR_KERNEL_ARGUMENT},
		{build_unknown_function, SYCL_ERROR_BUILD},
		{invalid, SYCL_ERROR_INVALID},
		{memory_allocation, SYCL_ERROR_MEMORY_ALLOCATION},
		{feature_not_supported, SYCL_ERROR_FEATURE_NOT_SUPPORTED},
		{kernel_not_supported, SYCL_ERROR_KERNEL_NOT_SUPPORTED},
		{backend_mismatch, SYCL_ERROR_BACKEND_MISMATCH},
	};
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
		sycl_result result = codes[i].cause();
		cr_expect(eq(int, result, codes[i].result), "cause %zu gives %s", i,
			  sycl_result_name(result));
		MUST(sycl_get_last_error(&detail));
		cr_expect(eq(int, detail.result, codes[i].result), "cause %zu", i);
		cr_expect(ne(chr, *detail.text, 0), "cause %zu has no words", i);
	}
}

/* The first queue's device runs out of memory. The engine finds that when the group's turn comes,
 * and it is reported as that queue's error. */
Test(client_basic, M7_M8_what_fails_after_it_was_taken_stays_with_the_first_queue,
     .init = with_service, .fini = without_service)
{
	sycl_device devices[] = {fake_device(platform, 0), fake_device(platform, 1)};
	sycl_context context = NULL;
	sycl_queue first = NULL, second = NULL;
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	sycl_event event = NULL, other = NULL;
	struct fake_counters before, after;
	MUST(sycl_context_create(2, devices, &context));
	MUST(sycl_queue_create(context, devices[0], NULL, &first));
	MUST(sycl_queue_create(context, devices[1], NULL, &second));
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	fake_counters(1, &before);
	cr_assert(eq(int,
		     fake_fail(FAKE_MEMORY_CREATE, 0, 0, 1, SYCL_ERROR_MEMORY_ALLOCATION, false,
			       "it is full"),
		     0));
	MUST(sycl_handler_begin(first, &handler));
	MUST(sycl_handler_fill(handler, buffer, 0, BYTES, "abcd", 4));
	MUST(sycl_handler_submit_with_secondary(handler, second, &event));
	cr_assert(eq(int, sycl_event_wait(event), SYCL_ERROR_MEMORY_ALLOCATION));
	cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), "it is full"), NULL));
	fake_counters(1, &after);
	cr_assert(eq(u64, after.fills, before.fills), "nobody tried the second one");
	/* A caller that needs the second queue must request it. */
	MUST(sycl_queue_fill(second, buffer, 0, BYTES, "abcd", 4, &other));
	MUST(sycl_event_wait(other));
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(other));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(devices[0]));
	MUST(sycl_device_release(devices[1]));
}

/* The first device has memory for two buffers, the second for any number. */
static void with_a_small_device(void)
{
	fake_reset();
	fake_device_options(0, (struct fake_device_options){.memory_bytes = 2 * BYTES});
	with_service();
}

static sycl_buffer buffer_of(uint64_t bytes)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, NULL, bytes, SYCL_HOST_NONE, &buffer));
	return buffer;
}

/* Returns a fill of one of these buffers that requires all of them. */
static sycl_handler filling(sycl_queue on, uint32_t count, const sycl_buffer *buffers)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	for (uint32_t i = 1; i < count; i++)
		MUST(sycl_handler_require(handler, buffers[i], SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_fill(handler, buffers[0], 0, BYTES, "abcd", 4));
	return handler;
}

/* Ends the event and checks its queue: the first queue keeps times and the second keeps none. */
static void expect_event_of(bool is_first, sycl_event event)
{
	uint64_t ns = 0;
	cr_expect(eq(int, sycl_event_get_profiling(event, SYCL_PROFILING_END, &ns),
		     is_first ? SYCL_SUCCESS : SYCL_ERROR_INVALID));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}

/* A group that the first queue's device cannot hold at all goes to the second queue. If neither can
 * hold it, the call fails. */
Test(client_basic, M7_memory_that_runs_out_on_the_first_queue_brings_the_second_its_group,
     .init = with_a_small_device, .fini = without_service)
{
	sycl_device large = fake_device(platform, 1);
	sycl_queue second = NULL;
	const sycl_buffer buffers[] = {buffer_of(BYTES), buffer_of(BYTES), buffer_of(BYTES)};
	const sycl_buffer huge = buffer_of(3 * BYTES);
	struct fake_counters first_device, second_device;
	sycl_event event = NULL;
	MUST(sycl_queue_create(NULL, large, NULL, &second));
	/* Two fit, also when one of them is named by its parts. */
	sycl_buffer parts[2] = {NULL, NULL};
	for (int i = 0; i < 2; i++)
		MUST(sycl_buffer_create_sub(buffers[1], (uint64_t)i * 1024, 1024, &parts[i]));
	const sycl_buffer fitting[] = {buffers[0], parts[0], parts[1]};
	MUST(sycl_handler_submit_with_secondary(filling(queue, 3, fitting), second, &event));
	expect_event_of(true, event);
	/* Three do not fit, and neither does one that is larger than the device. */
	MUST(sycl_handler_submit_with_secondary(filling(queue, 3, buffers), second, &event));
	expect_event_of(false, event);
	MUST(sycl_handler_submit_with_secondary(filling(queue, 1, &huge), second, &event));
	expect_event_of(false, event);
	fake_counters(0, &first_device);
	fake_counters(1, &second_device);
	cr_expect(eq(u64, first_device.fills, 1));
	cr_expect(eq(u64, second_device.fills, 2));
	cr_expect(eq(int, sycl_handler_submit(filling(queue, 1, &huge), &event),
		     SYCL_ERROR_MEMORY_ALLOCATION));
	cr_expect(eq(int,
		     sycl_handler_submit_with_secondary(filling(queue, 3, buffers), queue, &event),
		     SYCL_ERROR_MEMORY_ALLOCATION));
	cr_expect(ne(ptr,
		     (void *)strstr(sycl_get_last_error_text(), "bytes together; the device has"),
		     NULL));
	MUST(sycl_queue_wait(queue)); /* the queue has nothing of the refused groups */
	for (int i = 0; i < 2; i++)
		MUST(sycl_buffer_release(parts[i]));
	for (int i = 0; i < 3; i++)
		MUST(sycl_buffer_release(buffers[i]));
	MUST(sycl_buffer_release(huge));
	MUST(sycl_queue_release(second));
	MUST(sycl_device_release(large));
}
