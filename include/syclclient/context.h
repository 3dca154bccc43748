/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file context.h Contexts: devices of one platform that share memory objects.
 * The rules for all functions are at the top of result.h.
 */
#ifndef SYCLCLIENT_CONTEXT_H
#define SYCLCLIENT_CONTEXT_H

#include "async.h"
#include "device.h"

SYCL_BEGIN_DECLS

/**
 * Make a context. One-way: never waits; what the service finds wrong later is told by the calls that use the context,
 * as SYCL_ERROR_INVALID that devices of one platform do not fit one context, which a backend may say.
 *
 * @param devices           device_count different devices of one platform; retained by the context.
 * @param[out] context_out  The caller's to release.
 * @retval SYCL_ERROR_INVALID  No device, one twice, or devices of several platforms or connections.
 * @retval SYCL_ERROR_QUOTA    The session has as many objects as it may.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_create(uint32_t device_count, const sycl_device *devices, sycl_context *context_out);
/** Options of sycl_context_create_with. Start from SYCL_CONTEXT_OPTIONS_INIT. */
struct sycl_context_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_context_options) */
	uint32_t reserved;     /**< must be 0 */
	sycl_async_handler *async_handler; /**< of the queues that have none of their own (async.h); NULL: none */
	void *async_user_data; /**< handed to it; stays good until those queues and their groups are gone */
};
#define SYCL_CONTEXT_OPTIONS_INIT { sizeof(struct sycl_context_options), 0, 0, 0 }

/**
 * As sycl_context_create, with options.
 *
 * @param options  NULL for the defaults; read during the call.
 * @retval SYCL_ERROR_INVALID  Also: struct_bytes or reserved is wrong.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_create_with(uint32_t device_count, const sycl_device *devices,
					      const struct sycl_context_options *options, sycl_context *context_out);
/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_context_retain(sycl_context context);
/**
 * End one reference; queues, bundles and running work keep what they need. Never waits for a device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_release(sycl_context context);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_context_get_reference_count(sycl_context context, uint32_t *count_out);
/** The platform of a context; the caller's to release. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_context_get_platform(sycl_context context, sycl_platform *platform_out);

/**
 * The devices of a context, in the order of its creation. Never blocks. Parameters as sycl_platform_get_devices.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_devices(sycl_context context, uint32_t capacity, sycl_device *devices_out,
					      uint32_t *count_out);

/** What can be asked of a context; the type of the answer behind each. */
typedef enum sycl_context_info {
	SYCL_CONTEXT_INFO_ATOMIC_MEMORY_ORDERS = 1, /**< uint32_t, bits of enum sycl_memory_order: those that all its
							 devices have */
	SYCL_CONTEXT_INFO_ATOMIC_MEMORY_SCOPES = 2, /**< uint32_t, bits of enum sycl_memory_scope; as above */
	SYCL_CONTEXT_INFO_ATOMIC_FENCE_ORDERS = 3, /**< uint32_t, bits of enum sycl_memory_order; as above */
	SYCL_CONTEXT_INFO_ATOMIC_FENCE_SCOPES = 4, /**< uint32_t, bits of enum sycl_memory_scope; as above */
	SYCL_CONTEXT_INFO_BACKEND = 5,              /**< uint32_t, enum sycl_backend */
	SYCL_CONTEXT_INFO_DEVICE_COUNT = 6          /**< uint32_t */
} sycl_context_info;

/**
 * Ask a context something; its platform and devices: sycl_context_get_platform and sycl_context_get_devices. Never
 * blocks. Parameters and errors as sycl_device_get_info.
 * @since 0.1
 */
SYCL_API sycl_result sycl_context_get_info(sycl_context context, sycl_context_info info, size_t bytes, void *value,
					   size_t *bytes_out);
/** As sycl_device_get_backend_info: always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_context_get_backend_info(sycl_context context, uint32_t info, size_t bytes, void *value,
						   size_t *bytes_out);

SYCL_END_DECLS
#endif
