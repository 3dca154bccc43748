/* Command groups behind a closed gate. The calls that build and send them return; the groups wait
 * there. */
#include "library/blocking.h"

#include "syclclient/copy.h"

static sycl_handler begun(const struct gated *gated)
{
	sycl_handler handler = NULL;
	CALL_MUST(sycl_handler_begin, gated->queue, &handler);
	return handler;
}

static void call_arguments(const struct gated *gated)
{
	sycl_handler handler = begun(gated);
	uint32_t value = 1;
	void *pointer = NULL;
	CALL_MUST(sycl_handler_set_ranged_accessor, handler, 0, gated->held, SYCL_ACCESS_READ_WRITE,
		  0, 256);
	CALL_MUST(sycl_handler_set_accessor, handler, 0, gated->held, SYCL_ACCESS_READ_WRITE);
	CALL_MUST(sycl_handler_set_value, handler, 1, sizeof(value), &value);
	CALL_MUST(sycl_handler_require, handler, gated->idle, SYCL_ACCESS_READ);
	CALL_MUST(sycl_handler_depends_on, handler, gated->event);
	(void)CALL(sycl_handler_set_cooperative, handler);
	CALL_MUST(sycl_handler_set_splittable, handler);
	CALL_MUST(sycl_handler_set_early_start, handler);
	(void)CALL(sycl_handler_set_cluster_size, handler, sycl_range1(1));
	CALL_MUST(sycl_handler_set_offset, handler, sycl_range1(1));
	CALL_MUST(sycl_handler_discard, handler);
	sycl_event own = NULL;
	uint32_t first = 0;
	CALL_MUST(sycl_event_create_host, gated->other, &own);
	(void)CALL(sycl_event_wait_any, 1, &own, 0, &first);
	CALL_MUST(sycl_event_signal, own, SYCL_SUCCESS);
	MUST(sycl_event_release(own));
	handler = begun(gated);
	(void)CALL(sycl_handler_set_local, handler, 0, 64);
	CALL_MUST(sycl_handler_require_target, handler, gated->idle, SYCL_ACCESS_READ,
		  SYCL_TARGET_DEVICE);
	CALL_MUST(sycl_handler_set_constant_accessor, handler, 2, gated->idle, 0, 64);
	MUST(sycl_handler_discard(handler));
	(void)CALL(sycl_host_task_get_pointer, NULL, 0, &pointer);
}

/* Returns a launch on the buffer that is held; it can be submitted in several ways. */
static sycl_handler launch_on_held(const struct gated *gated, sycl_kernel kernel)
{
	sycl_handler handler = begun(gated);
	MUST(sycl_handler_set_accessor(handler, 0, gated->held, SYCL_ACCESS_READ_WRITE));
	if (kernel == gated->fill) {
		uint32_t value = 2;
		MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	}
	return handler;
}

static void call_submissions(const struct gated *gated)
{
	sycl_handler handler = launch_on_held(gated, gated->fill);
	sycl_event event = NULL;
	sycl_command_group group = NULL;
	uint32_t number = 0;
	CALL_MUST(sycl_handler_parallel_for, handler, gated->fill, sycl_range1(WORDS));
	CALL_MUST(sycl_handler_submit, handler, &event);
	REFUSED(CALL(sycl_event_wait_for, event, 0), SYCL_ERROR_TIMEOUT);
	MUST(sycl_event_release(event));
	handler = launch_on_held(gated, gated->increment);
	CALL_MUST(sycl_handler_single_task, handler, gated->increment);
	CALL_MUST(sycl_queue_submit, gated->queue, handler, NULL);
	handler = launch_on_held(gated, gated->increment);
	CALL_MUST(sycl_handler_single_task, handler, gated->increment);
	CALL_MUST(sycl_handler_submit_with_secondary, handler, gated->other, NULL);
	handler = launch_on_held(gated, gated->increment);
	CALL_MUST(sycl_handler_parallel_for_nd, handler, gated->increment, sycl_range1(WORDS),
		  sycl_range1(1));
	CALL_MUST(sycl_handler_freeze, handler, &group);
	CALL_MUST(sycl_queue_submit_group, gated->queue, group, NULL);
	const struct sycl_launch_argument held = {.kind = SYCL_LAUNCH_ACCESSOR,
						  .mode = SYCL_ACCESS_READ_WRITE,
						  .buffer = gated->held,
						  .size_bytes = SYCL_REST_BYTES};
	struct sycl_launch at_once = SYCL_LAUNCH_INIT;
	at_once.kernel = gated->increment;
	at_once.global = sycl_range1(WORDS);
	at_once.arguments = &held;
	at_once.argument_count = 1;
	CALL_MUST(sycl_queue_launch, gated->queue, &at_once, NULL);
	CALL_MUST(sycl_command_group_retain, group);
	CALL_MUST(sycl_command_group_get_reference_count, group, &number);
	CALL_MUST(sycl_command_group_release, group);
	MUST(sycl_command_group_release(group));
}

