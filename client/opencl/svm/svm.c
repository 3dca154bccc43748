/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared virtual memory: shared USM of the library, which lies at the same address in the program
 * and in the engine, in the same pages. So nothing is copied: a map or unmap is only a place in the
 * order of commands. Memory that the driver did not allocate cannot be shared that way, as the
 * engine is another process.
 */
#include "svm/svm.h"

#include <stdlib.h>
#include <string.h>

cl_device_svm_capabilities svm_context_capabilities(cl_context context)
{
	cl_device_svm_capabilities all = ~(cl_device_svm_capabilities)0;
	for (cl_uint i = 0; i < context->device_count; i++)
		all &= device_svm_capabilities(context->devices[i]);
	return all;
}

static bool flags_are_good(cl_context context, cl_svm_mem_flags flags)
{
	const cl_svm_mem_flags access =
		flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
	const cl_device_svm_capabilities has = svm_context_capabilities(context);
	if (flags & ~(access | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS) ||
	    (access & (access - 1)) != 0 || has == 0)
		return false;
	if (flags & CL_MEM_SVM_ATOMICS &&
	    (!(flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) || !(has & CL_DEVICE_SVM_ATOMICS)))
		return false;
	return !(flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) || has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
}

CL_API_ENTRY void *CL_API_CALL clSVMAlloc(cl_context handle, cl_svm_mem_flags flags, size_t bytes,
					  cl_uint alignment)
{
	cl_context context = FIND_CONTEXT(handle);
	void *pointer = NULL;
	if (!context || bytes == 0 || (alignment & (alignment - 1)) != 0 ||
	    !flags_are_good(context, flags))
		return NULL;
	for (cl_uint i = 0; i < context->device_count; i++)
		if (bytes > context->devices[i]->max_alloc_bytes)
			return NULL;
	(void)sycl_usm_malloc(context->sycl, context->devices[0]->sycl, SYCL_USM_SHARED, bytes,
			      alignment ? alignment : sizeof(cl_long16), &pointer);
	return pointer;
}

CL_API_ENTRY void CL_API_CALL clSVMFree(cl_context handle, void *pointer)
{
	cl_context context = FIND_CONTEXT(handle);
	if (context && pointer)
		(void)sycl_usm_free(context->sycl, pointer);
}

bool usm_find(cl_context context, const void *pointer, struct sycl_usm_info *info)
{
	return pointer && sycl_usm_get_pointer_info(context->sycl, pointer, info) == SYCL_SUCCESS &&
	       info->kind != SYCL_USM_UNKNOWN;
}

bool svm_find(cl_context context, const void *pointer, size_t *rest_out)
{
	struct sycl_usm_info info = SYCL_USM_INFO_INIT;
	if (svm_context_capabilities(context) == 0 || !usm_find(context, pointer, &info) ||
	    info.kind == SYCL_USM_DEVICE)
		return false;
	if (rest_out)
		*rest_out = info.size_bytes - (size_t)((const char *)pointer - (char *)info.base);
	return true;
}

/* What all commands check first. */
static cl_int svm_begin(struct command *command, cl_command_queue handle, cl_command_type type,
			cl_uint count, const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(handle);
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (device_svm_capabilities(queue->device) == 0)
		return CL_INVALID_OPERATION;
	return command_begin(command, queue, type, count, events, event_out);
}

/* The pointers that a command frees, or the function of the program that does it. */
struct freeing {
	cl_command_queue queue;
	void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void **, void *);
	void *user_data;
	cl_uint count;
	void *pointers[];
};

static sycl_result free_now(sycl_host_task task, void *argument)
{
	struct freeing *freeing = argument;
	(void)task;
	if (freeing->function)
		freeing->function(freeing->queue, freeing->count, freeing->pointers,
				  freeing->user_data);
	for (cl_uint i = 0; !freeing->function && i < freeing->count; i++)
		clSVMFree(freeing->queue->context, freeing->pointers[i]);
	return SYCL_SUCCESS;
}

static void freeing_end(void *argument)
{
	struct freeing *freeing = argument;
	object_unuse(&freeing->queue->head);
	free(freeing);
}

