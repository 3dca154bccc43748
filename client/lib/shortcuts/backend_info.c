/*
 * Queries that only a backend defines: there are none, with CUDA and OpenCL alike (A16). The
 * functions exist because SYCL has them, and refuse with a clear sentence.
 */
#include "kernel/kernel.h"
#include "queue/queue.h"

static sycl_result no_such_info(uint32_t info)
{
	return error_set(SYCL_ERROR_INVALID, "the backend defines no information %u", info);
}

/* The handle must be good all the same; what the other parameters are does not matter then. */
#define DEFINE_BACKEND_INFO(type)                                                                  \
	SYCL_API sycl_result sycl_##type##_get_backend_info(                                       \
		sycl_##type handle, uint32_t info, size_t bytes, void *value, size_t *bytes_out)   \
	{                                                                                          \
		PIN(type, object, handle);                                                         \
		(void)object;                                                                      \
		(void)bytes;                                                                       \
		(void)value;                                                                       \
		(void)bytes_out;                                                                   \
		return no_such_info(info);                                                         \
	}

DEFINE_BACKEND_INFO(platform)
DEFINE_BACKEND_INFO(device)
DEFINE_BACKEND_INFO(context)
DEFINE_BACKEND_INFO(queue)
DEFINE_BACKEND_INFO(event)
DEFINE_BACKEND_INFO(kernel)
