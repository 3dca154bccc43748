/* Platforms, devices, contexts, queues and events behind a closed gate. */
#include "library/blocking.h"

static void call_devices(const struct gated *gated)
{
	sycl_device device = NULL;
	sycl_platform of = NULL;
	uint32_t number = 0;
	CALL_MUST(sycl_device_get_devices, gated->platform, SYCL_DEVICE_TYPE_ALL, 0, NULL, &number);
	(void)CALL(sycl_platform_get_devices, gated->platform, SYCL_DEVICE_TYPE_ALL, 0, NULL,
		   &number);
	CALL_MUST(sycl_device_retain, gated->device);
	CALL_MUST(sycl_device_release, gated->device);
	CALL_MUST(sycl_device_get_reference_count, gated->device, &number);
	CALL_MUST(sycl_device_get_platform, gated->device, &of);
	CALL_MUST(sycl_platform_release, of);
	(void)CALL(sycl_device_get_parent, gated->device, &device);
	const uint32_t one = 1;
	(void)CALL(sycl_device_create_sub_devices, gated->device, SYCL_PARTITION_EQUALLY, 1, &one,
		   0, NULL, &number);
	CALL_MUST(sycl_device_get_info, gated->device, SYCL_DEVICE_INFO_TYPE, sizeof(number),
		  &number, NULL);
	(void)CALL(sycl_device_get_backend_info, gated->device, 1, sizeof(number), &number, NULL);
	CALL_MUST(sycl_device_has, gated->device, SYCL_ASPECT_CPU, &number);
	(void)CALL(sycl_default_selector, gated->device, NULL);
	(void)CALL(sycl_cpu_selector, gated->device, NULL);
	(void)CALL(sycl_gpu_selector, gated->device, NULL);
	(void)CALL(sycl_accelerator_selector, gated->device, NULL);
	CALL_MUST(sycl_device_select, gated->platform, sycl_default_selector, NULL, &device);
	MUST(sycl_device_release(device));
	CALL_MUST(sycl_device_select_by_aspects, gated->platform, 0, NULL, 0, NULL, &device);
	MUST(sycl_device_release(device));
}

static void call_contexts(const struct gated *gated)
{
	sycl_context context = NULL;
	sycl_platform of = NULL;
	uint32_t number = 0;
	CALL_MUST(sycl_context_create, 1, &gated->device, &context);
	CALL_MUST(sycl_context_retain, context);
	CALL_MUST(sycl_context_release, context);
	CALL_MUST(sycl_context_get_reference_count, context, &number);
	CALL_MUST(sycl_context_get_platform, context, &of);
	MUST(sycl_platform_release(of));
	CALL_MUST(sycl_context_get_devices, context, 0, NULL, &number);
	CALL_MUST(sycl_context_get_info, context, SYCL_CONTEXT_INFO_BACKEND, sizeof(number),
		  &number, NULL);
	(void)CALL(sycl_context_get_backend_info, context, 1, sizeof(number), &number, NULL);
	MUST(sycl_context_release(context));
	CALL_MUST(sycl_context_create_with, 1, &gated->device, NULL, &context);
	MUST(sycl_context_release(context));
}

static void no_output(const char *text, uint64_t bytes, uint32_t is_cut, void *context)
{
	(void)text;
	(void)bytes;
	(void)is_cut;
	(void)context;
}

static void no_errors(uint32_t count, const struct sycl_async_error *errors, void *user_data)
{
	(void)errors;
	(void)user_data;
	cr_assert(eq(u32, count, 0));
}

