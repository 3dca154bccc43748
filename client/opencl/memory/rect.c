/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of bytes: reads, writes and copies. */
#include "memory/memory.h"

/* One side of a box: where it begins, and the distances of its rows and slices. */
struct side {
	size_t offset, row, slice;
};

static bool multiply_add(size_t a, size_t b, size_t *sum)
{
	size_t product = 0;
	return !__builtin_mul_overflow(a, b, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

/* Checks a side against the box and `all` bytes; SIZE_MAX: memory of the program. */
static bool read_side(const size_t *origin, const size_t *region, size_t row, size_t slice,
		      size_t all, struct side *side)
{
	size_t end = 0, rows = 0;
	if (!origin || !region || !region[0] || !region[1] || !region[2])
		return false;
	if (row == 0)
		row = region[0];
	if (row < region[0] || __builtin_mul_overflow(row, region[1], &rows))
		return false;
	if (slice == 0)
		slice = rows;
	if (slice < rows || slice % row != 0)
		return false;
	side->row = row;
	side->slice = slice;
	side->offset = origin[0];
	if (!multiply_add(origin[1], row, &side->offset) ||
	    !multiply_add(origin[2], slice, &side->offset))
		return false;
	end = side->offset;
	return multiply_add(region[2] - 1, slice, &end) && multiply_add(region[1] - 1, row, &end) &&
	       multiply_add(region[0], 1, &end) && end <= all;
}

static struct sycl_copy_rect box_of(const size_t *region, const struct side *from,
				    const struct side *to)
{
	struct sycl_copy_rect box = SYCL_COPY_RECT_INIT;
	box.width_bytes = region[0];
	box.rows = region[1];
	box.slices = region[2];
	box.source_offset_bytes = from->offset;
	box.source_row_pitch_bytes = from->row;
	box.source_slice_pitch_bytes = from->slice;
	box.destination_offset_bytes = to->offset;
	box.destination_row_pitch_bytes = to->row;
	box.destination_slice_pitch_bytes = to->slice;
	return box;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(
	cl_command_queue queue_handle, cl_mem memory, cl_bool blocking, const size_t *buffer_origin,
	const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
	size_t host_row, size_t host_slice, void *to, cl_uint count, const cl_event *events,
	cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	struct side from, host;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = buffer_check_host(queue, memory, HOST_READS);
	if (code == CL_SUCCESS &&
	    (!to ||
	     !read_side(buffer_origin, region, buffer_row, buffer_slice, memory->bytes, &from) ||
	     !read_side(host_origin, region, host_row, host_slice, SIZE_MAX, &host)))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_READ_BUFFER_RECT, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	const struct sycl_copy_rect box = box_of(region, &from, &host);
	sycl_event read = NULL;
	sycl_result r = buffer_rect_to_host(command.handler, memory, to, &box);
	code = command_submit(&command, r, blocking, blocking ? NULL : &read);
	if (read)
		late_note_read((char *)to + host.offset, late_destination_bytes(&box), read);
	return code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(
	cl_command_queue queue_handle, cl_mem memory, cl_bool blocking, const size_t *buffer_origin,
	const size_t *host_origin, const size_t *region, size_t buffer_row, size_t buffer_slice,
	size_t host_row, size_t host_slice, const void *from, cl_uint count, const cl_event *events,
	cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	struct side to, host;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = buffer_check_host(queue, memory, HOST_WRITES);
	if (code == CL_SUCCESS &&
	    (!from ||
	     !read_side(buffer_origin, region, buffer_row, buffer_slice, memory->bytes, &to) ||
	     !read_side(host_origin, region, host_row, host_slice, SIZE_MAX, &host)))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_WRITE_BUFFER_RECT, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	const struct sycl_copy_rect box = box_of(region, &host, &to);
	bool is_late = !memory->svm &&
		       late_is_needed((const char *)from + host.offset, late_source_bytes(&box));
	sycl_result r = is_late ? late_copy_rect(command.handler, from, memory, &box)
				: buffer_rect_from_host(command.handler, from, memory, &box);
	return command_submit(&command, r, blocking && (is_late || count > 0 || event_out), NULL);
}

/* Boxes of one buffer with the same distances overlap if they do in each dimension. */
static bool do_boxes_overlap(cl_mem from, const size_t *from_origin, cl_mem to,
			     const size_t *to_origin, const size_t *region)
{
	if (from != to)
		return false;
	for (int i = 0; i < 3; i++)
		if (from_origin[i] >= to_origin[i] + region[i] ||
		    to_origin[i] >= from_origin[i] + region[i])
			return false;
	return true;
}

cl_int rect_check_copy(cl_command_queue queue, cl_mem from, cl_mem to,
		       const struct rect_pitches *pitches, struct sycl_copy_rect *box_out)
{
	struct side source, target;
	cl_int code = buffer_check(queue, from);
	if (code == CL_SUCCESS)
		code = buffer_check(queue, to);
	if (code != CL_SUCCESS)
		return code;
	if (!read_side(pitches->from_origin, pitches->region, pitches->from_row,
		       pitches->from_slice, from->bytes, &source) ||
	    !read_side(pitches->to_origin, pitches->region, pitches->to_row, pitches->to_slice,
		       to->bytes, &target))
		return CL_INVALID_VALUE;
	if (from == to && (source.row != target.row || source.slice != target.slice))
		return CL_INVALID_VALUE;
	if (do_boxes_overlap(from, pitches->from_origin, to, pitches->to_origin, pitches->region))
		return CL_MEM_COPY_OVERLAP;
	*box_out = box_of(pitches->region, &source, &target);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferRect(
	cl_command_queue queue_handle, cl_mem from, cl_mem to, const size_t *from_origin,
	const size_t *to_origin, const size_t *region, size_t from_row, size_t from_slice,
	size_t to_row, size_t to_slice, cl_uint count, const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	struct sycl_copy_rect box = SYCL_COPY_RECT_INIT;
	const struct rect_pitches pitches = {from_origin, to_origin, region,  from_row,
					     from_slice,  to_row,    to_slice};
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = rect_check_copy(queue, from, to, &pitches, &box);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_COPY_BUFFER_RECT, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = buffer_copy_rect(command.handler, from, to, &box);
	if (r == SYCL_ERROR_INVALID) {
		command_drop(&command);
		return CL_MEM_COPY_OVERLAP;
	}
	return command_submit(&command, r, false, NULL);
}
