/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that only order others: markers and barriers. */
#include "queue/queue.h"

#include <stdlib.h>

/* A group that depends on the wait list, or on all earlier commands if there is none. */
static cl_int submit_order(struct command *command, cl_uint count, sycl_event *sycl_out)
{
	sycl_event all = NULL;
	sycl_result r = SYCL_SUCCESS;
	if (count == 0)
		r = sycl_queue_barrier(command->queue->sycl, &all);
	if (r == SYCL_SUCCESS && all)
		r = sycl_handler_depends_on(command->handler, all);
	if (all)
		(void)sycl_event_release(all);
	return command_submit(command, r, false, sycl_out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count,
							    const cl_event *events,
							    cl_event *event_out)
{
	struct command command;
	cl_int code = command_begin(&command, queue, CL_COMMAND_MARKER, count, events, event_out);
	return code == CL_SUCCESS ? submit_order(&command, count, NULL) : code;
}

static cl_int enqueue_barrier(cl_command_queue handle, cl_uint count, const cl_event *events,
			      cl_event *event_out)
{
	struct command command;
	sycl_event sycl = NULL;
	cl_int code = command_begin(&command, handle, CL_COMMAND_BARRIER, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	cl_command_queue queue = command.queue;
	bool must_keep = queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	code = submit_order(&command, count, must_keep ? &sycl : NULL);
	if (code != CL_SUCCESS || !must_keep)
		return code;
	pthread_mutex_lock(&queue->lock);
	sycl_event old = queue->barrier;
	queue->barrier = sycl;
	pthread_mutex_unlock(&queue->lock);
	if (old)
		(void)sycl_event_release(old);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count,
							     const cl_event *events,
							     cl_event *event_out)
{
	return enqueue_barrier(queue, count, events, event_out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event *event_out)
{
	if (!FIND_QUEUE(queue))
		return CL_INVALID_COMMAND_QUEUE;
	return event_out ? clEnqueueMarkerWithWaitList(queue, 0, NULL, event_out)
			 : CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue)
{
	return enqueue_barrier(queue, 0, NULL, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue handle, cl_uint count,
						       const cl_event *events)
{
	cl_command_queue queue = FIND_QUEUE(handle);
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (count == 0 || !events)
		return CL_INVALID_VALUE;
	cl_int code = wait_list_check(queue->context, count, events);
	if (code != CL_SUCCESS)
		return code == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : code;
	return enqueue_barrier(queue, count, events, NULL);
}
