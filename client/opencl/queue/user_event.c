/* SPDX-License-Identifier: Apache-2.0 */
/* User events: the library's events that the program signals. Groups that depend on a failed one do
 * not run. */
#include "queue/queue.h"

/* The queue of a context for its user events: out of order, so that none waits for another. */
static sycl_result gates_of(cl_context context, sycl_queue *queue_out)
{
	sycl_result r = SYCL_SUCCESS;
	pthread_mutex_lock(&context->lock);
	if (!context->gates)
		r = sycl_queue_create(context->sycl, context->devices[0]->sycl, NULL,
				      &context->gates);
	*queue_out = context->gates;
	pthread_mutex_unlock(&context->lock);
	return r;
}

void user_event_end(cl_event event)
{
	if (event->is_open)
		(void)sycl_event_signal(event->sycl, SYCL_ERROR_EVENT);
	event->is_open = false;
}

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context handle, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_event event = event_new(context, NULL, CL_COMMAND_USER);
	if (!event)
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	sycl_queue queue = NULL;
	sycl_result r = gates_of(context, &queue);
	if (r == SYCL_SUCCESS)
		r = sycl_event_create_host(queue, &event->sycl);
	event->is_open = r == SYCL_SUCCESS;
	if (r != SYCL_SUCCESS) {
		(void)object_release(event, OBJECT_EVENT);
		return made(NULL, code_of(r), code_out);
	}
	return made(event, CL_SUCCESS, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event handle, cl_int status)
{
	/* The signal only has to reach the service and come back. */
	const uint64_t soon_ns = UINT64_C(10000000000);
	cl_event event = FIND_EVENT(handle);
	if (!event || event->queue)
		return CL_INVALID_EVENT;
	if (status > CL_COMPLETE)
		return CL_INVALID_VALUE;
	pthread_mutex_lock(&event->lock);
	bool is_first = event->is_open;
	struct event_callback *waiting = event->waiting;
	if (is_first) {
		event->status = status;
		event->waiting = NULL;
		event->is_open = false;
	}
	pthread_mutex_unlock(&event->lock);
	if (!is_first)
		return CL_INVALID_OPERATION;
	object_use(&event->head); /* a callback may release the event */
	(void)sycl_event_signal(event->sycl,
				status == CL_COMPLETE ? SYCL_SUCCESS : SYCL_ERROR_EVENT);
	(void)sycl_event_wait_for(event->sycl, soon_ns);
	while (waiting) {
		struct event_callback *next = waiting->next;
		callback_call(waiting, status);
		waiting = next;
	}
	object_unuse(&event->head);
	return CL_SUCCESS;
}
