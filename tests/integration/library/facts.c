/* Queries of objects: devices and contexts, values that only a backend could have, events that
 * other events wait for. */
#include "library/test.h"

static uint32_t library_facts_device_number(sycl_device device, sycl_device_info info)
{
	uint32_t number = 0;
	MUST(sycl_device_get_info(device, info, sizeof(number), &number, NULL));
	return number;
}

static uint32_t context_number(sycl_context context, sycl_context_info info)
{
	uint32_t number = 0;
	MUST(sycl_context_get_info(context, info, sizeof(number), &number, NULL));
	return number;
}

Test(client_basic, G10_a_context_has_what_all_its_devices_have, .init = with_service,
     .fini = without_service)
{
	static const struct {
		sycl_device_info of_device;
		sycl_context_info of_context;
	} queries[] = {
		{SYCL_DEVICE_INFO_ATOMIC_MEMORY_ORDERS, SYCL_CONTEXT_INFO_ATOMIC_MEMORY_ORDERS},
		{SYCL_DEVICE_INFO_ATOMIC_MEMORY_SCOPES, SYCL_CONTEXT_INFO_ATOMIC_MEMORY_SCOPES},
		{SYCL_DEVICE_INFO_ATOMIC_FENCE_ORDERS, SYCL_CONTEXT_INFO_ATOMIC_FENCE_ORDERS},
		{SYCL_DEVICE_INFO_ATOMIC_FENCE_SCOPES, SYCL_CONTEXT_INFO_ATOMIC_FENCE_SCOPES},
	};
	sycl_device devices[] = {fake_device(platform, 0), fake_device(platform, 1)};
	sycl_context one = NULL, both = NULL;
	MUST(sycl_context_create(1, devices, &one));
	MUST(sycl_context_create(2, devices, &both));
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		uint32_t first = library_facts_device_number(devices[0], queries[i].of_device);
		uint32_t second = library_facts_device_number(devices[1], queries[i].of_device);
		cr_assert(ne(u32, first, second), "query %zu shows nothing", i);
		cr_assert(eq(u32, context_number(one, queries[i].of_context), first));
		cr_assert(eq(u32, context_number(both, queries[i].of_context), first & second));
	}
	cr_assert(eq(u32, context_number(both, SYCL_CONTEXT_INFO_DEVICE_COUNT), 2));
	cr_assert(eq(u32, context_number(both, SYCL_CONTEXT_INFO_BACKEND), SYCL_BACKEND_KIND_FAKE));
	uint32_t number = 0;
	cr_assert(
		eq(int,
		   sycl_context_get_info(both, (sycl_context_info)7, sizeof(number), &number, NULL),
		   SYCL_ERROR_INVALID));
	MUST(sycl_context_release(one));
	MUST(sycl_context_release(both));
	MUST(sycl_device_release(devices[0]));
	MUST(sycl_device_release(devices[1]));
}

Test(client_basic, A16_no_backend_has_an_info_of_its_own, .init = with_service,
     .fini = without_service)
{
	sycl_device device = fake_device(platform, 0);
	sycl_context context = NULL;
	sycl_event event = NULL;
	sycl_kernel kernel = fake_kernel(queue, "fill_u32");
	uint64_t value = 0;
	size_t bytes = 0;
	MUST(sycl_context_create(1, &device, &context));
	MUST(sycl_queue_barrier(queue, &event));
	static const uint32_t infos[] = {0, 1, 2, 0x1000, UINT32_MAX};
	for (size_t i = 0; i < sizeof(infos) / sizeof(*infos); i++) {
		const sycl_result results[] = {
			sycl_platform_get_backend_info(platform, infos[i], sizeof(value), &value,
						       &bytes),
			sycl_device_get_backend_info(device, infos[i], sizeof(value), &value,
						     &bytes),
			sycl_context_get_backend_info(context, infos[i], sizeof(value), &value,
						      &bytes),
			sycl_queue_get_backend_info(queue, infos[i], sizeof(value), &value, &bytes),
			sycl_event_get_backend_info(event, infos[i], sizeof(value), &value, &bytes),
			sycl_kernel_get_backend_info(kernel, infos[i], sizeof(value), &value,
						     &bytes),
		};
		for (size_t k = 0; k < sizeof(results) / sizeof(*results); k++)
			cr_assert(eq(int, results[k], SYCL_ERROR_INVALID), "object %zu, info %u", k,
				  infos[i]);
	}
	cr_assert(eq(u64, value, 0));
	cr_assert(eq(sz, bytes, 0));
	cr_assert(eq(int, sycl_device_get_backend_info(NULL, 1, sizeof(value), &value, &bytes),
		     SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_event_release(event));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
}

Test(client_basic, I18_H11_events_of_other_backends_are_not_handed_out, .init = with_service,
     .fini = without_service)
{
	sycl_event event = NULL;
	uint32_t has = 7;
	void *native = &has;
	MUST(sycl_queue_barrier(queue, &event));
	MUST(sycl_event_has_native_event(event, &has));
	cr_assert(eq(u32, has, 0));
	cr_assert(eq(int, sycl_event_get_native(event, &native), SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(ptr, native, &has));
	cr_assert(eq(int, sycl_event_has_native_event(event, NULL), SYCL_ERROR_INVALID));
	MUST(sycl_event_wait(event)); /* H11 */
	MUST(sycl_event_release(event));
}

Test(client_basic, A15_a_device_without_images_and_parts_says_so, .init = with_service,
     .fini = without_service)
{
	sycl_device device = fake_device(platform, 0);
	uint64_t width = 1;
	uint8_t uuid[16] = {1};
	size_t bytes = 1;
	cr_assert(eq(u32, library_facts_device_number(device, SYCL_DEVICE_INFO_IMAGE_SUPPORT), 0));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_IMAGE2D_MAX_WIDTH, sizeof(width), &width,
				  NULL));
	cr_assert(eq(u64, width, 0));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_PARTITION_PROPERTIES, 0, NULL, &bytes));
	cr_assert(eq(sz, bytes, 0));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_UUID, sizeof(uuid), uuid, &bytes));
	cr_assert(eq(sz, bytes, 16));
	cr_assert(eq(int, uuid[0], 0));
	cr_assert(
		eq(u32, library_facts_device_number(device, SYCL_DEVICE_INFO_QUEUE_PROFILING), 1));
	MUST(sycl_device_release(device));
}
