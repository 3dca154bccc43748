/* Building a host task. Running it: host_tasks.c. */
#include "handler/handler.h"

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
