/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unified shared memory as cl_intel_unified_shared_memory has it: the library's USM of all three
 * kinds. Commands on it are those of shared virtual memory. Hints where memory should lie have no
 * effect, and are not kept.
 */
#include "svm/svm.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT_MAX = 4096 };

static bool context_has_kind(cl_context context, cl_device_id device, sycl_usm_kind kind)
{
	if (kind != SYCL_USM_HOST)
		return device_usm_capabilities(device, kind) != 0;
	for (cl_uint i = 0; i < context->device_count; i++)
		if (device_usm_capabilities(context->devices[i], kind) != 0)
			return true;
	return false;
}

/* The list of properties: flags alone, which are hints. */
static cl_int check_properties(const cl_mem_properties_intel *list, sycl_usm_kind kind)
{
	const cl_mem_alloc_flags_intel placements = CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL |
						    CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
	cl_mem_alloc_flags_intel all = CL_MEM_ALLOC_WRITE_COMBINED_INTEL;
	bool seen = false;
	if (kind == SYCL_USM_SHARED)
		all |= placements;
	for (; list && list[0]; list += 2) {
		if (list[0] != CL_MEM_ALLOC_FLAGS_INTEL || seen || list[1] & ~all ||
		    (list[1] & placements) == placements)
			return CL_INVALID_PROPERTY;
		seen = true;
	}
	return CL_SUCCESS;
}

static cl_int check_size(cl_context context, size_t bytes, cl_uint alignment)
{
	if ((alignment & (alignment - 1)) != 0 || alignment > ALIGNMENT_MAX)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < context->device_count; i++)
		if (bytes == 0 || bytes > context->devices[i]->max_alloc_bytes)
			return CL_INVALID_BUFFER_SIZE;
	return CL_SUCCESS;
}

