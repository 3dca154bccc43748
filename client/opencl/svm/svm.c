/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory. No device reports it yet. */
#include "queue/queue.h"

static cl_int refuse(cl_command_queue queue)
{
	return FIND_QUEUE(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
					  cl_uint alignment)
{
	(void)context, (void)flags, (void)bytes, (void)alignment;
	return NULL;
}

CL_API_ENTRY void CL_API_CALL clSVMFree(cl_context context, void *pointer)
{
	(void)context, (void)pointer;
}

CL_API_ENTRY cl_int CL_API_CALL
clEnqueueSVMFree(cl_command_queue queue, cl_uint pointer_count, void **pointers,
		 void(CL_CALLBACK *free_function)(cl_command_queue, cl_uint, void **, void *),
		 void *user_data, cl_uint count, const cl_event *events, cl_event *event_out)
{
	(void)pointer_count, (void)pointers, (void)free_function, (void)user_data, (void)count;
	(void)events, (void)event_out;
	return refuse(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking,
						   void *to, const void *from, size_t bytes,
						   cl_uint count, const cl_event *events,
						   cl_event *event_out)
{
	(void)blocking, (void)to, (void)from, (void)bytes, (void)count, (void)events;
	(void)event_out;
	return refuse(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *pointer,
						    const void *pattern, size_t pattern_bytes,
						    size_t bytes, cl_uint count,
						    const cl_event *events, cl_event *event_out)
{
	(void)pointer, (void)pattern, (void)pattern_bytes, (void)bytes, (void)count;
	(void)events, (void)event_out;
	return refuse(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking,
						cl_map_flags flags, void *pointer, size_t bytes,
						cl_uint count, const cl_event *events,
						cl_event *event_out)
{
	(void)blocking, (void)flags, (void)pointer, (void)bytes, (void)count, (void)events;
	(void)event_out;
	return refuse(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer,
						  cl_uint count, const cl_event *events,
						  cl_event *event_out)
{
	(void)pointer, (void)count, (void)events, (void)event_out;
	return refuse(queue);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue,
						       cl_uint pointer_count, const void **pointers,
						       const size_t *sizes,
						       cl_mem_migration_flags flags, cl_uint count,
						       const cl_event *events, cl_event *event_out)
{
	(void)pointer_count, (void)pointers, (void)sizes, (void)flags, (void)count;
	(void)events, (void)event_out;
	return refuse(queue);
}
