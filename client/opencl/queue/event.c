/* SPDX-License-Identifier: Apache-2.0 */
/* Events: their status, their times, and waiting for them. */
#include "queue/queue.h"

#include <stdlib.h>

/* A wait with a short limit also runs the library's host tasks whose turn has come. Otherwise a
 * program that only asks for the status would never see a copy to its memory end. */
enum { GLANCE_NS = 1 };

cl_int event_status(cl_event event)
{
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	if (!event->queue || event->status <= CL_COMPLETE)
		return event->status;
	sycl_result r = sycl_event_wait_for(event->sycl, GLANCE_NS);
	if (r != SYCL_ERROR_TIMEOUT) {
		event->status = code_of(r);
		printed_pass_on(event->context);
		return event->status;
	}
	if (sycl_event_get_status(event->sycl, &status) == SYCL_SUCCESS &&
	    status == SYCL_COMMAND_RUNNING)
		return CL_RUNNING;
	return CL_SUBMITTED;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainEvent(cl_event event)
{
	return object_retain(event, OBJECT_EVENT) ? CL_SUCCESS : CL_INVALID_EVENT;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
	return object_release(event, OBJECT_EVENT) ? CL_SUCCESS : CL_INVALID_EVENT;
}

/* Finds the one context of all events, and holds it. */
static cl_int hold_context_of(cl_uint count, const cl_event *events, cl_context *context_out)
{
	cl_context context = NULL;
	cl_int code = CL_SUCCESS;
	for (cl_uint i = 0; i < count && code == CL_SUCCESS; i++) {
		cl_event event = object_hold(events[i], OBJECT_EVENT);
		if (!event) {
			code = CL_INVALID_EVENT;
		} else if (!context) {
			context = event->context;
			object_use(&context->head);
		} else if (event->context != context) {
			code = CL_INVALID_CONTEXT;
		}
		object_unuse(event ? &event->head : NULL);
	}
	if (code == CL_SUCCESS)
		*context_out = context;
	else
		object_unuse(context ? &context->head : NULL);
	return code;
}

/* A callback may release an event, also one that was not waited for yet: that one is passed over.
 */
CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event *events)
{
	cl_context context = NULL;
	if (count == 0 || !events)
		return CL_INVALID_VALUE;
	cl_int code = hold_context_of(count, events, &context);
	if (code != CL_SUCCESS)
		return code;
	for (cl_uint i = 0; i < count; i++) {
		cl_event event = object_hold(events[i], OBJECT_EVENT);
		if (!event)
			continue;
		if (sycl_event_wait(event->sycl) != SYCL_SUCCESS)
			code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
		object_unuse(&event->head);
	}
	printed_pass_on(context);
	object_unuse(&context->head);
	return code;
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event handle, cl_event_info what, size_t size,
					       void *value, size_t *bytes_out)
{
	cl_event event = FIND_EVENT(handle);
	if (!event)
		return CL_INVALID_EVENT;
	switch (what) {
	case CL_EVENT_COMMAND_QUEUE:
		return answer_handle(ANSWER, event->queue);
	case CL_EVENT_CONTEXT:
		return answer_handle(ANSWER, event->context);
	case CL_EVENT_COMMAND_TYPE:
		return answer_uint(ANSWER, event->type);
	case CL_EVENT_REFERENCE_COUNT:
		return answer_uint(ANSWER, object_references(&event->head));
	case CL_EVENT_COMMAND_EXECUTION_STATUS:
		return answer_uint(ANSWER, (cl_uint)event_status(event));
	default:
		return CL_INVALID_VALUE;
	}
}

/* The library counts from the submission; the driver notes when the program asked for it. */
static sycl_result time_of(cl_event event, cl_profiling_info what, uint64_t *ns_out)
{
	sycl_result r = SYCL_SUCCESS;
	switch (what) {
	case CL_PROFILING_COMMAND_SUBMIT:
		return sycl_event_get_profiling(event->sycl, SYCL_PROFILING_SUBMIT, ns_out);
	case CL_PROFILING_COMMAND_QUEUED:
		r = sycl_event_get_profiling(event->sycl, SYCL_PROFILING_SUBMIT, ns_out);
		if (r == SYCL_SUCCESS && event->queued_ns < *ns_out)
			*ns_out = event->queued_ns;
		return r;
	case CL_PROFILING_COMMAND_START:
		return sycl_event_get_profiling(event->sycl, SYCL_PROFILING_START, ns_out);
	default:
		return sycl_event_get_profiling(event->sycl, SYCL_PROFILING_END, ns_out);
	}
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventProfilingInfo(cl_event handle, cl_profiling_info what,
							size_t size, void *value, size_t *bytes_out)
{
	cl_event event = FIND_EVENT(handle);
	uint64_t ns = 0;
	if (!event)
		return CL_INVALID_EVENT;
	if (what < CL_PROFILING_COMMAND_QUEUED || what > CL_PROFILING_COMMAND_COMPLETE)
		return CL_INVALID_VALUE;
	if (!event->queue || !(event->queue->flags & CL_QUEUE_PROFILING_ENABLE) ||
	    event_status(event) != CL_COMPLETE || time_of(event, what, &ns) != SYCL_SUCCESS)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return answer_ulong(ANSWER, ns);
}

CL_API_ENTRY cl_int CL_API_CALL clSetEventCallback(cl_event handle, cl_int status,
						   void(CL_CALLBACK *function)(cl_event, cl_int,
									       void *),
						   void *user_data)
{
	cl_event event = FIND_EVENT(handle);
	if (!event)
		return CL_INVALID_EVENT;
	if (!function || (status != CL_COMPLETE && status != CL_RUNNING && status != CL_SUBMITTED))
		return CL_INVALID_VALUE;
	struct event_callback *callback = calloc(1, sizeof(*callback));
	if (!callback)
		return CL_OUT_OF_HOST_MEMORY;
	callback->event = event;
	callback->status = status;
	callback->function = function;
	callback->user_data = user_data;
	object_use(&event->head);
	return callback_watch(callback);
}
