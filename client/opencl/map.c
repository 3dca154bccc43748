/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped parts of buffers: a read into memory of the process, and a write from there. The program
 * may not touch the memory before the map is complete, so an unmap before that writes nothing.
 */
#include "driver.h"

#include <stdlib.h>

static cl_int check_map(cl_command_queue queue, cl_mem memory, cl_map_flags flags, size_t offset,
			size_t bytes)
{
	const cl_map_flags all = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
	unsigned use = flags & CL_MAP_READ ? HOST_READS : 0;
	if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
		use |= HOST_WRITES;
	cl_int code = buffer_check_host(queue, memory, use);
	if (code != CL_SUCCESS)
		return code;
	if (flags & ~all ||
	    (flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE)))
		return CL_INVALID_VALUE;
	return bytes > 0 && is_inside(offset, bytes, memory->bytes) ? CL_SUCCESS : CL_INVALID_VALUE;
}

static struct mapping *mapping_new(cl_mem memory, cl_map_flags flags, size_t offset, size_t bytes)
{
	char *shadow = memory_shadow(memory);
	struct mapping *mapping = shadow ? calloc(1, sizeof(*mapping)) : NULL;
	if (!mapping)
		return NULL;
	mapping->pointer = shadow + offset;
	mapping->offset = offset;
	mapping->bytes = bytes;
	mapping->writes = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
	return mapping;
}

static void mapping_free(struct mapping *mapping)
{
	if (mapping->mapped)
		(void)sycl_event_release(mapping->mapped);
	free(mapping);
}

static void mapping_add(cl_mem memory, struct mapping *mapping)
{
	pthread_mutex_lock(&memory->lock);
	mapping->next = memory->mappings;
	memory->mappings = mapping;
	memory->map_count++;
	pthread_mutex_unlock(&memory->lock);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue_handle, cl_mem memory,
						  cl_bool blocking, cl_map_flags flags,
						  size_t offset, size_t bytes, cl_uint count,
						  const cl_event *events, cl_event *event_out,
						  cl_int *code_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return made(NULL, CL_INVALID_COMMAND_QUEUE, code_out);
	cl_int code = check_map(queue, memory, flags, offset, bytes);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_MAP_BUFFER, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	struct mapping *mapping = mapping_new(memory, flags, offset, bytes);
	if (!mapping) {
		command_drop(&command);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	sycl_result r = SYCL_SUCCESS;
	if (!(flags & CL_MAP_WRITE_INVALIDATE_REGION))
		r = sycl_handler_copy_to_host(command.handler, memory->sycl, offset,
					      mapping->pointer, bytes);
	code = command_submit(&command, r, blocking, &mapping->mapped);
	if (code != CL_SUCCESS) {
		mapping_free(mapping);
		return made(NULL, code, code_out);
	}
	void *pointer = mapping->pointer;
	mapping_add(memory, mapping);
	return made(pointer, CL_SUCCESS, code_out);
}

/* Takes the latest mapping of the pointer off the list. */
static struct mapping *mapping_take(cl_mem memory, const void *pointer)
{
	struct mapping *found = NULL;
	pthread_mutex_lock(&memory->lock);
	for (struct mapping **at = &memory->mappings; *at; at = &(*at)->next)
		if ((*at)->pointer == pointer) {
			found = *at;
			*at = found->next;
			memory->map_count--;
			break;
		}
	pthread_mutex_unlock(&memory->lock);
	return found;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue_handle,
							cl_mem memory, void *pointer, cl_uint count,
							const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = buffer_check(queue, memory);
	if (code != CL_SUCCESS)
		return code;
	code = command_begin(&command, queue, CL_COMMAND_UNMAP_MEM_OBJECT, count, events,
			     event_out);
	if (code != CL_SUCCESS)
		return code;
	struct mapping *mapping = mapping_take(memory, pointer);
	if (!mapping) {
		command_drop(&command);
		return CL_INVALID_VALUE;
	}
	bool was_mapped = sycl_event_wait_for(mapping->mapped, 1) == SYCL_SUCCESS;
	sycl_result r = SYCL_SUCCESS;
	if (mapping->writes && was_mapped)
		r = sycl_handler_copy_from_host(command.handler, pointer, memory->sycl,
						mapping->offset, mapping->bytes);
	mapping_free(mapping);
	return command_submit(&command, r, false, NULL);
}