void call_platforms(const struct gated *gated)
{
	sycl_platform second = NULL;
	uint32_t number = 0;
	uint64_t wide = 0;
	int fd = -1;
	struct sycl_usage usage = SYCL_USAGE_INIT;
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	CALL_MUST(sycl_platform_open, portable_engine_endpoint(), &second);
	CALL_MUST(sycl_platform_release, second);
	CALL_MUST(sycl_platform_open_with, portable_engine_endpoint(), NULL, &second);
	MUST(sycl_platform_release(second));
	CALL_MUST(sycl_platform_retain, gated->platform);
	MUST(sycl_platform_release(gated->platform));
	CALL_MUST(sycl_platform_get_reference_count, gated->platform, &number);
	CALL_MUST(sycl_platform_get_platforms, gated->platform, 0, NULL, &number);
	CALL_MUST(sycl_platform_get_info, gated->platform, SYCL_PLATFORM_INFO_SESSION, sizeof(wide),
		  &wide, NULL);
	(void)CALL(sycl_platform_get_backend_info, gated->platform, 1, sizeof(number), &number,
		   NULL);
	CALL_MUST(sycl_platform_get_usage, gated->platform, &usage);
	CALL_MUST(sycl_platform_get_fd, gated->platform, &fd);
	CALL_MUST(sycl_platform_prepare_read, gated->platform);
	CALL_MUST(sycl_platform_cancel_read, gated->platform);
	MUST(sycl_platform_prepare_read(gated->platform));
	CALL_MUST(sycl_platform_dispatch, gated->platform);
	CALL_MUST(sycl_platform_throw_asynchronous, gated->platform, no_errors, NULL);
	CALL_MUST(sycl_platform_take_output, gated->platform, no_output, NULL);
	(void)CALL(sycl_get_last_error, &detail);
	(void)CALL(sycl_get_last_error_text);
	(void)CALL(sycl_result_name, SYCL_ERROR_QUOTA);
	(void)CALL(sycl_get_version);
	call_devices(gated);
	call_contexts(gated);
}

void call_queues(const struct gated *gated)
{
	sycl_queue queue_made = NULL;
	sycl_context context = NULL;
	sycl_device device = NULL;
	uint32_t number = 0;
	CALL_MUST(sycl_queue_create, NULL, gated->device, NULL, &queue_made);
	/* The work cannot run yet, and its queue is released. */
	run_increment(gated->queue, gated->increment, gated->held, NULL);
	CALL_MUST(sycl_queue_retain, queue_made);
	CALL_MUST(sycl_queue_release, queue_made);
	CALL_MUST(sycl_queue_get_reference_count, queue_made, &number);
	MUST(sycl_queue_release(queue_made));
	CALL_MUST(sycl_queue_create_default, gated->platform, &queue_made);
	MUST(sycl_queue_release(queue_made));
	CALL_MUST(sycl_queue_create_default_with, gated->platform, SYCL_QUEUE_IN_ORDER,
		  &queue_made);
	MUST(sycl_queue_release(queue_made));
	CALL_MUST(sycl_queue_get_context, gated->queue, &context);
	MUST(sycl_context_release(context));
	CALL_MUST(sycl_queue_get_device, gated->queue, &device);
	MUST(sycl_device_release(device));
	CALL_MUST(sycl_queue_is_in_order, gated->queue, &number);
	(void)CALL(sycl_queue_get_backend_info, gated->queue, 1, sizeof(number), &number, NULL);
	CALL_MUST(sycl_queue_throw_asynchronous, gated->queue, NULL, NULL);
	REFUSED(CALL(sycl_queue_wait_for, gated->queue, 0), SYCL_ERROR_TIMEOUT);
	sycl_result other = CALL(sycl_queue_wait_for, gated->other, 0);
	cr_assert(other == SYCL_ERROR_TIMEOUT ||
		  (other == SYCL_SUCCESS && !portable_engine_holds()));
}

void call_events(const struct gated *gated)
{
	uint32_t number = 0;
	uint64_t time_ns = 0;
	void *native = NULL;
	sycl_event barrier = NULL;
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	CALL_MUST(sycl_queue_barrier, gated->queue, &barrier);
	CALL_MUST(sycl_event_retain, barrier);
	CALL_MUST(sycl_event_release, barrier);
	CALL_MUST(sycl_event_get_reference_count, barrier, &number);
	REFUSED(CALL(sycl_event_wait_for, barrier, 0), SYCL_ERROR_TIMEOUT);
	REFUSED(CALL(sycl_event_wait_all, 1, &barrier, 0), SYCL_ERROR_TIMEOUT);
	MUST(sycl_event_release(barrier));
	CALL_MUST(sycl_event_get_wait_list, gated->event, 0, NULL, &number);
	CALL_MUST(sycl_event_get_status, gated->event, &status);
	cr_assert(eq(int, (int)status, SYCL_COMMAND_SUBMITTED));
	CALL_MUST(sycl_event_get_profiling, gated->event, SYCL_PROFILING_SUBMIT, &time_ns);
	CALL_MUST(sycl_event_has_native_event, gated->event, &number);
	(void)CALL(sycl_event_get_native, gated->event, &native);
	(void)CALL(sycl_event_get_backend_info, gated->event, 1, sizeof(number), &number, NULL);
}
