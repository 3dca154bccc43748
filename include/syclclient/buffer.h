/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer.h Buffers and host accessors. The rules for all functions are at the top of result.h. */
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
 * Make a buffer, usable with every queue of the connection (A27). Blocks only for a round trip when the session's
 * shared memory must grow; otherwise one-way: what the service finds wrong later is told by the calls that use the
 * buffer.
 *
 * @param platform         Any platform of the connection.
 * @param host             The first contents, copied during the call; NULL with SYCL_HOST_NONE: the contents are
 *                         undefined then.
 * @param size_bytes       Any size, 0 also (C16, C17).
 * @param kind             What happens to `host` later.
 * @param[out] buffer_out  The caller's: sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  host and kind contradict each other.
 * @retval SYCL_ERROR_QUOTA    More objects, buffer bytes or shared memory than the session may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create(sycl_platform platform, void *host, uint64_t size_bytes, sycl_host_memory kind,
					sycl_buffer *buffer_out);
/** One more reference (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_buffer_retain(sycl_buffer buffer);

/**
 * End one reference. What the last one does depends on the host memory (D9 - D11, D14):
 * - SYCL_HOST_BORROWED: waits for all command groups that use the buffer, then, if one of them or a host accessor could
 *   write it, copies the contents back to `host`. Blocks until then. A buffer that no group used is not waited for.
 * - SYCL_HOST_NONE, SYCL_HOST_CONST: returns at once; running groups keep what they need (D16).
 * - After sycl_buffer_set_write_back(buffer, 0) or sycl_buffer_set_final_data(buffer, NULL): returns at once.
 * - After sycl_buffer_set_final_data with memory: waits, and copies the contents there in any case.
 *
 * @retval SYCL_ERROR_INVALID  It would have to wait while the buffer has host accessors; it is still the caller's.
 * @return Any other failure, such as a group's that wrote the buffer: the buffer is released, the host memory
 * unchanged.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_release(sycl_buffer buffer);

/**
 * As sycl_buffer_release, waiting at most timeout_ns (CLOCK_MONOTONIC).
 *
 * @retval SYCL_ERROR_TIMEOUT  The buffer is still the caller's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_release_for(sycl_buffer buffer, uint64_t timeout_ns);

/** The caller's references now, for tests (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_buffer_get_reference_count(sycl_buffer buffer, uint32_t *count_out);

/** The size in bytes, as given at creation. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_buffer_get_size(sycl_buffer buffer, uint64_t *size_bytes_out);

/**
 * Whether the last release may write back at all (D14). Never blocks.
 *
 * @param write_back  1, as at creation, or 0: nothing is written back, and release does not wait.
 * @retval SYCL_ERROR_INVALID  Another number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_set_write_back(sycl_buffer buffer, uint32_t write_back);

/**
 * Where the contents go at the last release, instead of the host memory given at creation (D14). Never blocks.
 *
 * @param final_data  Room for the whole buffer, the caller's, good until the last release; NULL: nowhere.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_set_final_data(sycl_buffer buffer, void *final_data);

/**
 * Access from the host. Blocks until the groups on the buffer allow it: for reading, those that write it; for
 * writing, all of them; groups on other buffers are not waited for (D1, D2). Groups that are submitted meanwhile wait
 * until it is released (D3). Several for reading may exist at a time.
 *
 * @param mode               With a no-init mode the contents are undefined, and nothing is moved (C6).
 * @param[out] accessor_out  The caller's: sycl_host_accessor_release. It keeps the buffer alive.
 * @retval SYCL_ERROR_INVALID            No such mode.
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  A group that writes the buffer failed: there are no contents to see (M9).
 * @retval SYCL_ERROR_QUOTA              The session has as many objects or completion slots as it may.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create(sycl_buffer buffer, sycl_access_mode mode,
					       sycl_host_accessor *accessor_out);

/**
 * As sycl_host_accessor_create, at most timeout_ns (CLOCK_MONOTONIC); 0 asks without waiting for a device.
 *
 * @retval SYCL_ERROR_TIMEOUT  Not yet; nothing is held, no group waits for it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create_for(sycl_buffer buffer, sycl_access_mode mode, uint64_t timeout_ns,
						   sycl_host_accessor *accessor_out);

/**
 * The contents. Never blocks.
 *
 * @param[out] pointer_out  Valid until the accessor's last release; not necessarily the pointer given at creation
 *                          (D5). To be written only with a mode that writes. For an empty buffer not NULL, but
 *                          nothing may be touched.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_get_pointer(sycl_host_accessor accessor, void **pointer_out);
/** One more reference (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_accessor_retain(sycl_host_accessor accessor);
/**
 * End one reference; with the last one the groups that wait for it may run, and see what was written (D3, D7). Never
 * blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_release(sycl_host_accessor accessor);
/** The caller's references now, for tests (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_accessor_get_reference_count(sycl_host_accessor accessor, uint32_t *count_out);

SYCL_END_DECLS
#endif
