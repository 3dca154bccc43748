/* The action of a command group. */
#include "handler.h"

#include "access_mode.h"

#include <inttypes.h>
#include <string.h>

static sycl_result set_launch(struct handler *handler, struct kernel *kernel, const sycl_range *global,
			      const sycl_range *local)
{
	sycl_result result = handler_check_no_action(handler);
	if (!result)
		result = remote_check(&kernel->remote);
	if (!result)
		result = handler_check_range(handler, kernel, global, local);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_LAUNCH;
	handler->kernel = kernel;
	object_ref(&kernel->object);
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
	return set_launch(handler, kernel, &one, NULL);
}

SYCL_API sycl_result sycl_handler_parallel_for(sycl_handler handle, sycl_kernel kernel_handle, sycl_range range)
{
	PIN(handler, handler, handle);
	PIN(kernel, kernel, kernel_handle);
	return set_launch(handler, kernel, &range, NULL);
}

SYCL_API sycl_result sycl_handler_parallel_for_nd(sycl_handler handle, sycl_kernel kernel_handle, sycl_range global,
						  sycl_range local)
{
	PIN(handler, handler, handle);
	PIN(kernel, kernel, kernel_handle);
	return set_launch(handler, kernel, &global, &local);
}

SYCL_API sycl_result sycl_handler_copy(sycl_handler handle, sycl_buffer source_handle, uint64_t source_offset_bytes,
				       sycl_buffer destination_handle, uint64_t destination_offset_bytes,
				       uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, source, source_handle);
	PIN(buffer, destination, destination_handle);
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	if (source == destination && size_bytes > 0 && source_offset_bytes < destination_offset_bytes + size_bytes &&
	    destination_offset_bytes < source_offset_bytes + size_bytes)
		return error_set_object(SYCL_ERROR_INVALID, source->remote.id,
					"the copy's source and destination overlap in one buffer");
	/* What the copy covers whole need not be there before. */
	bool whole = source != destination && destination_offset_bytes == 0 && size_bytes == destination->size_bytes;
	uint32_t from = 0, to = 0;
	result = handler_add_requirement(handler, source, ACCESS_MODE_READ, source_offset_bytes, size_bytes, &from);
	if (!result)
		result = handler_add_requirement(handler, destination,
						 whole ? ACCESS_MODE_WRITE_NO_INIT : ACCESS_MODE_WRITE,
						 destination_offset_bytes, size_bytes, &to);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_COPY;
	handler->source = from;
	handler->destination = to;
	handler->source_offset_bytes = source_offset_bytes;
	handler->destination_offset_bytes = destination_offset_bytes;
	handler->size_bytes = size_bytes;
	handler->is_empty = size_bytes == 0;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_fill(sycl_handler handle, sycl_buffer buffer_handle, uint64_t offset_bytes,
				       uint64_t size_bytes, const void *pattern, size_t pattern_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	if (!pattern || pattern_bytes == 0 || pattern_bytes > FILL_PATTERN_BYTES_MAX)
		return error_set(SYCL_ERROR_INVALID, "a pattern has 1 to %u bytes, not %zu", FILL_PATTERN_BYTES_MAX,
				 pattern_bytes);
	if (size_bytes % pattern_bytes != 0)
		return error_set(SYCL_ERROR_INVALID, "%" PRIu64 " bytes are no multiple of the pattern's %zu",
				 size_bytes, pattern_bytes);
	bool whole = offset_bytes == 0 && size_bytes == buffer->size_bytes;
	uint32_t index = 0;
	result = handler_add_requirement(handler, buffer, whole ? ACCESS_MODE_WRITE_NO_INIT : ACCESS_MODE_WRITE,
					 offset_bytes, size_bytes, &index);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_FILL;
	handler->destination = index;
	handler->destination_offset_bytes = offset_bytes;
	handler->size_bytes = size_bytes;
	memcpy(handler->pattern, pattern, pattern_bytes);
	handler->pattern_bytes = (uint32_t)pattern_bytes;
	handler->is_empty = size_bytes == 0;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_update_host(sycl_handler handle, sycl_buffer buffer_handle)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	uint32_t index = 0;
	result = handler_add_requirement(handler, buffer, ACCESS_MODE_READ, 0, buffer->size_bytes, &index);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_UPDATE;
	handler->source = index;
	handler->is_empty = buffer->size_bytes == 0;
	return SYCL_SUCCESS;
}

static sycl_result set_event(struct handler *handler, struct shared_event *event, enum handler_action action)
{
	sycl_result result = handler_check_no_action(handler);
	if (!result)
		result = remote_check(&event->remote);
	if (result)
		return result;
	if (event->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID, "the event and the queue belong to different connections");
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
