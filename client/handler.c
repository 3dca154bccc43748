/* Building a command group: requisites, arguments, one action. */
#include "handler.h"

#include "access_mode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void handler_destroy(struct object *object)
{
	struct handler *handler = (struct handler *)object;
	for (uint32_t i = 0; i < handler->requirements.count; i++)
		object_unref(&handler_requirement_at(handler, i)->buffer->object);
	for (uint32_t i = 0; i < handler->depends_on.count; i++)
		queue_line_drop(object->connection, handler_dependency_at(handler, i)->line);
	if (handler->requirements.items != handler->inline_requirements)
		free(handler->requirements.items);
	if (handler->arguments.items != handler->inline_arguments)
		free(handler->arguments.items);
	if (handler->values.items != handler->inline_values)
		free(handler->values.items);
	free(handler->depends_on.items);
	if (handler->kernel)
		object_unref(&handler->kernel->object);
	if (handler->event)
		object_unref(&handler->event->object);
	object_unref(&handler->queue->object);
	object_delete(object);
}

SYCL_API sycl_result sycl_handler_begin(sycl_queue queue_handle, sycl_handler *handler_out)
{
	PIN(queue, queue, queue_handle);
	REQUIRE_OUTPUT(handler_out);
	sycl_result result = remote_check(&queue->line->remote);
	if (result)
		return result;
	struct handler *handler = object_new(sizeof(*handler), queue->object.connection);
	if (!handler)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	handler->requirements = (struct handler_list){handler->inline_requirements, 0, HANDLER_INLINE_REQUIREMENTS};
	handler->arguments = (struct handler_list){handler->inline_arguments, 0, HANDLER_INLINE_ARGUMENTS};
	handler->values = (struct handler_list){handler->inline_values, 0, HANDLER_INLINE_VALUES};
	if (handle_create(&handler->object, HANDLE_HANDLER, handler_destroy) < 0) {
		object_delete(&handler->object);
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
	}
	handler->queue = queue;
	object_ref(&queue->object);
	*handler_out = handle_of(&handler->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_discard(sycl_handler handler)
{
	if (!handler)
		return SYCL_SUCCESS;
	return handle_release(handler, HANDLE_HANDLER);
}

/* Room for `more` items. `fixed`: where the list begins, inside of the handler. */
static sycl_result list_grow(struct handler_list *list, const void *fixed, size_t item_bytes, uint32_t more)
{
	if (list->count + more <= list->capacity)
		return SYCL_SUCCESS;
	uint32_t capacity = list->capacity ? list->capacity : 4;
	while (capacity < list->count + more)
		capacity *= 2;
	void *items = calloc(capacity, item_bytes);
	if (!items)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
	if (list->count)
		memcpy(items, list->items, list->count * item_bytes);
	if (list->items != fixed)
		free(list->items);
	list->items = items;
	list->capacity = capacity;
	return SYCL_SUCCESS;
}

sycl_result handler_add_requirement(struct handler *handler, struct buffer *buffer, uint32_t mode,
				    uint64_t offset_bytes, uint64_t size_bytes, uint32_t *index_out)
{
	if (buffer->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID, "the buffer and the queue belong to different connections");
	if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes)
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"bytes %" PRIu64 " + %" PRIu64 " lie outside of a buffer of %" PRIu64,
					offset_bytes, size_bytes, buffer->size_bytes);
	sycl_result result = remote_check(&buffer->remote);
	if (result)
		return result;
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		struct handler_requirement *present = handler_requirement_at(handler, i);
		if (present->buffer != buffer)
			continue;
		present->mode = access_mode_union(present->mode, mode);
		if (offset_bytes < present->begin)
			present->begin = offset_bytes;
		if (offset_bytes + size_bytes > present->end)
			present->end = offset_bytes + size_bytes;
		*index_out = i;
		return SYCL_SUCCESS;
	}
	if (handler->requirements.count == REQUIREMENTS_MAX)
		return error_set(SYCL_ERROR_QUOTA, "a command group has at most %u buffers", REQUIREMENTS_MAX);
	result = list_grow(&handler->requirements, handler->inline_requirements, sizeof(struct handler_requirement), 1);
	if (result)
		return result;
	*index_out = handler->requirements.count++;
	object_ref(&buffer->object);
	*handler_requirement_at(handler, *index_out) = (struct handler_requirement){
		.buffer = buffer, .mode = mode, .begin = offset_bytes, .end = offset_bytes + size_bytes};
	return SYCL_SUCCESS;
}

static sycl_result set_argument(struct handler *handler, uint32_t index, struct handler_argument argument)
{
	if (index >= KERNEL_ARGUMENTS_MAX)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT, "argument %u: a kernel has at most %u", index,
				 KERNEL_ARGUMENTS_MAX);
	if (index >= handler->arguments.count) {
		sycl_result result = list_grow(&handler->arguments, handler->inline_arguments,
					       sizeof(struct handler_argument), index + 1 - handler->arguments.count);
		if (result)
			return result;
		handler->arguments.count = index + 1;
	}
	*handler_argument_at(handler, index) = argument;
	return SYCL_SUCCESS;
}

