/* Building a host task. Running it: host_tasks.c. */
#include "handler.h"

#include "access_mode.h"

SYCL_API sycl_result sycl_handler_host_task(sycl_handler handle, sycl_host_task_function *function, void *user_data,
					    sycl_user_data_destroy *destroy)
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

static sycl_result set_accessor(struct handler *handler, uint32_t index, struct buffer *buffer, sycl_access_mode mode,
				uint64_t offset_bytes, uint64_t size_bytes)
{
	if (!access_mode_valid((uint32_t)mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)mode);
	if (index >= KERNEL_ARGUMENTS_MAX)
		return error_set(SYCL_ERROR_INVALID, "host accessor %u: a host task has at most %u", index,
				 KERNEL_ARGUMENTS_MAX);
	uint32_t requirement = 0;
	sycl_result result =
		handler_add_host_requirement(handler, buffer, (uint32_t)mode, offset_bytes, size_bytes, &requirement);
	if (result)
		return result;
	return handler_set_argument(handler, index,
				    (struct handler_argument){.kind = HANDLER_ARGUMENT_HOST,
							      .requirement = requirement,
							      .offset_bytes = offset_bytes});
}

SYCL_API sycl_result sycl_handler_set_host_accessor(sycl_handler handle, uint32_t index, sycl_buffer buffer_handle,
						    sycl_access_mode mode)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return set_accessor(handler, index, buffer, mode, 0, buffer->size_bytes);
}

SYCL_API sycl_result sycl_handler_set_ranged_host_accessor(sycl_handler handle, uint32_t index,
							   sycl_buffer buffer_handle, sycl_access_mode mode,
							   uint64_t offset_bytes, uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return set_accessor(handler, index, buffer, mode, offset_bytes, size_bytes);
}
