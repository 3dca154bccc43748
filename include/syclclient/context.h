/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file context.h Contexts: devices of one platform that share memory objects. The rules for
 * all functions are at the top of result.h.
 */
#ifndef SYCLCLIENT_CONTEXT_H
#define SYCLCLIENT_CONTEXT_H

#include "async.h"
#include "device.h"

SYCL_BEGIN_DECLS

/**
 * Make a context. One-way: never waits. Later calls that use the context report the service's
 * errors: SYCL_ERROR_INVALID if the backend cannot have these devices in one context.
 *
 * @param device_count      How many devices, at least 1.
 * @param devices           Different devices of one platform. The context retains them.
 * @param[out] context_out  The caller releases it with sycl_context_release.
 * @retval SYCL_ERROR_INVALID  No device, the same one twice, or devices of several platforms or
 *                             connections.
 * @retval SYCL_ERROR_QUOTA    The session has as many objects as it may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_create(uint32_t device_count, const sycl_device *devices,
					 sycl_context *context_out);
/** Options of sycl_context_create_with. Start from SYCL_CONTEXT_OPTIONS_INIT. */
struct sycl_context_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_context_options) */
	uint32_t reserved;     /**< must be 0 */
	/** for queues without one of their own (async.h); NULL: none */
	sycl_async_handler *async_handler;
	/** passed to it; must stay valid until these queues and their groups end */
	void *async_user_data;
};
#define SYCL_CONTEXT_OPTIONS_INIT                                                                  \
	{                                                                                          \
		sizeof(struct sycl_context_options), 0, 0, 0                                       \
	}

/**
 * Make a context, with options. Otherwise as sycl_context_create.
 *
 * @param options  NULL for the defaults; read during the call.
 * @retval SYCL_ERROR_INVALID  Also: struct_bytes or reserved is wrong.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_create_with(uint32_t device_count, const sycl_device *devices,
					      const struct sycl_context_options *options,
					      sycl_context *context_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_context_retain(sycl_context context);
/**
 * Release one reference. Queues, bundles and running work keep what they need. Never waits for a
 * device.
 * @since 0.1
 *
 * @example
 *	sycl_context context = NULL;
 *	sycl_queue made = NULL;
 *	result = sycl_context_create(1, &device, &context);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_queue_create(context, device, NULL, &made);
 *		(void)sycl_context_release(context); // the queue keeps what it needs
 *	}
 */
SYCL_API sycl_result sycl_context_release(sycl_context context);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_reference_count(sycl_context context, uint32_t *count_out);
/**
 * Get the platform of a context. Never blocks.
 *
 * @param[out] platform_out  The caller releases it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_platform(sycl_context context, sycl_platform *platform_out);

/**
 * List the devices of a context, in the order of its creation. Never blocks. Otherwise as
 * sycl_platform_get_devices.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_devices(sycl_context context, uint32_t capacity,
					      sycl_device *devices_out, uint32_t *count_out);

/** Queries of a context, each with the type of its answer. */
typedef enum sycl_context_info {
	/** uint32_t, bits of enum sycl_memory_order that all devices of the context have */
	SYCL_CONTEXT_INFO_ATOMIC_MEMORY_ORDERS = 1,
	/** uint32_t, bits of enum sycl_memory_scope that all have */
	SYCL_CONTEXT_INFO_ATOMIC_MEMORY_SCOPES = 2,
	/** uint32_t, bits of enum sycl_memory_order that all have */
	SYCL_CONTEXT_INFO_ATOMIC_FENCE_ORDERS = 3,
	/** uint32_t, bits of enum sycl_memory_scope that all have */
	SYCL_CONTEXT_INFO_ATOMIC_FENCE_SCOPES = 4,
	SYCL_CONTEXT_INFO_BACKEND = 5,     /**< uint32_t, enum sycl_backend */
	SYCL_CONTEXT_INFO_DEVICE_COUNT = 6 /**< uint32_t */
} sycl_context_info;

/**
 * Query a context. sycl_context_get_platform and sycl_context_get_devices give its platform and
 * devices. Never blocks. Otherwise as sycl_device_get_info.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_info(sycl_context context, sycl_context_info info,
					   size_t bytes, void *value, size_t *bytes_out);
/** As sycl_device_get_backend_info: always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_context_get_backend_info(sycl_context context, uint32_t info,
						   size_t bytes, void *value, size_t *bytes_out);

SYCL_END_DECLS
#endif
