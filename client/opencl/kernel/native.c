/* SPDX-License-Identifier: Apache-2.0 */
/* Native kernels: functions of the program as commands. They are host tasks of the library, so one
 * runs in whichever call of the program waits or asks for a status. */
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORIES_MAX = 1024 }; /* accessors of a host task */

typedef void(CL_CALLBACK *native_function)(void *);

/* A copy of what the program passed. The arguments follow. */
struct native {
	native_function function;
	cl_uint count;
	size_t places[MEMORIES_MAX]; /* where the address of each buffer belongs */
	char *svm[MEMORIES_MAX];     /* that address, or NULL: an accessor has it */
	_Alignas(16) char arguments[];
};

static sycl_result run(sycl_host_task task, void *pointer)
{
	struct native *native = pointer;
	sycl_result r = SYCL_SUCCESS;
	for (cl_uint i = 0; i < native->count && r == SYCL_SUCCESS; i++) {
		void *address = native->svm[i];
		if (!address)
			r = sycl_host_task_get_pointer(task, i, &address);
		memcpy(native->arguments + native->places[i], &address, sizeof(address));
	}
	if (r == SYCL_SUCCESS)
		native->function(native->arguments);
	return r;
}

static cl_int check_lists(native_function function, const void *arguments, size_t bytes,
			  cl_uint count, const cl_mem *memories, const void **places)
{
	if (!function || (arguments == NULL) != (bytes == 0) || (count > 0 && !arguments))
		return CL_INVALID_VALUE;
	if ((count == 0) != (memories == NULL) || (count == 0) != (places == NULL))
		return CL_INVALID_VALUE;
	if (count > MEMORIES_MAX)
		return CL_OUT_OF_RESOURCES;
	for (cl_uint i = 0; i < count; i++) {
		size_t offset = (size_t)((uintptr_t)places[i] - (uintptr_t)arguments);
		if (!is_inside(offset, sizeof(void *), bytes))
			return CL_INVALID_VALUE;
	}
	return CL_SUCCESS;
}

static cl_int check_memories(cl_command_queue queue, cl_uint count, const cl_mem *memories)
{
	cl_int code = CL_SUCCESS;
	for (cl_uint i = 0; i < count && code == CL_SUCCESS; i++)
		code = memories[i] ? buffer_check(queue, memories[i]) : CL_INVALID_MEM_OBJECT;
	return code;
}

static sycl_result fill_group(sycl_handler handler, struct native *native, const cl_mem *memories)
{
	sycl_result r = SYCL_SUCCESS;
	for (cl_uint i = 0; i < native->count && r == SYCL_SUCCESS; i++) {
		native->svm[i] = memories[i]->svm;
		if (!native->svm[i])
			r = sycl_handler_set_host_accessor(handler, i, memories[i]->sycl,
							   memory_mode(memories[i]));
	}
	return r == SYCL_SUCCESS ? sycl_handler_host_task(handler, run, native, free) : r;
}

static struct native *native_new(native_function function, const void *arguments, size_t bytes,
				 cl_uint count, const void **places)
{
	size_t all = 0;
	if (__builtin_add_overflow(sizeof(struct native), bytes, &all))
		return NULL;
	struct native *native = calloc(1, all);
	if (!native)
		return NULL;
	native->function = function;
	native->count = count;
	for (cl_uint i = 0; i < count; i++)
		native->places[i] = (size_t)((uintptr_t)places[i] - (uintptr_t)arguments);
	if (bytes > 0)
		memcpy(native->arguments, arguments, bytes);
	return native;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue_handle,
						      native_function function, void *arguments,
						      size_t bytes, cl_uint memory_count,
						      const cl_mem *memories, const void **places,
						      cl_uint count, const cl_event *events,
						      cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = check_lists(function, arguments, bytes, memory_count, memories, places);
	if (code == CL_SUCCESS)
		code = check_memories(queue, memory_count, memories);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_NATIVE_KERNEL, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	struct native *native = native_new(function, arguments, bytes, memory_count, places);
	if (!native) {
		command_drop(&command);
		return CL_OUT_OF_HOST_MEMORY;
	}
	sycl_event event = NULL;
	sycl_result r = fill_group(command.handler, native, memories);
	if (r != SYCL_SUCCESS)
		free(native);
	code = command_submit(&command, r, false, &event);
	if (event) /* a host task as reads are, which writes nowhere that is known */
		late_note_read(NULL, 0, event);
	return code;
}
