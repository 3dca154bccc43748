/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes, copies and fills of buffers. */
#include "memory/memory.h"

#include <string.h>

bool is_inside(size_t offset, size_t bytes, size_t all)
{
	return offset <= all && bytes <= all - offset;
}

cl_int buffer_check(cl_command_queue queue, cl_mem handle)
{
	cl_mem memory = FIND_MEMORY(handle);
	if (!memory || memory->type != CL_MEM_OBJECT_BUFFER)
		return CL_INVALID_MEM_OBJECT;
	if (memory->context != queue->context)
		return CL_INVALID_CONTEXT;
	if (memory->parent && memory->origin % (queue->device->align_bits / 8) != 0)
		return CL_MISALIGNED_SUB_BUFFER_OFFSET;
	return CL_SUCCESS;
}

cl_int buffer_check_host(cl_command_queue queue, cl_mem handle, unsigned use)
{
	cl_int code = buffer_check(queue, handle);
	if (code != CL_SUCCESS)
		return code;
	const cl_mem_flags no_read = CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY;
	const cl_mem_flags no_write = CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY;
	if ((use & HOST_READS && handle->flags & no_read) ||
	    (use & HOST_WRITES && handle->flags & no_write))
		return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

/* A read that only has to come behind what the queue has: the host gets access to the bytes, and
 * copies them here. That is one answer of the service. A command's copy is a host task, which takes
 * two more. */
static bool is_plain_read(cl_command_queue queue, cl_mem memory, cl_uint count,
			  const cl_event *event_out)
{
	return !memory->svm && count == 0 && !event_out &&
	       !(queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* The access has its place behind all commands that write the buffer. The barrier is for the
 * others: they may still be writing the memory of the program. */
static sycl_result wait_for_access(cl_command_queue queue, sycl_host_accessor accessor)
{
	sycl_event all = NULL;
	sycl_result r = sycl_queue_barrier(queue->sycl, &all);
	if (r == SYCL_SUCCESS)
		r = sycl_host_accessor_wait(accessor);
	if (r == SYCL_SUCCESS)
		r = sycl_event_wait(all);
	if (all)
		(void)sycl_event_release(all);
	return r;
}

static cl_int read_at_once(cl_command_queue queue, cl_mem memory, size_t offset, size_t bytes,
			   void *to)
{
	sycl_host_accessor accessor = NULL;
	void *contents = NULL;
	sycl_result r = sycl_host_accessor_create_async(memory->sycl, SYCL_ACCESS_READ, offset,
							bytes, &accessor);
	if (r != SYCL_SUCCESS)
		return code_of(r);
	object_use(&queue->head); /* a callback may release it meanwhile */
	r = wait_for_access(queue, accessor);
	if (r == SYCL_SUCCESS)
		r = sycl_host_accessor_get_pointer(accessor, &contents);
	if (r == SYCL_SUCCESS)
		memcpy(to, contents, bytes);
	(void)sycl_host_accessor_release(accessor);
	printed_pass_on(queue->context);
	object_unuse(&queue->head);
	return code_of(r);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue_handle, cl_mem memory,
						    cl_bool blocking, size_t offset, size_t bytes,
						    void *to, cl_uint count, const cl_event *events,
						    cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = buffer_check_host(queue, memory, HOST_READS);
	if (code == CL_SUCCESS && (!to || !is_inside(offset, bytes, memory->bytes)))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS && blocking && is_plain_read(queue, memory, count, event_out) &&
	    !events)
		return read_at_once(queue, memory, offset, bytes, to);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_READ_BUFFER, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_event read = NULL;
	sycl_result r = buffer_to_host(command.handler, memory, offset, to, bytes);
	code = command_submit(&command, r, blocking, blocking ? NULL : &read);
	if (read)
		late_note_read(to, bytes, read);
	return code;
}

/* The submission reads the memory, so a blocking write has nothing to wait for, except failures of
 * its wait list. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue_handle, cl_mem memory,
						     cl_bool blocking, size_t offset, size_t bytes,
						     const void *from, cl_uint count,
						     const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = buffer_check_host(queue, memory, HOST_WRITES);
	if (code == CL_SUCCESS && (!from || !is_inside(offset, bytes, memory->bytes)))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_WRITE_BUFFER, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	bool is_late = !memory->svm && late_is_needed(from, bytes);
	sycl_result r = is_late ? late_copy(command.handler, from, memory, offset, bytes)
				: buffer_from_host(command.handler, from, memory, offset, bytes);
	return command_submit(&command, r, blocking && (is_late || count > 0 || event_out), NULL);
}

/* Where a buffer begins in the whole one, to compare parts. */
static cl_mem whole_of(cl_mem memory, size_t *offset)
{
	*offset += memory->origin;
	return memory->parent ? memory->parent : memory;
}

static bool do_overlap(cl_mem from, size_t from_offset, cl_mem to, size_t to_offset, size_t bytes)
{
	if (whole_of(from, &from_offset) != whole_of(to, &to_offset))
		return false;
	return from_offset < to_offset + bytes && to_offset < from_offset + bytes;
}

cl_int copy_check(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
		  size_t to_offset, size_t bytes)
{
	cl_int code = buffer_check(queue, from);
	if (code == CL_SUCCESS)
		code = buffer_check(queue, to);
	if (code != CL_SUCCESS)
		return code;
	if (!is_inside(from_offset, bytes, from->bytes) || !is_inside(to_offset, bytes, to->bytes))
		return CL_INVALID_VALUE;
	return do_overlap(from, from_offset, to, to_offset, bytes) ? CL_MEM_COPY_OVERLAP
								   : CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue_handle, cl_mem from,
						    cl_mem to, size_t from_offset, size_t to_offset,
						    size_t bytes, cl_uint count,
						    const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = copy_check(queue, from, to, from_offset, to_offset, bytes);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_COPY_BUFFER, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = buffer_copy(command.handler, from, from_offset, to, to_offset, bytes);
	return command_submit(&command, r, false, NULL);
}

cl_int fill_check(cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_bytes,
		  size_t offset, size_t bytes)
{
	cl_int code = buffer_check(queue, memory);
	if (code != CL_SUCCESS)
		return code;
	if (!pattern || pattern_bytes == 0 || pattern_bytes > 128 ||
	    (pattern_bytes & (pattern_bytes - 1)) != 0 || offset % pattern_bytes != 0 ||
	    bytes % pattern_bytes != 0 || !is_inside(offset, bytes, memory->bytes))
		return CL_INVALID_VALUE;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue_handle, cl_mem memory,
						    const void *pattern, size_t pattern_bytes,
						    size_t offset, size_t bytes, cl_uint count,
						    const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = fill_check(queue, memory, pattern, pattern_bytes, offset, bytes);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_FILL_BUFFER, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = buffer_fill(command.handler, memory, offset, bytes, pattern, pattern_bytes);
	return command_submit(&command, r, false, NULL);
}
