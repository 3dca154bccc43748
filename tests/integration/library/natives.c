/* Native handles over a connection to another process's engine, with the fake devices: there are
 * none, and the call fails at once (I18, S8). CUDA's bridge: tests/gpu/native/bridge.c. */
#include "library/test.h"

#define REFUSED(call) cr_assert(eq(int, (call), SYCL_ERROR_FEATURE_NOT_SUPPORTED), "%s", #call)
#define NOT_HERE      ((uint64_t)0xdead0000beef0000u)

Test(client_basic, I18_another_process_gives_and_takes_no_native_handles, .init = with_service,
     .fini = without_service)
{
	uint64_t number = 7;
	uint32_t count = 7;
	sycl_device device = fake_device(platform, 0), device_out = NULL;
	sycl_platform platform_out = NULL;
	sycl_context context = NULL, context_out = NULL;
	sycl_buffer buffer = NULL, buffer_out = NULL;
	sycl_kernel kernel = fake_kernel(queue, "fill_u32"), kernel_out = NULL;
	sycl_kernel_bundle bundle = NULL, bundle_out = NULL;
	sycl_queue queue_out = NULL;
	sycl_image image_out = NULL;
	sycl_event event = NULL, event_out = NULL;
	const uint64_t natives[1] = {NOT_HERE};
	const sycl_backend is = SYCL_BACKEND_KIND_FAKE;
	MUST(sycl_context_create(1, &device, &context));
	MUST(sycl_buffer_create(platform, NULL, 64, SYCL_HOST_NONE, &buffer));
	MUST(sycl_kernel_get_bundle(kernel, &bundle));
	MUST(sycl_queue_barrier(queue, &event));
	REFUSED(sycl_platform_get_native(platform, is, &number));
	REFUSED(sycl_device_get_native(device, is, &number));
	REFUSED(sycl_context_get_native(context, is, 1, &number, &count));
	REFUSED(sycl_queue_get_native(queue, is, &number));
	REFUSED(sycl_buffer_get_native(buffer, is, 1, &number, &count));
	REFUSED(sycl_kernel_get_native(kernel, is, &number));
	REFUSED(sycl_kernel_bundle_get_native(bundle, is, 1, &number, &count));
	REFUSED(sycl_event_get_natives(event, is, 1, &number, &count));
	REFUSED(sycl_platform_make_native(platform, is, NOT_HERE, &platform_out));
	REFUSED(sycl_device_make_native(platform, is, NOT_HERE, &device_out));
	REFUSED(sycl_context_make_native(platform, is, NOT_HERE, NULL, &context_out));
	REFUSED(sycl_queue_make_native(context, is, NOT_HERE, NULL, &queue_out));
	REFUSED(sycl_buffer_make_native(context, is, NOT_HERE, NULL, &buffer_out));
	REFUSED(sycl_image_make_native(context, is, NOT_HERE, NULL, &image_out));
	REFUSED(sycl_event_make_native(context, is, 1, natives, &event_out));
	REFUSED(sycl_kernel_make_native(context, is, NOT_HERE, &kernel_out));
	REFUSED(sycl_kernel_bundle_make_native(context, is, SYCL_BUNDLE_EXECUTABLE, NOT_HERE,
					       &bundle_out));
	REFUSED(sycl_kernel_bundle_make_natives(context, 0, NULL, is, SYCL_BUNDLE_EXECUTABLE, 1,
						natives, &bundle_out));
	REFUSED(sycl_kernel_bundle_from_native_kernels(context, 0, NULL, is, 1, natives,
						       &bundle_out));
	cr_assert(eq(u64, number, 7));
	cr_assert(eq(u32, count, 7));
	MUST(sycl_event_release(event));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
}

static sycl_result natives_do_nothing(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_SUCCESS;
}

Test(client_basic, I18_no_host_task_with_native_handles, .init = with_service,
     .fini = without_service)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_host_task_native(handler, natives_do_nothing, NULL, NULL));
	MUST(sycl_handler_discard(handler));
}

Test(client_basic, J14_another_backends_extensions_are_a_mismatch, .init = with_service,
     .fini = without_service)
{
	uint32_t has = 7;
	sycl_device device = fake_device(platform, 0);
	cr_assert(
		eq(int,
		   sycl_device_has_extension(device, SYCL_BACKEND_KIND_OPENCL, "cl_khr_fp16", &has),
		   SYCL_ERROR_BACKEND_MISMATCH));
	cr_assert(eq(int, sycl_device_has_extension(device, SYCL_BACKEND_KIND_FAKE, NULL, &has),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(u32, has, 7));
	MUST(sycl_device_release(device));
}

/* A queue keeps the times of its latest groups. A query for an earlier one fails with that reason,
 * not as a wrong call. */
Test(client_basic, H6_M11_times_that_are_not_kept_any_more_are_an_error_of_profiling,
     .init = with_service, .fini = without_service)
{
	enum { KEPT = 65536 };
	sycl_event first = NULL, last = NULL;
	uint64_t ns = 0;
	MUST(sycl_queue_barrier(queue, &first));
	for (int i = 0; i < KEPT; i++)
		MUST(sycl_queue_barrier(queue, NULL));
	MUST(sycl_queue_barrier(queue, &last));
	MUST(sycl_event_wait(last));
	MUST(sycl_event_get_profiling(last, SYCL_PROFILING_END, &ns));
	cr_assert(eq(int, sycl_event_get_profiling(first, SYCL_PROFILING_END, &ns),
		     SYCL_ERROR_PROFILING));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(last));
}
