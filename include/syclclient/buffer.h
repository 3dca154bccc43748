/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer.h Buffers and host accessors. */
#ifndef SYCLCLIENT_BUFFER_H
#define SYCLCLIENT_BUFFER_H

#include "result.h"

SYCL_BEGIN_DECLS

/** What the host memory given to sycl_buffer_create is. */
typedef enum sycl_host_memory {
	SYCL_HOST_NONE = 0,     /**< there is none: `host` is NULL */
	SYCL_HOST_BORROWED = 1, /**< the caller's until release; written back at release if a device wrote (D11) */
	SYCL_HOST_CONST = 2     /**< read once, never written back (D14) */
} sycl_host_memory;

/**
 * `host` memory is read during the call. Blocks only for a round trip when the session's shared memory must grow.
 * Any size, 0 also (C16).
 */
SYCL_API sycl_result sycl_buffer_create(sycl_platform platform, void *host, uint64_t size_bytes, sycl_host_memory kind,
					sycl_buffer *buffer_out);
SYCL_API sycl_result sycl_buffer_retain(sycl_buffer buffer);
/** The last release of a borrowed buffer that a device wrote waits for its groups and writes back; otherwise it does not wait (D9 - D11). */
SYCL_API sycl_result sycl_buffer_release(sycl_buffer buffer);
/** As sycl_buffer_release; on SYCL_ERROR_TIMEOUT the buffer is still the caller's. */
SYCL_API sycl_result sycl_buffer_release_for(sycl_buffer buffer, uint64_t timeout_ns);
SYCL_API sycl_result sycl_buffer_get_size(sycl_buffer buffer, uint64_t *size_bytes_out);
SYCL_API sycl_result sycl_buffer_set_write_back(sycl_buffer buffer, uint32_t write_back);
/** Where the contents go at release instead; NULL: nowhere. */
SYCL_API sycl_result sycl_buffer_set_final_data(sycl_buffer buffer, void *final_data);

/** Access from the host: waits until the groups on the buffer allow it (D1); groups wait until it is released (D3). */
SYCL_API sycl_result sycl_host_accessor_create(sycl_buffer buffer, sycl_access_mode mode,
					       sycl_host_accessor *accessor_out);
SYCL_API sycl_result sycl_host_accessor_create_for(sycl_buffer buffer, sycl_access_mode mode, uint64_t timeout_ns,
						   sycl_host_accessor *accessor_out);
/** The contents; valid until release; not necessarily the pointer given at creation (D5). */
SYCL_API sycl_result sycl_host_accessor_get_pointer(sycl_host_accessor accessor, void **pointer_out);
SYCL_API sycl_result sycl_host_accessor_retain(sycl_host_accessor accessor);
SYCL_API sycl_result sycl_host_accessor_release(sycl_host_accessor accessor);

SYCL_END_DECLS
#endif