static sycl_result blocking_groups_do_nothing(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_SUCCESS;
}

static sycl_result nothing_native(sycl_interop_handle interop, void *user_data)
{
	(void)interop;
	(void)user_data;
	return SYCL_SUCCESS;
}

/* Most devices here have no native commands, and outside of a host task there is nothing to
 * query. */
static void call_native_commands(const struct gated *gated)
{
	sycl_handler handler = begun(gated);
	sycl_backend backend = SYCL_BACKEND_KIND_FAKE;
	uint64_t native = 0;
	uint32_t has = 0;
	(void)CALL(sycl_handler_native_command, handler, nothing_native, NULL, NULL);
	MUST(sycl_handler_discard(handler));
	(void)CALL(sycl_interop_get_backend, NULL, &backend);
	(void)CALL(sycl_interop_get_native_device, NULL, &native);
	(void)CALL(sycl_interop_get_native_context, NULL, &native);
	(void)CALL(sycl_interop_get_native_queue, NULL, &native);
	(void)CALL(sycl_interop_get_native_memory, NULL, 0, &native, &native);
	(void)CALL(sycl_interop_has_graph, NULL, &has);
	(void)CALL(sycl_interop_get_native_graph, NULL, &native);
}

static void call_actions(const struct gated *gated)
{
	sycl_handler handler = begun(gated);
	sycl_shared_event none = NULL;
	CALL_MUST(sycl_handler_set_host_accessor, handler, 0, gated->held, SYCL_ACCESS_READ);
	CALL_MUST(sycl_handler_set_ranged_host_accessor, handler, 1, gated->held, SYCL_ACCESS_READ,
		  0, 4);
	CALL_MUST(sycl_handler_host_task, handler, blocking_groups_do_nothing, NULL, NULL);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_copy, handler, gated->held, 0, gated->held, 256, 256);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_fill, handler, gated->held, 0, 16, "abcd", 4);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_update_host, handler, gated->held);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_update_host_part, handler, gated->held, 0, 4);
	(void)CALL(sycl_handler_record_event, handler, none);
	(void)CALL(sycl_handler_wait_event, handler, none);
	MUST(sycl_handler_submit(handler, NULL));
}

void call_handlers(const struct gated *gated)
{
	call_arguments(gated);
	call_submissions(gated);
	call_actions(gated);
	call_native_commands(gated);
	CALL_MUST(sycl_queue_fill, gated->queue, gated->held, 0, 16, "abcd", 4, NULL);
	CALL_MUST(sycl_queue_copy, gated->queue, gated->held, 0, gated->held, 64, 64, NULL);
	CALL_MUST(sycl_queue_update_host, gated->queue, gated->held, NULL);
}

/* This stays valid until the gate is open and all groups have ended. */
static uint32_t from_here[WORDS], to_here[WORDS];

void call_copies(const struct gated *gated)
{
	struct sycl_copy_rect box = SYCL_COPY_RECT_INIT;
	const uint64_t zero[3] = {0, 0, 0}, later[3] = {2048, 0, 0};
	sycl_handler handler = NULL;
	box.width_bytes = 16;
	box.rows = 2;
	box.source_row_pitch_bytes = 64;
	box.destination_row_pitch_bytes = 64;
	CALL_MUST(sycl_queue_copy_from_host, gated->queue, from_here, gated->held, 0, 64, NULL);
	CALL_MUST(sycl_queue_copy_rect_from_host, gated->queue, from_here, gated->held, &box, NULL);
	CALL_MUST(sycl_queue_copy_to_host, gated->queue, gated->held, 0, to_here, 64, NULL);
	CALL_MUST(sycl_queue_copy_rect_to_host, gated->queue, gated->held, to_here, &box, NULL);
	CALL_MUST(sycl_queue_copy_rect, gated->queue, gated->held, gated->idle, &box, NULL);
	handler = begun(gated);
	CALL_MUST(sycl_handler_copy_rect, handler, gated->held, gated->idle, &box);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_copy_elements, handler, gated->held, zero, gated->held, later,
		  sycl_range1(64));
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_copy_from_host, handler, from_here, gated->held, 0, 64);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_copy_rect_from_host, handler, from_here, gated->held, &box);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_copy_to_host, handler, gated->held, 0, to_here, 64);
	MUST(sycl_handler_submit(handler, NULL));
	handler = begun(gated);
	CALL_MUST(sycl_handler_copy_rect_to_host, handler, gated->held, to_here, &box);
	MUST(sycl_handler_submit(handler, NULL));
}
