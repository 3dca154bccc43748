/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and sub-buffers. */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define ACCESS_FLAGS ((cl_mem_flags)(CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY))
#define POINTER_FLAGS                                                                              \
	((cl_mem_flags)(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))
#define HOST_FLAGS                                                                                 \
	((cl_mem_flags)(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))

static void call_destructors(cl_mem memory)
{
	void(CL_CALLBACK * call)(cl_mem, void *);
	void *user_data = NULL;
	while (destructor_take(&memory->destructors, &call, &user_data))
		call(memory, user_data);
}

void memory_end_later(cl_mem memory, bool (*try_end)(void *memory, uint64_t most_ns))
{
	if (try_end(memory, 0))
		return;
	memory->later = (struct late_end){NULL, memory, try_end};
	if (!callback_end_later(&memory->later))
		(void)try_end(memory, SYCL_FOREVER_NS);
}

static void buffer_end(cl_mem memory)
{
	if (memory->sycl)
		(void)sycl_buffer_release(memory->sycl);
	memory_end(memory);
}

static bool buffer_try_end(void *owner, uint64_t most_ns)
{
	cl_mem memory = owner;
	sycl_host_accessor accessor = NULL;
	sycl_result r = sycl_host_accessor_create_ranged(memory->sycl, SYCL_ACCESS_WRITE, 0, 0,
							 most_ns, &accessor);
	if (r == SYCL_ERROR_TIMEOUT)
		return false;
	if (r == SYCL_SUCCESS)
		(void)sycl_host_accessor_release(accessor);
	buffer_end(memory);
	return true;
}

static void buffer_destroy(struct object *object)
{
	cl_mem memory = (cl_mem)object;
	if (memory->sycl && memory->destructors)
		memory_end_later(memory, buffer_try_end);
	else
		buffer_end(memory);
}

void memory_end(cl_mem memory)
{
	call_destructors(memory);
	while (memory->mappings) {
		struct mapping *first = memory->mappings;
		memory->mappings = first->next;
		if (first->mapped)
			(void)sycl_event_release(first->mapped);
		free(first);
	}
	free(memory->shadow);
	pthread_mutex_destroy(&memory->lock);
	memory_unuse(memory->parent);
	object_unuse(&memory->context->head);
	free(memory);
}

static bool at_most_one(cl_mem_flags flags)
{
	return (flags & (flags - 1)) == 0;
}

cl_int memory_check_flags(cl_mem_flags flags, const void *host)
{
	const cl_mem_flags all =
		ACCESS_FLAGS | POINTER_FLAGS | HOST_FLAGS | CL_MEM_KERNEL_READ_AND_WRITE;
	const cl_mem_flags needs_host = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
	if (flags & ~all || !at_most_one(flags & ACCESS_FLAGS) || !at_most_one(flags & HOST_FLAGS))
		return CL_INVALID_VALUE;
	if (flags & CL_MEM_USE_HOST_PTR && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))
		return CL_INVALID_VALUE;
	return (host != NULL) == ((flags & needs_host) != 0) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

static cl_int check_size(cl_context context, size_t bytes)
{
	if (bytes == 0)
		return CL_INVALID_BUFFER_SIZE;
	for (cl_uint i = 0; i < context->device_count; i++)
		if (bytes <= context->devices[i]->max_alloc_bytes)
			return CL_SUCCESS;
	return CL_INVALID_BUFFER_SIZE;
}

cl_mem memory_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags)
{
	cl_mem memory = calloc(1, sizeof(*memory));
	if (!memory)
		return NULL;
	memory->context = context;
	memory->type = type;
	memory->flags = flags & ACCESS_FLAGS ? flags : flags | CL_MEM_READ_WRITE;
	pthread_mutex_init(&memory->lock, NULL);
	object_use(&context->head);
	return memory;
}

static cl_mem buffer_new(cl_context context, cl_mem_flags flags, size_t bytes)
{
	cl_mem memory = memory_new(context, CL_MEM_OBJECT_BUFFER, flags);
	if (memory)
		memory->bytes = bytes;
	return memory;
}

/* Where the contents lie, if the devices work there, too. The library's memory of a buffer stays
 * where it is until its end. Nothing uses the buffer yet, so this takes one round trip, and the
 * host becomes the one that wrote it last. */
