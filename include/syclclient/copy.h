/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file copy.h Explicit copies of bytes, boxes and elements: between buffers, and between a
 * buffer and memory of the program. The rules for all functions are at the top of result.h, those
 * of handlers in handler.h.
 *
 * Each buffer may also be a sub-buffer or a view. Like an accessor, a copy requires the range that
 * it covers: for reading in its source, for writing in its destination. Only covered bytes change.
 * 0 bytes, or a box with a 0 in any dimension, move nothing, but still order.
 *
 * Memory of the program:
 *
 * - As a source: the call that submits the group reads all of it, into memory that is shared with
 *   the service. When that call returns, the program may change it; later changes are not copied,
 *   as for arguments by value. A frozen group reads it again at each submission.
 * - As a destination: a host task of the library writes it when the group's turn has come. That
 *   happens in a helper thread, or in any wait of the program on this connection, as host_task.h
 *   says. The group is complete when the bytes are there. Until its event is complete, or a wait
 *   for its queue has returned, the memory must stay valid and must not be used. Groups that depend
 *   on it run after that.
 * - Host USM of the queue's context (usm.h), and shared USM through a service: the device itself
 *   reads or writes it when the group runs, which is faster. So the bytes of a source must stay as
 *   they are until the group is complete, and a destination must not be used until then. No host
 *   task runs. The address orders nothing, the buffer does. sycl_free does not wait for the group,
 *   and the memory is there until it is complete. All bytes from the first one to the last one lie
 *   inside of one allocation. Device USM is no memory of the program.
 */
#ifndef SYCLCLIENT_COPY_H
#define SYCLCLIENT_COPY_H

#include "host_task.h"
#include "queue.h"

SYCL_BEGIN_DECLS

/**
 * A box of bytes: `slices` slices, each of `rows` rows, each of width_bytes. Start from
 * SYCL_COPY_RECT_INIT. An offset is that of the box's first byte in the buffer, the sub-buffer, or
 * from the pointer. A pitch is the distance from the beginning of one row, or slice, to the next
 * one; 0: no gap.
 */
struct sycl_copy_rect {
	uint32_t struct_bytes; /**< sizeof(struct sycl_copy_rect) */
	uint32_t reserved;     /**< must be 0 */
	uint64_t width_bytes;
	uint64_t rows;
	uint64_t slices;
	uint64_t source_offset_bytes;
	uint64_t source_row_pitch_bytes; /**< at least width_bytes, if there are several rows */
	/** at least a slice's rows, and a multiple of the row pitch */
	uint64_t source_slice_pitch_bytes;
	uint64_t destination_offset_bytes;
	uint64_t destination_row_pitch_bytes;
	uint64_t destination_slice_pitch_bytes;
};
#define SYCL_COPY_RECT_INIT                                                                        \
	{                                                                                          \
		sizeof(struct sycl_copy_rect), 0, 0, 1, 1, 0, 0, 0, 0, 0, 0                        \
	}

