/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file copy.h Explicit copies of bytes, boxes and elements: between buffers, and between a buffer and memory of the program. The rules for all functions are at the top of result.h, those of handlers in handler.h.
 *
 * Wherever a buffer is named, a sub-buffer or a view may be. A copy requires what it covers, like an accessor: with the
 * mode read of its source and write of its destination. Only bytes that are covered change. 0 bytes, or a box with a 0 in
 * any dimension, move nothing, and order all the same.
 *
 * Memory of the program:
 * - As a source it is read by the call that submits the group, whole, into memory that is shared with the service: it is
 *   the caller's again when that call returns, and what it gets afterwards is not copied (as with arguments by value).
 *   A frozen group reads it again at each submission.
 * - As a destination it is written when the group's turn has come, by a host task of the library's own: by a helper
 *   thread, or in any wait of the program on this connection, as host_task.h says. The group is complete when the bytes
 *   are there, and not before; so the memory must be good, and left alone, until its event is complete or its queue has
 *   been waited for. What depends on the group runs after that.
 */
#ifndef SYCLCLIENT_COPY_H
#define SYCLCLIENT_COPY_H

#include "host_task.h"
#include "queue.h"

SYCL_BEGIN_DECLS

/**
 * A box of bytes: rows of width_bytes, `rows` of them in a slice, `slices`. Start from SYCL_COPY_RECT_INIT. Offsets are those
 * of the box's first byte in the buffer, the sub-buffer, or from the pointer. Pitches are the distances of the beginnings
 * of two rows and of two slices; 0: without a gap.
 */
struct sycl_copy_rect {
	uint32_t struct_bytes; /**< sizeof(struct sycl_copy_rect) */
	uint32_t reserved;     /**< must be 0 */
	uint64_t width_bytes;
	uint64_t rows;
	uint64_t slices;
	uint64_t source_offset_bytes;
	uint64_t source_row_pitch_bytes;   /**< at least width_bytes, where there is more than one row */
	uint64_t source_slice_pitch_bytes; /**< at least a slice's rows, and a multiple of the row pitch */
	uint64_t destination_offset_bytes;
	uint64_t destination_row_pitch_bytes;
	uint64_t destination_slice_pitch_bytes;
};
#define SYCL_COPY_RECT_INIT { sizeof(struct sycl_copy_rect), 0, 0, 1, 1, 0, 0, 0, 0, 0, 0 }

/**
 * The action: copy a box between buffers, or inside of one. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  There is an action already; wrong struct_bytes or reserved; pitches that put rows or slices
 *                             into each other; outside of a buffer; inside of one buffer the two boxes share a byte, or,
 *                             with different pitches, reach into each other's span. Also what
 *                             sycl_handler_set_ranged_accessor returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_rect(sycl_handler handler, sycl_buffer source, sycl_buffer destination,
					    const struct sycl_copy_rect *rect);

/**
 * The action: copy elements between buffers of one element size and one number of dimensions, by their shapes
 * (sycl_buffer_reinterpret). Never blocks.
 *
 * @param source_id       The first element, as many numbers as dimensions, the last one varies fastest; NULL: all 0.
 * @param destination_id  The same there.
 * @param count           Elements of the box.
 * @retval SYCL_ERROR_INVALID  Other dimensions or element sizes; outside of a shape. Also what sycl_handler_copy_rect
 *                             returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_elements(sycl_handler handler, sycl_buffer source, const uint64_t *source_id,
						sycl_buffer destination, const uint64_t *destination_id,
						sycl_range count);

/**
 * The action: copy bytes of the program to a buffer. Never blocks; sycl_handler_submit may take a round trip, when the
 * session's shared memory must grow.
 *
 * @param source  Read by sycl_handler_submit: see the top of this file. NULL only for 0 bytes.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_copy; the source is NULL.
 * @return sycl_handler_submit also has SYCL_ERROR_QUOTA: the session's shared memory has no room for as many bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_from_host(sycl_handler handler, const void *source, sycl_buffer destination,
						 uint64_t destination_offset_bytes, uint64_t size_bytes);
/** As sycl_handler_copy_from_host, of a box. Errors also as sycl_handler_copy_rect. @since 0.1 */
SYCL_API sycl_result sycl_handler_copy_rect_from_host(sycl_handler handler, const void *source,
						      sycl_buffer destination, const struct sycl_copy_rect *rect);

/**
 * The action: copy bytes of a buffer to memory of the program. Never blocks.
 *
 * @param destination  Written until the group is complete: see the top of this file. NULL only for 0 bytes.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_copy; the destination is NULL.
 * @return sycl_handler_submit also has what it has for a host task.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_to_host(sycl_handler handler, sycl_buffer source, uint64_t source_offset_bytes,
					       void *destination, uint64_t size_bytes);
/** As sycl_handler_copy_to_host, of a box. Errors also as sycl_handler_copy_rect. @since 0.1 */
SYCL_API sycl_result sycl_handler_copy_rect_to_host(sycl_handler handler, sycl_buffer source, void *destination,
						    const struct sycl_copy_rect *rect);

/** A command group with sycl_handler_copy_rect alone; errors and event as there. @since 0.1 */
SYCL_API sycl_result sycl_queue_copy_rect(sycl_queue queue, sycl_buffer source, sycl_buffer destination,
					  const struct sycl_copy_rect *rect, sycl_event *event_out);
/** A command group with sycl_handler_copy_from_host alone; errors as there, and the round trip. @since 0.1 */
SYCL_API sycl_result sycl_queue_copy_from_host(sycl_queue queue, const void *source, sycl_buffer destination,
					       uint64_t destination_offset_bytes, uint64_t size_bytes,
					       sycl_event *event_out);
/** A command group with sycl_handler_copy_to_host alone; errors and event as there. @since 0.1 */
SYCL_API sycl_result sycl_queue_copy_to_host(sycl_queue queue, sycl_buffer source, uint64_t source_offset_bytes,
					     void *destination, uint64_t size_bytes, sycl_event *event_out);
/** A command group with sycl_handler_copy_rect_from_host alone; errors as there, and the round trip. @since 0.1 */
SYCL_API sycl_result sycl_queue_copy_rect_from_host(sycl_queue queue, const void *source, sycl_buffer destination,
						    const struct sycl_copy_rect *rect, sycl_event *event_out);
/** A command group with sycl_handler_copy_rect_to_host alone; errors and event as there. @since 0.1 */
SYCL_API sycl_result sycl_queue_copy_rect_to_host(sycl_queue queue, sycl_buffer source, void *destination,
						  const struct sycl_copy_rect *rect, sycl_event *event_out);

SYCL_END_DECLS
#endif