/* What all three kinds do. Host memory has no device. */
static void *allocate(cl_context context, cl_device_id device, sycl_usm_kind kind,
		      const cl_mem_properties_intel *properties, size_t bytes, cl_uint alignment,
		      cl_int *code_out)
{
	void *pointer = NULL;
	cl_int code = context_has_kind(context, device, kind) ? CL_SUCCESS : CL_INVALID_OPERATION;
	if (code == CL_SUCCESS)
		code = check_properties(properties, kind);
	if (code == CL_SUCCESS)
		code = check_size(context, bytes, alignment);
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	const bool is_reachable = kind == SYCL_USM_DEVICE && reachable_is_possible(device);
	sycl_result r = sycl_usm_malloc(context->sycl, device ? device->sycl : NULL,
					is_reachable ? SYCL_USM_SHARED : kind, bytes,
					alignment ? alignment : sizeof(cl_long16), &pointer);
	if (r == SYCL_SUCCESS && is_reachable && !reachable_add(pointer)) {
		(void)sycl_usm_free(context->sycl, pointer);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	code = r == SYCL_ERROR_MEMORY_ALLOCATION || r == SYCL_ERROR_QUOTA ? CL_OUT_OF_RESOURCES
									  : code_of(r);
	return made(pointer, code, code_out);
}

CL_API_ENTRY void *CL_API_CALL clHostMemAllocINTEL(cl_context handle,
						   const cl_mem_properties_intel *properties,
						   size_t bytes, cl_uint alignment,
						   cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	return allocate(context, NULL, SYCL_USM_HOST, properties, bytes, alignment, code_out);
}

CL_API_ENTRY void *CL_API_CALL clDeviceMemAllocINTEL(cl_context handle, cl_device_id device_handle,
						     const cl_mem_properties_intel *properties,
						     size_t bytes, cl_uint alignment,
						     cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	cl_device_id device = FIND_DEVICE(device_handle);
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	if (!device || !context_has_device(context, device))
		return made(NULL, CL_INVALID_DEVICE, code_out);
	return allocate(context, device, SYCL_USM_DEVICE, properties, bytes, alignment, code_out);
}

/* Without a device it is the first one's, which all of the context reach, too. */
CL_API_ENTRY void *CL_API_CALL clSharedMemAllocINTEL(cl_context handle, cl_device_id device_handle,
						     const cl_mem_properties_intel *properties,
						     size_t bytes, cl_uint alignment,
						     cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_device_id device = device_handle ? FIND_DEVICE(device_handle) : context->devices[0];
	if (!device || !context_has_device(context, device))
		return made(NULL, CL_INVALID_DEVICE, code_out);
	return allocate(context, device, SYCL_USM_SHARED, properties, bytes, alignment, code_out);
}

/* Commands that run keep the memory. */
CL_API_ENTRY cl_int CL_API_CALL clMemFreeINTEL(cl_context handle, void *pointer)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return CL_INVALID_CONTEXT;
	if (!pointer)
		return CL_SUCCESS;
	/* Before the memory may be somebody else's. */
	const bool was_reachable = reachable_has(pointer);
	reachable_remove(pointer);
	if (sycl_usm_free(context->sycl, pointer) == SYCL_SUCCESS)
		return CL_SUCCESS;
	if (was_reachable)
		(void)reachable_add(pointer);
	return CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clMemBlockingFreeINTEL(cl_context handle, void *pointer)
{
	cl_context context = object_hold(handle, OBJECT_CONTEXT);
	if (!context)
		return CL_INVALID_CONTEXT;
	if (pointer)
		queue_wait_all(context);
	cl_int code = clMemFreeINTEL(handle, pointer);
	object_unuse(&context->head);
	return code;
}

/* Host memory, and memory that is none, has no device. */
static cl_device_id device_of(cl_context context, const void *pointer, sycl_usm_kind kind)
{
	sycl_device sycl = NULL;
	cl_device_id device = NULL;
	if (kind == SYCL_USM_UNKNOWN || kind == SYCL_USM_HOST ||
	    sycl_usm_get_pointer_device(context->sycl, pointer, &sycl) != SYCL_SUCCESS)
		return NULL;
	for (cl_uint i = 0; i < context->device_count && !device; i++)
		if (context->devices[i]->sycl == sycl)
			device = context->devices[i];
	(void)sycl_device_release(sycl);
	return device;
}

CL_API_ENTRY cl_int CL_API_CALL clGetMemAllocInfoINTEL(cl_context handle, const void *pointer,
						       cl_mem_info_intel what, size_t size,
						       void *value, size_t *bytes_out)
{
	static const cl_unified_shared_memory_type_intel types[] = {
		[SYCL_USM_UNKNOWN] = CL_MEM_TYPE_UNKNOWN_INTEL,
		[SYCL_USM_DEVICE] = CL_MEM_TYPE_DEVICE_INTEL,
		[SYCL_USM_HOST] = CL_MEM_TYPE_HOST_INTEL,
		[SYCL_USM_SHARED] = CL_MEM_TYPE_SHARED_INTEL,
	};
	cl_context context = FIND_CONTEXT(handle);
	struct sycl_usm_info info = SYCL_USM_INFO_INIT;
	if (!context)
		return CL_INVALID_CONTEXT;
	if (!usm_find(context, pointer, &info))
		info = (struct sycl_usm_info)SYCL_USM_INFO_INIT;
	const bool is_device = info.kind == SYCL_USM_SHARED && reachable_has(info.base);
	switch (what) {
	case CL_MEM_ALLOC_TYPE_INTEL:
		return answer_uint(ANSWER, types[is_device ? SYCL_USM_DEVICE : info.kind]);
	case CL_MEM_ALLOC_BASE_PTR_INTEL:
		return answer_handle(ANSWER, info.base);
	case CL_MEM_ALLOC_SIZE_INTEL:
		return answer_size(ANSWER, info.size_bytes);
	case CL_MEM_ALLOC_DEVICE_INTEL:
		return answer_handle(ANSWER, device_of(context, pointer, (sycl_usm_kind)info.kind));
	case CL_MEM_ALLOC_FLAGS_INTEL:
		return answer_ulong(ANSWER, 0);
	default:
		return CL_INVALID_VALUE;
	}
}

/* What all commands check first. */
static cl_int usm_begin(struct command *command, cl_command_queue handle, cl_command_type type,
			cl_uint count, const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(handle);
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (!device_has_usm(queue->device))
		return CL_INVALID_OPERATION;
	return command_begin(command, queue, type, count, events, event_out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMemcpyINTEL(cl_command_queue queue, cl_bool blocking,
						     void *to, const void *from, size_t bytes,
						     cl_uint count, const cl_event *events,
						     cl_event *event_out)
{
	struct command command;
	cl_int code = usm_begin(&command, queue, CL_COMMAND_MEMCPY_INTEL, count, events, event_out);
	return code == CL_SUCCESS ? svm_submit_copy(&command, blocking, to, from, bytes) : code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMemFillINTEL(cl_command_queue queue, void *pointer,
						      const void *pattern, size_t pattern_bytes,
						      size_t bytes, cl_uint count,
						      const cl_event *events, cl_event *event_out)
{
	struct command command;
	cl_int code =
		usm_begin(&command, queue, CL_COMMAND_MEMFILL_INTEL, count, events, event_out);
	return code == CL_SUCCESS
		       ? svm_submit_fill(&command, pointer, pattern, pattern_bytes, bytes)
		       : code;
}

/* A hint about some bytes at a pointer: only a place in the order of commands. */
static cl_int submit_hint(cl_command_queue queue, cl_command_type type, const void *pointer,
			  bool is_good, cl_uint count, const cl_event *events, cl_event *event_out)
{
	struct command command;
	cl_int code = usm_begin(&command, queue, type, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	if (!pointer || !is_good) {
		command_drop(&command);
		return CL_INVALID_VALUE;
	}
	return command_submit(&command, SYCL_SUCCESS, false, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemINTEL(cl_command_queue queue,
							 const void *pointer, size_t bytes,
							 cl_mem_migration_flags flags,
							 cl_uint count, const cl_event *events,
							 cl_event *event_out)
{
	const cl_mem_migration_flags all =
		CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
	(void)bytes;
	return submit_hint(queue, CL_COMMAND_MIGRATEMEM_INTEL, pointer, !(flags & ~all), count,
			   events, event_out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMemAdviseINTEL(cl_command_queue queue, const void *pointer,
							size_t bytes, cl_mem_advice_intel advice,
							cl_uint count, const cl_event *events,
							cl_event *event_out)
{
	(void)bytes;
	(void)advice;
	return submit_hint(queue, CL_COMMAND_MEMADVISE_INTEL, pointer, true, count, events,
			   event_out);
}
