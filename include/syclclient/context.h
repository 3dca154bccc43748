/* SPDX-License-Identifier: Apache-2.0 */
/** @file context.h Contexts: devices of one platform that share memory objects (A10). */
#ifndef SYCLCLIENT_CONTEXT_H
#define SYCLCLIENT_CONTEXT_H

#include "device.h"

SYCL_BEGIN_DECLS

SYCL_API sycl_result sycl_context_create(uint32_t device_count, const sycl_device *devices, sycl_context *context_out);
SYCL_API sycl_result sycl_context_retain(sycl_context context);
SYCL_API sycl_result sycl_context_release(sycl_context context);
SYCL_API sycl_result sycl_context_get_platform(sycl_context context, sycl_platform *platform_out);
SYCL_API sycl_result sycl_context_get_devices(sycl_context context, uint32_t capacity, sycl_device *devices_out,
					      uint32_t *count_out);

SYCL_END_DECLS
#endif
