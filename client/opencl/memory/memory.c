/* SPDX-License-Identifier: Apache-2.0 */
/* Memory objects of all types: their references, queries and ends. */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

void memory_use(cl_mem memory)
{
	object_use(&memory->head);
}

void memory_unuse(cl_mem memory)
{
	if (memory)
		object_unuse(&memory->head);
}

sycl_access_mode memory_mode(cl_mem memory)
{
	if (memory->flags & CL_MEM_READ_ONLY)
		return SYCL_ACCESS_READ;
	return memory->flags & CL_MEM_WRITE_ONLY ? SYCL_ACCESS_WRITE : SYCL_ACCESS_READ_WRITE;
}

bool memory_is_image(cl_mem memory)
{
	return memory->type != CL_MEM_OBJECT_BUFFER && memory->type != CL_MEM_OBJECT_PIPE;
}

cl_int memory_check_host(cl_mem memory, unsigned use)
{
	const cl_mem_flags no_read = CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY;
	const cl_mem_flags no_write = CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY;
	if ((use & HOST_READS && memory->flags & no_read) ||
	    (use & HOST_WRITES && memory->flags & no_write))
		return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

/* The size of the memory in which an image is mapped: with the pitches of its creation. */
static size_t shadow_bytes(cl_mem memory)
{
	if (!memory_is_image(memory) || memory->parent)
		return memory->bytes;
	return memory->extent[2] > 1 || memory->type == CL_MEM_OBJECT_IMAGE1D_ARRAY
		       ? memory->slice_pitch *
				 (memory->extent[2] > 1 ? memory->extent[2] : memory->extent[1])
		       : memory->row_pitch * memory->extent[1];
}

bool memory_is_direct(cl_mem memory)
{
	if (memory_is_image(memory))
		return false;
	return memory->parent ? memory->parent->direct != NULL : memory->direct != NULL;
}

enum { SHADOW_ALIGNMENT = 4096 };

/* Where mapped parts lie: the contents, the program's memory, or memory of the driver for the whole
 * buffer, so that a part has one address however often it is mapped. An image of a buffer may have
 * other pitches than the buffer's bytes, so it has memory of its own. */
void *memory_shadow(cl_mem memory)
{
	if (memory->parent) {
		char *whole = memory_shadow(memory->parent);
		return whole ? whole + memory->origin : NULL;
	}
	if (memory->host)
		return memory->host;
	if (memory->direct)
		return memory->direct;
	pthread_mutex_lock(&memory->lock);
	if (!memory->shadow) {
		size_t bytes = (shadow_bytes(memory) + SHADOW_ALIGNMENT - 1) &
			       ~(size_t)(SHADOW_ALIGNMENT - 1);
		memory->shadow = aligned_alloc(SHADOW_ALIGNMENT, bytes);
	}
	void *shadow = memory->shadow;
	pthread_mutex_unlock(&memory->lock);
	return shadow;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainMemObject(cl_mem memory)
{
	return object_retain(memory, OBJECT_MEMORY) ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem memory)
{
	return object_release(memory, OBJECT_MEMORY) ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_int CL_API_CALL clSetMemObjectDestructorCallback(
	cl_mem handle, void(CL_CALLBACK *notify)(cl_mem, void *), void *user_data)
{
	cl_mem memory = FIND_MEMORY(handle);
	if (!memory)
		return CL_INVALID_MEM_OBJECT;
	if (!notify)
		return CL_INVALID_VALUE;
	return destructor_add(&memory->lock, &memory->destructors, &notify, user_data);
}

static void *host_of(cl_mem memory)
{
	if (memory->parent && memory->parent->host)
		return (char *)memory->parent->host + memory->origin;
	return memory->host;
}

CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem handle, cl_mem_info what, size_t size,
						   void *value, size_t *bytes_out)
{
	cl_mem memory = FIND_MEMORY(handle);
	if (!memory)
		return CL_INVALID_MEM_OBJECT;
	switch (what) {
	case CL_MEM_TYPE:
		return answer_uint(ANSWER, memory->type);
	case CL_MEM_FLAGS:
		return answer_ulong(ANSWER, memory->flags);
	case CL_MEM_SIZE:
		return answer_size(ANSWER, memory->bytes);
	case CL_MEM_HOST_PTR:
		return answer_handle(ANSWER, host_of(memory));
	case CL_MEM_MAP_COUNT:
		return answer_uint(ANSWER, memory->map_count);
	case CL_MEM_REFERENCE_COUNT:
		return answer_uint(ANSWER, object_references(&memory->head));
	case CL_MEM_CONTEXT:
		return answer_handle(ANSWER, memory->context);
	case CL_MEM_ASSOCIATED_MEMOBJECT:
		return answer_handle(ANSWER, memory->parent);
	case CL_MEM_OFFSET:
		return answer_size(ANSWER, memory->origin);
	case CL_MEM_USES_SVM_POINTER:
		return answer_uint(ANSWER, memory->svm != NULL);
	case CL_MEM_PROPERTIES:
		return answer_bytes(ANSWER, memory->properties, memory->properties_bytes);
	default:
		return CL_INVALID_VALUE;
	}
}
