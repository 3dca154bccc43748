/* SPDX-License-Identifier: Apache-2.0 */
/** @file handler.h Command groups: requisites and one action, built without I/O, sent by submit. */
#ifndef SYCLCLIENT_HANDLER_H
#define SYCLCLIENT_HANDLER_H

#include "kernel.h"

SYCL_BEGIN_DECLS

/** A builder for one command group on this queue. One thread at a time; ended by submit or discard. */
SYCL_API sycl_result sycl_handler_begin(sycl_queue queue, sycl_handler *handler_out);
/** Throw it away. Accepts NULL. */
SYCL_API sycl_result sycl_handler_discard(sycl_handler handler);

/** Requires the buffer, and gives it as argument `index`: a pointer to its first byte. */
SYCL_API sycl_result sycl_handler_set_accessor(sycl_handler handler, uint32_t index, sycl_buffer buffer,
					       sycl_access_mode mode);
/** As above for a part; the pointer is to the part's first byte. Orders like the whole buffer (C21). */
SYCL_API sycl_result sycl_handler_set_ranged_accessor(sycl_handler handler, uint32_t index, sycl_buffer buffer,
						      sycl_access_mode mode, uint64_t offset_bytes, uint64_t size_bytes);
/** Requires the buffer without being an argument (B13). */
SYCL_API sycl_result sycl_handler_require(sycl_handler handler, sycl_buffer buffer, sycl_access_mode mode);
/** By value, copied now (E21). */
SYCL_API sycl_result sycl_handler_set_value(sycl_handler handler, uint32_t index, size_t size_bytes, const void *value);
/** Local memory of this size for each work-group; nd_range kernels only (E7). */
SYCL_API sycl_result sycl_handler_set_local(sycl_handler handler, uint32_t index, uint64_t size_bytes);
SYCL_API sycl_result sycl_handler_depends_on(sycl_handler handler, sycl_event event);

/** The action: exactly one, or none for a barrier (B1). */
SYCL_API sycl_result sycl_handler_single_task(sycl_handler handler, sycl_kernel kernel);
SYCL_API sycl_result sycl_handler_parallel_for(sycl_handler handler, sycl_kernel kernel, sycl_range range);
/** @retval SYCL_ERROR_ND_RANGE global is not divisible by local, or local is 0 or too large (E4, E8). */
SYCL_API sycl_result sycl_handler_parallel_for_nd(sycl_handler handler, sycl_kernel kernel, sycl_range global,
						  sycl_range local);
SYCL_API sycl_result sycl_handler_copy(sycl_handler handler, sycl_buffer source, uint64_t source_offset_bytes,
				       sycl_buffer destination, uint64_t destination_offset_bytes, uint64_t size_bytes);
SYCL_API sycl_result sycl_handler_fill(sycl_handler handler, sycl_buffer buffer, uint64_t offset_bytes,
				       uint64_t size_bytes, const void *pattern, size_t pattern_bytes);
SYCL_API sycl_result sycl_handler_update_host(sycl_handler handler, sycl_buffer buffer);

/** Sends it; never waits for the device (B16). Ends the handler, also on failure. `event_out` NULL: no event is made. */
SYCL_API sycl_result sycl_handler_submit(sycl_handler handler, sycl_event *event_out);

SYCL_END_DECLS
#endif