/**
 * Set the action: copy a box between buffers, or inside one buffer. Never blocks.
 *
 * @param source       The buffer to read.
 * @param destination  The buffer to write.
 * @param rect         The box and where it lies in both buffers; copied now.
 * @retval SYCL_ERROR_INVALID  The group has an action already; wrong struct_bytes or reserved;
 *                             pitches that let rows or slices overlap; outside of a buffer. Inside
 *                             one buffer: the two boxes share a byte, or, with different pitches,
 *                             reach into each other's span. Also what
 *                             sycl_handler_set_ranged_accessor returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_rect(sycl_handler handler, sycl_buffer source,
					    sycl_buffer destination,
					    const struct sycl_copy_rect *rect);

/**
 * Set the action: copy elements between buffers with the same element size and number of
 * dimensions, by their shapes (sycl_buffer_reinterpret). Never blocks.
 *
 * @param source          The buffer to read.
 * @param source_id       The first element, one number for each dimension, the last one varies
 *                        fastest. NULL: all 0.
 * @param destination     The buffer to write.
 * @param destination_id  The first element there.
 * @param count           Elements of the box.
 * @retval SYCL_ERROR_INVALID  Other dimensions or element sizes; outside of a shape. Also what
 *                             sycl_handler_copy_rect returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_elements(sycl_handler handler, sycl_buffer source,
						const uint64_t *source_id, sycl_buffer destination,
						const uint64_t *destination_id, sycl_range count);

/**
 * Set the action: copy bytes of the program to a buffer. Never blocks. sycl_queue_submit may take a
 * round trip if the session's shared memory must grow.
 *
 * @param source                    sycl_queue_submit reads it, or the device if it is host USM: see
 *                                  copy.h. NULL only for 0 bytes.
 * @param destination               The buffer to write.
 * @param destination_offset_bytes  Where to write.
 * @param size_bytes                How many bytes.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_copy; the source is NULL, device USM, freed USM, or
 *                             reaches beyond an allocation of USM.
 * @return sycl_queue_submit also has SYCL_ERROR_QUOTA: the session's shared memory has no room for
 *         so many bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_from_host(sycl_handler handler, const void *source,
						 sycl_buffer destination,
						 uint64_t destination_offset_bytes,
						 uint64_t size_bytes);
/**
 * Let the group's copy read the program's memory when its turn has come, and not when it is
 * submitted. So it sees what an earlier group copies to that memory. A host task of the library
 * reads it, when a thread of the program waits or a helper thread is free. Memory that is USM of
 * the host is read late in any case. Never blocks.
 *
 * @param handler  Its action is a copy from memory of the program, to a buffer or an image. The
 *                 memory stays valid until the group is complete.
 * @retval SYCL_ERROR_INVALID  Another action.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_read_late(sycl_handler handler);

/**
 * Set the action: copy a box of the program to a buffer. As sycl_handler_copy_from_host and
 * sycl_handler_copy_rect.
 *
 * @param destination  The buffer to write.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_rect_from_host(sycl_handler handler, const void *source,
						      sycl_buffer destination,
						      const struct sycl_copy_rect *rect);

/**
 * Set the action: copy bytes of a buffer to memory of the program. Never blocks.
 *
 * @param source               The buffer to read.
 * @param source_offset_bytes  Where to read.
 * @param destination          Written until the group is complete: see copy.h. NULL only for 0
 *                             bytes.
 * @param size_bytes           How many bytes.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_copy; the destination is NULL, device USM, freed USM,
 *                             or reaches beyond an allocation of USM.
 * @return sycl_queue_submit also has the errors of a host task.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_to_host(sycl_handler handler, sycl_buffer source,
					       uint64_t source_offset_bytes, void *destination,
					       uint64_t size_bytes);
/**
 * Set the action: copy a box of a buffer to the program. As sycl_handler_copy_to_host and
 * sycl_handler_copy_rect.
 *
 * @param source  The buffer to read.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy_rect_to_host(sycl_handler handler, sycl_buffer source,
						    void *destination,
						    const struct sycl_copy_rect *rect);

/**
 * Submit a command group that copies a box between buffers. Errors and blocking are those of
 * sycl_handler_copy_rect and sycl_queue_submit.
 *
 * @param source          The buffer to read.
 * @param destination     The buffer to write.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_copy_rect(sycl_queue queue, sycl_buffer source,
					  sycl_buffer destination,
					  const struct sycl_copy_rect *rect, sycl_event *event_out);
/**
 * Submit a command group that copies bytes of the program to a buffer. Errors and blocking are
 * those of sycl_handler_copy_from_host and sycl_queue_submit.
 *
 * @param destination     The buffer to write.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_copy_from_host(sycl_queue queue, const void *source,
					       sycl_buffer destination,
					       uint64_t destination_offset_bytes,
					       uint64_t size_bytes, sycl_event *event_out);
/**
 * Submit a command group that copies bytes of a buffer to the program. Errors and blocking are
 * those of sycl_handler_copy_to_host and sycl_queue_submit.
 *
 * @param source          The buffer to read.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 *
 * @example
 *	float numbers[100];
 *	sycl_event copied = NULL;
 *	result = sycl_queue_copy_to_host(queue, buffer, 0, numbers, sizeof(numbers), &copied);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_event_wait(copied); // now the bytes are there
 */
SYCL_API sycl_result sycl_queue_copy_to_host(sycl_queue queue, sycl_buffer source,
					     uint64_t source_offset_bytes, void *destination,
					     uint64_t size_bytes, sycl_event *event_out);
/**
 * Submit a command group that copies a box of the program to a buffer. Errors and blocking are
 * those of sycl_handler_copy_rect_from_host and sycl_queue_submit.
 *
 * @param destination     The buffer to write.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_copy_rect_from_host(sycl_queue queue, const void *source,
						    sycl_buffer destination,
						    const struct sycl_copy_rect *rect,
						    sycl_event *event_out);
/**
 * Submit a command group that copies a box of a buffer to the program. Errors and blocking are
 * those of sycl_handler_copy_rect_to_host and sycl_queue_submit.
 *
 * @param source          The buffer to read.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_copy_rect_to_host(sycl_queue queue, sycl_buffer source,
						  void *destination,
						  const struct sycl_copy_rect *rect,
						  sycl_event *event_out);

SYCL_END_DECLS
#endif
