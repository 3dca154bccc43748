/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped parts of buffers and images: a read into memory of the process, and a write from there.
 * The program may not touch the memory before the map is complete, so an unmap before that writes
 * nothing. Where the contents themselves lie in memory of the process, nothing is copied.
 */
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

static bool flags_are_good(cl_map_flags flags)
{
	const cl_map_flags all = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
	return !(flags & ~all) &&
	       !(flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE));
}

static unsigned use_of(cl_map_flags flags)
{
	unsigned use = flags & CL_MAP_READ ? HOST_READS : 0;
	if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
		use |= HOST_WRITES;
	return use;
}

static cl_int check_map(cl_command_queue queue, cl_mem memory, cl_map_flags flags, size_t offset,
			size_t bytes)
{
	cl_int code = buffer_check_host(queue, memory, use_of(flags));
	if (code != CL_SUCCESS)
		return code;
	return flags_are_good(flags) && bytes > 0 && is_inside(offset, bytes, memory->bytes)
		       ? CL_SUCCESS
		       : CL_INVALID_VALUE;
}

/* `offset`: of the first byte in the memory where the object is mapped. */
static struct mapping *mapping_new(cl_mem memory, cl_map_flags flags, size_t offset)
{
	char *shadow = memory_shadow(memory);
	struct mapping *mapping = shadow ? calloc(1, sizeof(*mapping)) : NULL;
	if (!mapping)
		return NULL;
	mapping->pointer = shadow + offset;
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

/* Sends the read, and puts the mapping on the list. What does not block counts as a read. */
static void *map(struct command *command, cl_mem memory, struct mapping *mapping, sycl_result r,
		 bool blocking, cl_int *code_out)
{
	cl_int code = command_submit(command, r, blocking, &mapping->mapped);
	if (code != CL_SUCCESS) {
		mapping_free(mapping);
		return made(NULL, code, code_out);
	}
	void *pointer = mapping->pointer;
	bool is_noted = !blocking && !memory_is_direct(memory) &&
			sycl_event_retain(mapping->mapped) == SYCL_SUCCESS;
	const sycl_event mapped = mapping->mapped;
	mapping_add(memory, mapping);
	if (is_noted) /* the program may not write from there before, so no bytes */
		late_note_read(pointer, 0, mapped);
	return made(pointer, CL_SUCCESS, code_out);
}

/* The part of a buffer is to lie where it is mapped. */
static sycl_result bring(sycl_handler handler, cl_mem memory, const struct mapping *mapping)
{
	if (memory_is_direct(memory))
		return sycl_handler_update_host_part(handler, memory->sycl, mapping->offset,
						     mapping->bytes);
	return sycl_handler_copy_to_host(handler, memory->sycl, mapping->offset, mapping->pointer,
					 mapping->bytes);
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
	struct mapping *mapping = mapping_new(memory, flags, offset);
	if (!mapping) {
		command_drop(&command);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	mapping->offset = offset;
	mapping->bytes = bytes;
	sycl_result r = SYCL_SUCCESS;
	if (!memory->svm && !(flags & CL_MAP_WRITE_INVALIDATE_REGION))
		r = bring(command.handler, memory, mapping);
	return map(&command, memory, mapping, r, blocking, code_out);
}

/* The pitches of the mapped memory, as the library counts them. */
static struct image_pitches mapped_pitches(cl_mem image, const size_t *region)
{
	bool is_1d_array = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	return (struct image_pitches){.row = is_1d_array ? image->slice_pitch : image->row_pitch,
				      .slice = region[2] > 1 ? image->slice_pitch : 0};
}

static bool has_slice_pitch(cl_mem image)
{
	return image->type == CL_MEM_OBJECT_IMAGE3D || image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
	       image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

static cl_int check_map_image(cl_command_queue queue, cl_mem image, cl_map_flags flags,
			      const size_t *origin, const size_t *region, const size_t *row_out,
			      const size_t *slice_out)
{
	cl_int code = image_check_host(queue, image, use_of(flags));
	if (code == CL_SUCCESS)
		code = image_check_region(image, origin, region);
	if (code == CL_SUCCESS &&
	    (!flags_are_good(flags) || !row_out || (has_slice_pitch(image) && !slice_out)))
		code = CL_INVALID_VALUE;
	return code;
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue_handle, cl_mem image,
						 cl_bool blocking, cl_map_flags flags,
						 const size_t *origin, const size_t *region,
						 size_t *row_out, size_t *slice_out, cl_uint count,
						 const cl_event *events, cl_event *event_out,
						 cl_int *code_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return made(NULL, CL_INVALID_COMMAND_QUEUE, code_out);
	cl_int code = check_map_image(queue, image, flags, origin, region, row_out, slice_out);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_MAP_IMAGE, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	struct mapping *mapping =
		mapping_new(image, flags, image_offset(image, origin[0], origin[1], origin[2]));
	if (!mapping) {
		command_drop(&command);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	memcpy(mapping->at, origin, sizeof(mapping->at));
	memcpy(mapping->region, region, sizeof(mapping->region));
	const struct image_pitches pitches = mapped_pitches(image, region);
	sycl_result r = SYCL_SUCCESS;
	if (!(flags & CL_MAP_WRITE_INVALIDATE_REGION))
		r = image_read(command.handler, image, origin, region, &pitches, mapping->pointer);
	*row_out = image->row_pitch;
	if (slice_out)
		*slice_out = has_slice_pitch(image) ? image->slice_pitch : 0;
	return map(&command, image, mapping, r, blocking, code_out);
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

static sycl_result write_back(sycl_handler handler, cl_mem memory, const struct mapping *mapping)
{
	if (!memory_is_image(memory))
		return sycl_handler_copy_from_host(handler, mapping->pointer, memory->sycl,
						   mapping->offset, mapping->bytes);
	const struct image_pitches pitches = mapped_pitches(memory, mapping->region);
	return image_write(handler, memory, mapping->at, mapping->region, &pitches,
			   mapping->pointer);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue_handle,
							cl_mem memory, void *pointer, cl_uint count,
							const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = FIND_MEMORY(memory) && memory_is_image(memory) ? image_check(queue, memory)
								     : buffer_check(queue, memory);
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
	if (mapping->writes && was_mapped && !memory->svm && !memory_is_direct(memory))
		r = write_back(command.handler, memory, mapping);
	mapping_free(mapping);
	return command_submit(&command, r, false, NULL);
}
