/* The action of a command group: launches and shared events. Copies are in copies.c. */
#include "handler/handler.h"

sycl_result handler_set_launch(struct handler *handler, struct kernel **pinned,
			       const sycl_range *global, const sycl_range *local)
{
	struct kernel *given = *pinned, *kernel = kernel_on(given, handler->queue->device);
	if (!kernel)
		kernel = given; /* handler_check_range reports the error */
	sycl_result result = handler_check_no_action(handler);
	if (!result)
		result = remote_check(&kernel->remote);
	if (!result)
		result = handler_check_range(handler, kernel, global, local);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_LAUNCH;
	handler->kernel = kernel; /* kernel_given holds the kernel */
	handler->kernel_given = given;
	*pinned = NULL;
	handler->dimensions = global->dimensions;
	handler->is_nd = local != NULL;
	handler->is_empty = false;
	for (uint32_t i = 0; i < global->dimensions; i++) {
		handler->global[i] = global->size[i];
		handler->local[i] = local ? local->size[i] : 0;
		handler->is_empty = handler->is_empty || global->size[i] == 0;
	}
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_single_task(sycl_handler handle, sycl_kernel kernel_handle)
{
	PIN(handler, handler, handle);
	PIN(kernel, kernel, kernel_handle);
	sycl_range one = sycl_range1(1);
	return handler_set_launch(handler, &kernel, &one, NULL);
}

SYCL_API sycl_result sycl_handler_parallel_for(sycl_handler handle, sycl_kernel kernel_handle,
					       sycl_range range)
{
	PIN(handler, handler, handle);
	PIN(kernel, kernel, kernel_handle);
	return handler_set_launch(handler, &kernel, &range, NULL);
}

SYCL_API sycl_result sycl_handler_parallel_for_nd(sycl_handler handle, sycl_kernel kernel_handle,
						  sycl_range global, sycl_range local)
{
	PIN(handler, handler, handle);
	PIN(kernel, kernel, kernel_handle);
	return handler_set_launch(handler, &kernel, &global, &local);
}

static sycl_result set_event(struct handler *handler, struct shared_event *event,
			     enum handler_action action)
{
	sycl_result result = handler_check_no_action(handler);
	if (!result)
		result = remote_check(&event->remote);
	if (result)
		return result;
	if (event->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID,
				 "the event and the queue belong to different connections");
	if (event->device != handler->queue->device->facts->device)
		return error_set_object(SYCL_ERROR_INVALID, event->remote.id,
					"the event belongs to another device than the queue's");
	handler->action = action;
	handler->event = event;
	object_ref(&event->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_record_event(sycl_handler handle, sycl_shared_event event_handle)
{
	PIN(handler, handler, handle);
	PIN(shared_event, event, event_handle);
	return set_event(handler, event, HANDLER_ACTION_RECORD_EVENT);
}

SYCL_API sycl_result sycl_handler_wait_event(sycl_handler handle, sycl_shared_event event_handle)
{
	PIN(handler, handler, handle);
	PIN(shared_event, event, event_handle);
	return set_event(handler, event, HANDLER_ACTION_WAIT_EVENT);
}