static sycl_result set_accessor(struct handler *handler, uint32_t index, struct buffer *buffer, sycl_access_mode mode,
				uint64_t offset_bytes, uint64_t size_bytes)
{
	if (!access_mode_valid((uint32_t)mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)mode);
	if (index >= KERNEL_ARGUMENTS_MAX)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT, "argument %u: a kernel has at most %u", index,
				 KERNEL_ARGUMENTS_MAX);
	uint32_t requirement = 0;
	sycl_result result =
		handler_add_requirement(handler, buffer, (uint32_t)mode, offset_bytes, size_bytes, &requirement);
	if (result)
		return result;
	return set_argument(handler, index,
			    (struct handler_argument){.kind = HANDLER_ARGUMENT_ACCESSOR,
						      .requirement = requirement,
						      .offset_bytes = offset_bytes});
}

SYCL_API sycl_result sycl_handler_set_accessor(sycl_handler handle, uint32_t index, sycl_buffer buffer_handle,
					       sycl_access_mode mode)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return set_accessor(handler, index, buffer, mode, 0, buffer->size_bytes);
}

SYCL_API sycl_result sycl_handler_set_ranged_accessor(sycl_handler handle, uint32_t index, sycl_buffer buffer_handle,
						      sycl_access_mode mode, uint64_t offset_bytes, uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return set_accessor(handler, index, buffer, mode, offset_bytes, size_bytes);
}

SYCL_API sycl_result sycl_handler_require(sycl_handler handle, sycl_buffer buffer_handle, sycl_access_mode mode)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	uint32_t index = 0;
	if (!access_mode_valid((uint32_t)mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)mode);
	return handler_add_requirement(handler, buffer, (uint32_t)mode, 0, buffer->size_bytes, &index);
}

SYCL_API sycl_result sycl_handler_set_value(sycl_handler handle, uint32_t index, size_t size_bytes, const void *value)
{
	PIN(handler, handler, handle);
	uint64_t limit = handler->queue->device->facts->max_parameter_bytes;
	if (!value || size_bytes == 0)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT, "argument %u: a value has at least one byte", index);
	if ((limit && size_bytes > limit) || size_bytes > PACKET_BYTES_MAX)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT, "argument %u: %zu bytes; the device takes %" PRIu64, index,
				 size_bytes, limit);
	sycl_result result = list_grow(&handler->values, handler->inline_values, 1, (uint32_t)size_bytes);
	if (result)
		return result;
	uint32_t offset = handler->values.count;
	result =
		set_argument(handler, index,
			     (struct handler_argument){
				     .kind = HANDLER_ARGUMENT_VALUE, .offset_bytes = offset, .size_bytes = size_bytes});
	if (result)
		return result;
	memcpy((uint8_t *)handler->values.items + offset, value, size_bytes);
	handler->values.count += (uint32_t)size_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_local(sycl_handler handle, uint32_t index, uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	uint64_t limit = handler->queue->device->facts->local_mem_bytes;
	if (size_bytes == 0)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT, "argument %u: local memory has at least one byte", index);
	if (size_bytes > limit)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION,
				 "argument %u: %" PRIu64 " bytes of local memory; the device has %" PRIu64, index,
				 size_bytes, limit);
	return set_argument(handler, index,
			    (struct handler_argument){.kind = HANDLER_ARGUMENT_LOCAL, .size_bytes = size_bytes});
}

SYCL_API sycl_result sycl_handler_depends_on(sycl_handler handle, sycl_event event_handle)
{
	PIN(handler, handler, handle);
	PIN(event, event, event_handle);
	if (event->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID, "the event and the queue belong to different connections");
	if (handler->depends_on.count == DEPENDENCIES_MAX)
		return error_set(SYCL_ERROR_QUOTA, "a command group depends on at most %u events", DEPENDENCIES_MAX);
	sycl_result result = list_grow(&handler->depends_on, NULL, sizeof(struct handler_dependency), 1);
	if (result)
		return result;
	queue_line_hold(event->line);
	*handler_dependency_at(handler, handler->depends_on.count++) =
		(struct handler_dependency){.line = event->line, .group = event->group};
	return SYCL_SUCCESS;
}

sycl_result handler_check_no_action(const struct handler *handler)
{
	if (handler->action == HANDLER_ACTION_NONE)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_INVALID, "this command group has its action already: there is one for each");
}

SYCL_API sycl_result sycl_handler_submit(sycl_handler handle, sycl_event *event_out)
{
	PIN(handler, handler, handle);
	/* The handle ends now, whatever happens; the object does with this call. */
	sycl_result result = object_take(&handler->object);
	if (result)
		return result;
	return handler_send(handler, event_out);
}
