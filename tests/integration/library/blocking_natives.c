/*
 * Native handles behind a closed gate. For counted handles only their number is requested, because
 * this test could not give them back.
 */
#include "library/blocking.h"

static sycl_result blocking_natives_do_nothing(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_SUCCESS;
}

static void call_gets(const struct gated *gated, sycl_backend is)
{
	uint64_t number = 0;
	uint32_t count = 0, has = 0;
	sycl_platform of = NULL;
	MUST(sycl_device_get_platform(gated->device, &of));
	(void)CALL(sycl_platform_get_native, of, is, &number);
	(void)CALL(sycl_platform_has_extension, of, is, "cl_khr_icd", &has);
	MUST(sycl_platform_release(of));
	(void)CALL(sycl_device_get_native, gated->device, is, &number);
	CALL_MUST(sycl_device_has_extension, gated->device, is, "cl_khr_icd", &has);
	(void)CALL(sycl_context_get_native, gated->context, is, 0, NULL, &count);
	CALL_MUST(sycl_queue_return_native, gated->queue);
	sycl_native_bridge bridge = SYCL_NATIVE_BRIDGE_NONE;
	CALL_MUST(sycl_queue_get_native_bridge, gated->queue, &bridge);
	(void)CALL(sycl_buffer_get_native, gated->held, is, 0, NULL, &count);
	(void)CALL(sycl_kernel_bundle_get_native, gated->bundle, is, 0, NULL, &count);
	(void)CALL(sycl_event_get_natives, gated->event, is, 0, NULL, &count);
	/* There is no image here, and a counted handle could not be given back: other calls of
	 * their kind have been made. */
	(void)CALL(sycl_image_get_native, NULL, is, 0, NULL, &count);
	(void)CALL(sycl_kernel_get_native, gated->fill, SYCL_BACKEND_KIND_CUDA, &number);
	(void)CALL(sycl_host_task_get_native_queue, NULL, is, &number);
	(void)CALL(sycl_host_task_get_native_context, NULL, is, &number);
	(void)CALL(sycl_host_task_get_native_device, NULL, is, &number);
	(void)CALL(sycl_host_task_get_native_memory, NULL, is, 0, &number);
}

/* A native object of number 0 is refused, and at once if no other process is needed. */
static void call_makes(const struct gated *gated, sycl_backend is)
{
	const uint64_t none[1] = {0};
	sycl_platform made_platform = NULL;
	sycl_device device = NULL;
	sycl_context context = NULL;
	sycl_queue made_queue = NULL;
	sycl_buffer buffer = NULL;
	sycl_image image = NULL;
	sycl_event event = NULL;
	sycl_kernel kernel = NULL;
	sycl_kernel_bundle bundle = NULL;
	sycl_handler handler = NULL;
	(void)CALL(sycl_platform_make_native, gated->platform, is, 0, &made_platform);
	(void)CALL(sycl_device_make_native, gated->platform, is, 0, &device);
	(void)CALL(sycl_context_make_native, gated->platform, is, 0, NULL, &context);
	(void)CALL(sycl_queue_make_native, gated->context, is, 0, NULL, &made_queue);
	(void)CALL(sycl_buffer_make_native, gated->context, is, 0, NULL, &buffer);
	(void)CALL(sycl_image_make_native, gated->context, is, 0, NULL, &image);
	(void)CALL(sycl_event_make_native, gated->context, is, 1, none, &event);
	(void)CALL(sycl_kernel_make_native, gated->context, is, 0, &kernel);
	(void)CALL(sycl_kernel_bundle_make_native, gated->context, is, SYCL_BUNDLE_EXECUTABLE, 0,
		   &bundle);
	(void)CALL(sycl_kernel_bundle_make_natives, gated->context, 0, NULL, is,
		   SYCL_BUNDLE_EXECUTABLE, 1, none, &bundle);
	(void)CALL(sycl_kernel_bundle_from_native_kernels, gated->context, 0, NULL, is, 1, none,
		   &bundle);
	MUST(sycl_handler_begin(gated->other, &handler));
	(void)CALL(sycl_handler_host_task_native, handler, blocking_natives_do_nothing, NULL, NULL);
	MUST(sycl_handler_discard(handler));
}

void call_natives(const struct gated *gated)
{
	uint32_t is = 0;
	MUST(sycl_device_get_info(gated->device, SYCL_DEVICE_INFO_BACKEND, sizeof(is), &is, NULL));
	call_gets(gated, (sycl_backend)is);
	call_makes(gated, (sycl_backend)is);
}