static char *contents_of(cl_mem memory)
{
	sycl_host_accessor accessor = NULL;
	void *contents = NULL;
	if (!context_is_unified(memory->context) ||
	    sycl_host_accessor_create(memory->sycl, SYCL_ACCESS_READ_WRITE, &accessor) !=
		    SYCL_SUCCESS)
		return NULL;
	(void)sycl_host_accessor_get_pointer(accessor, &contents);
	(void)sycl_host_accessor_release(accessor);
	return contents;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context handle, cl_mem_flags flags, size_t bytes,
					       void *host, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_int code = memory_check_flags(flags, host);
	if (code == CL_SUCCESS)
		code = check_size(context, bytes);
	size_t rest = 0;
	bool on_svm = flags & CL_MEM_USE_HOST_PTR && svm_find(context, host, &rest);
	if (code == CL_SUCCESS && on_svm && bytes > rest)
		code = CL_INVALID_BUFFER_SIZE;
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	cl_mem memory = buffer_new(context, flags, bytes);
	if (!memory)
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	sycl_result r = SYCL_SUCCESS;
	if (on_svm)
		memory->svm = host;
	else
		r = sycl_buffer_create(context->platform->sycl, host, bytes,
				       host ? SYCL_HOST_CONST : SYCL_HOST_NONE, &memory->sycl);
	if (r != SYCL_SUCCESS) {
		buffer_destroy(&memory->head);
		code = r == SYCL_ERROR_QUOTA ? CL_MEM_OBJECT_ALLOCATION_FAILURE : code_of(r);
		return made(NULL, code, code_out);
	}
	if (flags & CL_MEM_USE_HOST_PTR)
		memory->host = host;
	if (flags & CL_MEM_ALLOC_HOST_PTR)
		memory->direct = contents_of(memory);
	object_publish(&memory->head, OBJECT_MEMORY, buffer_destroy);
	return made(memory, CL_SUCCESS, code_out);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context handle,
							     const cl_mem_properties *properties,
							     cl_mem_flags flags, size_t bytes,
							     void *host, cl_int *code_out)
{
	if (!FIND_CONTEXT(handle))
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	if (properties && properties[0] != 0) /* there are none */
		return made(NULL, CL_INVALID_PROPERTY, code_out);
	cl_mem memory = clCreateBuffer(handle, flags, bytes, host, code_out);
	if (memory && properties)
		memory->properties_bytes = sizeof(*properties);
	return memory;
}

/* A part inherits what it does not say itself. */
static cl_int sub_flags(cl_mem parent, cl_mem_flags flags, cl_mem_flags *flags_out)
{
	const cl_mem_flags theirs = parent->flags;
	if (flags & ~(ACCESS_FLAGS | HOST_FLAGS) || !at_most_one(flags & ACCESS_FLAGS) ||
	    !at_most_one(flags & HOST_FLAGS))
		return CL_INVALID_VALUE;
	if ((theirs & CL_MEM_WRITE_ONLY && flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
	    (theirs & CL_MEM_READ_ONLY && flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) ||
	    (theirs & CL_MEM_HOST_WRITE_ONLY && flags & CL_MEM_HOST_READ_ONLY) ||
	    (theirs & CL_MEM_HOST_READ_ONLY && flags & CL_MEM_HOST_WRITE_ONLY) ||
	    (theirs & CL_MEM_HOST_NO_ACCESS &&
	     flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)))
		return CL_INVALID_VALUE;
	*flags_out = flags | (theirs & POINTER_FLAGS);
	if (!(flags & ACCESS_FLAGS))
		*flags_out |= theirs & ACCESS_FLAGS;
	if (!(flags & HOST_FLAGS))
		*flags_out |= theirs & HOST_FLAGS;
	return CL_SUCCESS;
}

static cl_int check_region(cl_mem parent, const cl_buffer_region *region)
{
	if (region->origin > parent->bytes || region->size > parent->bytes - region->origin)
		return CL_INVALID_VALUE;
	if (region->size == 0)
		return CL_INVALID_BUFFER_SIZE;
	for (cl_uint i = 0; i < parent->context->device_count; i++)
		if (region->origin % (parent->context->devices[i]->align_bits / 8) == 0)
			return CL_SUCCESS;
	return CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateSubBuffer(cl_mem handle, cl_mem_flags flags,
						  cl_buffer_create_type type, const void *info,
						  cl_int *code_out)
{
	cl_mem parent = FIND_MEMORY(handle);
	const cl_buffer_region *region = info;
	if (!parent || parent->type != CL_MEM_OBJECT_BUFFER || parent->parent)
		return made(NULL, CL_INVALID_MEM_OBJECT, code_out);
	cl_int code = sub_flags(parent, flags, &flags);
	if (code == CL_SUCCESS && (type != CL_BUFFER_CREATE_TYPE_REGION || !region))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = check_region(parent, region);
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	cl_mem memory = buffer_new(parent->context, flags, region->size);
	if (!memory)
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	memory->parent = parent;
	memory->origin = region->origin;
	if (parent->svm)
		memory->svm = parent->svm + region->origin;
	memory_use(parent);
	sycl_result r = SYCL_SUCCESS;
	if (!parent->svm)
		r = sycl_buffer_create_sub(parent->sycl, region->origin, region->size,
					   &memory->sycl);
	if (r != SYCL_SUCCESS) {
		buffer_destroy(&memory->head);
		return made(NULL, code_of(r), code_out);
	}
	object_publish(&memory->head, OBJECT_MEMORY, buffer_destroy);
	return made(memory, CL_SUCCESS, code_out);
}
