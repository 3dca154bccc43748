/* Passes asynchronous errors that belong to no queue, and what kernels have printed, to the
 * program. */
#include "connection/async_errors.h"
#include "platform/platform.h"

#include <stdlib.h>

SYCL_API sycl_result sycl_platform_throw_asynchronous(sycl_platform handle,
						      sycl_async_handler *handler, void *user_data)
{
	PIN(platform, platform, handle);
	if (!handler)
		return error_set(SYCL_ERROR_INVALID, "handler is NULL");
	CLEANUP(async_errors_fini)
	struct async_errors errors = async_errors_take_all(platform->object.connection);
	if (errors.count == 0)
		return SYCL_SUCCESS;
	struct sycl_async_error *list = calloc(errors.count, sizeof(*list));
	if (!list)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for %u errors",
				 errors.count);
	uint32_t count = 0;
	for (const struct async_error *error = errors.first; error; error = error->next)
		list[count++] = (struct sycl_async_error){.result = error->failure.code,
							  .native_code = error->failure.native_code,
							  .backend = error->failure.backend,
							  .text = error->failure.text};
	handler(count, list, user_data);
	free(list);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_platform_take_output(sycl_platform handle, sycl_output_handler *handler,
					       void *user_data)
{
	PIN(platform, platform, handle);
	if (!handler)
		return error_set(SYCL_ERROR_INVALID, "handler is NULL");
	CLEANUP(printed_fini)
	struct printed output = printed_take(platform->object.connection);
	if (output.bytes > 0 || output.is_cut)
		handler(output.text, output.bytes, output.is_cut, user_data);
	return SYCL_SUCCESS;
}
