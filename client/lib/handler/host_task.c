/* Builds a host task. host_tasks.c runs it. */
#include "handler/handler.h"
#include "host_task/host_tasks.h"

SYCL_API sycl_result sycl_handler_host_task(sycl_handler handle, sycl_host_task_function *function,
					    void *user_data, sycl_user_data_destroy *destroy)
{
	PIN(handler, handler, handle);
	if (!function)
		return error_set(SYCL_ERROR_INVALID, "a host task needs a function");
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_HOST_TASK;
	handler->host_function = function;
	handler->user_data = user_data;
	handler->destroy_user_data = destroy;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_host_accessor(sycl_handler handle, uint32_t index,
						    sycl_buffer buffer_handle,
						    sycl_access_mode mode)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return handler_set_accessor(handler, HANDLER_ARGUMENT_HOST, index, &buffer, mode, 0,
				    buffer->size_bytes);
}

SYCL_API sycl_result sycl_handler_set_ranged_host_accessor(sycl_handler handle, uint32_t index,
							   sycl_buffer buffer_handle,
							   sycl_access_mode mode,
							   uint64_t offset_bytes,
							   uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return handler_set_accessor(handler, HANDLER_ARGUMENT_HOST, index, &buffer, mode,
				    offset_bytes, size_bytes);
}

sycl_result handler_host_task_new(struct handler *handler, struct queue_line *line,
				  struct host_task **task_out)
{
	const struct host_task_plan plan = {
		.handler = handler,
		.function = handler->host_function,
		.user_data = handler->user_data,
		.is_native = handler->native != NULL,
		.is_bridged = handler->bridge != NULL,
	};
	return host_task_new(handler->object.connection, &plan, line, task_out);
}

SYCL_API sycl_result sycl_host_task_get_pointer(sycl_host_task handle, uint32_t index,
						void **pointer_out)
{
	const struct handler *handler = host_task_handler(handle);
	if (!handler)
		return SYCL_ERROR_INVALID_HANDLE;
	REQUIRE_OUTPUT(pointer_out);
	if (handler->on_device)
		return error_set(
			SYCL_ERROR_INVALID,
			"this host task's data is on the device: request its native memory");
	if (index >= handler->arguments.count ||
	    handler_argument_at(handler, index)->kind != HANDLER_ARGUMENT_HOST)
		return error_set(SYCL_ERROR_INVALID, "the host task has no host accessor %u",
				 index);
	const struct handler_argument *argument = handler_argument_at(handler, index);
	const struct buffer *buffer =
		handler_requirement_at(handler, argument->requirement)->buffer;
	static uint8_t nothing;
	*pointer_out =
		buffer->address ? (uint8_t *)buffer->address + argument->offset_bytes : &nothing;
	return SYCL_SUCCESS;
}