CL_API_ENTRY cl_int CL_API_CALL
clEnqueueSVMFree(cl_command_queue queue, cl_uint pointer_count, void **pointers,
		 void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void **, void *),
		 void *user_data, cl_uint count, const cl_event *events, cl_event *event_out)
{
	struct command command;
	cl_int code = svm_begin(&command, queue, CL_COMMAND_SVM_FREE, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	struct freeing *freeing = NULL;
	code = (pointer_count == 0) != (pointers == NULL) ? CL_INVALID_VALUE : CL_SUCCESS;
	if (code == CL_SUCCESS) {
		freeing = calloc(1, sizeof(*freeing) + pointer_count * sizeof(void *));
		code = freeing ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
	}
	if (code != CL_SUCCESS) {
		command_drop(&command);
		return code;
	}
	freeing->queue = command.queue;
	freeing->function = function;
	freeing->user_data = user_data;
	freeing->count = pointer_count;
	if (pointer_count > 0)
		memcpy(freeing->pointers, pointers, pointer_count * sizeof(void *));
	object_use(&command.queue->head);
	sycl_result r = sycl_handler_host_task(command.handler, free_now, freeing, freeing_end);
	if (r != SYCL_SUCCESS)
		freeing_end(freeing);
	return command_submit(&command, r, false, NULL);
}

/* A copy between two places of the program that are no shared memory. */
struct plain_copy {
	void *to;
	const void *from;
	size_t bytes;
};

static sycl_result copy_now(sycl_host_task task, void *argument)
{
	const struct plain_copy *copy = argument;
	(void)task;
	memcpy(copy->to, copy->from, copy->bytes);
	return SYCL_SUCCESS;
}

static sycl_result copy_plain(sycl_handler handler, void *to, const void *from, size_t bytes)
{
	struct plain_copy *copy = malloc(sizeof(*copy));
	if (!copy)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	*copy = (struct plain_copy){to, from, bytes};
	sycl_result r = sycl_handler_host_task(handler, copy_now, copy, free);
	if (r != SYCL_SUCCESS)
		free(copy);
	return r;
}

cl_int svm_submit_copy(struct command *command, bool blocking, void *to, const void *from,
		       size_t bytes)
{
	const uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
	struct sycl_usm_info info = SYCL_USM_INFO_INIT;
	cl_int code = CL_SUCCESS;
	if (!to || !from)
		code = CL_INVALID_VALUE;
	else if (a - b < bytes || b - a < bytes)
		code = CL_MEM_COPY_OVERLAP;
	if (code != CL_SUCCESS) {
		command_drop(command);
		return code;
	}
	const cl_context context = command->queue->context;
	bool is_shared = usm_find(context, to, &info) || usm_find(context, from, &info);
	sycl_result r = is_shared ? sycl_handler_memcpy(command->handler, to, from, bytes)
				  : copy_plain(command->handler, to, from, bytes);
	return command_submit(command, r, blocking, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking,
						   void *to, const void *from, size_t bytes,
						   cl_uint count, const cl_event *events,
						   cl_event *event_out)
{
	struct command command;
	cl_int code = svm_begin(&command, queue, CL_COMMAND_SVM_MEMCPY, count, events, event_out);
	return code == CL_SUCCESS ? svm_submit_copy(&command, blocking, to, from, bytes) : code;
}

cl_int svm_submit_fill(struct command *command, void *pointer, const void *pattern,
		       size_t pattern_bytes, size_t bytes)
{
	if (!pointer || !pattern || pattern_bytes == 0 || pattern_bytes > 128 ||
	    (pattern_bytes & (pattern_bytes - 1)) != 0 || bytes % pattern_bytes != 0 ||
	    (uintptr_t)pointer % pattern_bytes != 0) {
		command_drop(command);
		return CL_INVALID_VALUE;
	}
	sycl_result r =
		sycl_handler_usm_fill(command->handler, pointer, bytes, pattern, pattern_bytes);
	return command_submit(command, r, false, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *pointer,
						    const void *pattern, size_t pattern_bytes,
						    size_t bytes, cl_uint count,
						    const cl_event *events, cl_event *event_out)
{
	struct command command;
	cl_int code = svm_begin(&command, queue, CL_COMMAND_SVM_MEMFILL, count, events, event_out);
	return code == CL_SUCCESS
		       ? svm_submit_fill(&command, pointer, pattern, pattern_bytes, bytes)
		       : code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking,
						cl_map_flags flags, void *pointer, size_t bytes,
						cl_uint count, const cl_event *events,
						cl_event *event_out)
{
	const cl_map_flags all = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
	struct command command;
	cl_int code = svm_begin(&command, queue, CL_COMMAND_SVM_MAP, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	if (!pointer || bytes == 0 || flags & ~all ||
	    (flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE))) {
		command_drop(&command);
		return CL_INVALID_VALUE;
	}
	return command_submit(&command, SYCL_SUCCESS, blocking, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer,
						  cl_uint count, const cl_event *events,
						  cl_event *event_out)
{
	struct command command;
	cl_int code = svm_begin(&command, queue, CL_COMMAND_SVM_UNMAP, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	if (!pointer) {
		command_drop(&command);
		return CL_INVALID_VALUE;
	}
	return command_submit(&command, SYCL_SUCCESS, false, NULL);
}

static cl_int check_parts(cl_context context, cl_uint count, const void **pointers,
			  const size_t *sizes, cl_mem_migration_flags flags)
{
	const cl_mem_migration_flags all =
		CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
	if (count == 0 || !pointers || flags & ~all)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < count; i++) {
		size_t rest = 0;
		if (!svm_find(context, pointers[i], &rest) || (sizes && sizes[i] > rest))
			return CL_INVALID_VALUE;
	}
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue,
						       cl_uint pointer_count, const void **pointers,
						       const size_t *sizes,
						       cl_mem_migration_flags flags, cl_uint count,
						       const cl_event *events, cl_event *event_out)
{
	struct command command;
	cl_int code =
		svm_begin(&command, queue, CL_COMMAND_SVM_MIGRATE_MEM, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	code = check_parts(command.queue->context, pointer_count, pointers, sizes, flags);
	if (code != CL_SUCCESS) {
		command_drop(&command);
		return code;
	}
	return command_submit(&command, SYCL_SUCCESS, false, NULL);
}
