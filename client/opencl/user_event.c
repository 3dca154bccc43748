/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User events. The library has no event that the program itself signals, but groups wait for a host
 * accessor. So a user event is a group on a buffer of its own, closed by a host accessor until the
 * program decides. The group is a host task, which returns the decision: groups that depend on a
 * failed one do not run.
 */
#include "driver.h"

#include <stdlib.h>

/* Shared by the event and its host task. */
struct decision {
	_Atomic int references;
	_Atomic cl_int status;
};

static void decision_release(void *pointer)
{
	struct decision *decision = pointer;
	if (decision && --decision->references == 0)
		free(decision);
}

static sycl_result decision_tell(sycl_host_task task, void *pointer)
{
	struct decision *decision = pointer;
	(void)task;
	return decision->status == CL_COMPLETE ? SYCL_SUCCESS : SYCL_ERROR_EVENT;
}

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

static sycl_result submit_gate(cl_event event, sycl_queue queue)
{
	sycl_handler handler = NULL;
	sycl_result r = sycl_handler_begin(queue, &handler);
	if (r != SYCL_SUCCESS)
		return r;
	r = sycl_handler_require_target(handler, event->gate, SYCL_ACCESS_READ,
					SYCL_TARGET_HOST_TASK);
	if (r == SYCL_SUCCESS) {
		event->decision->references++;
		r = sycl_handler_host_task(handler, decision_tell, event->decision,
					   decision_release);
		if (r != SYCL_SUCCESS)
			event->decision->references--;
	}
	if (r != SYCL_SUCCESS) {
		(void)sycl_handler_discard(handler);
		return r;
	}
	return sycl_queue_submit(queue, handler, &event->sycl);
}

static sycl_result close_gate(cl_event event)
{
	static const uint32_t zero;
	sycl_queue queue = NULL;
	event->decision = calloc(1, sizeof(*event->decision));
	if (!event->decision)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	event->decision->references = 1;
	event->decision->status = CL_SUBMITTED;
	sycl_result r = gates_of(event->context, &queue);
	if (r == SYCL_SUCCESS)
		r = sycl_buffer_create(event->context->platform->sycl, (void *)(uintptr_t)&zero,
				       sizeof(zero), SYCL_HOST_CONST, &event->gate);
	if (r == SYCL_SUCCESS)
		r = sycl_host_accessor_create(event->gate, SYCL_ACCESS_READ_WRITE, &event->closed);
	return r == SYCL_SUCCESS ? submit_gate(event, queue) : r;
}

/* Opens the gate. The event's group is complete soon after that. */
static void decide(cl_event event, cl_int status)
{
	event->decision->status = status;
	if (event->closed)
		(void)sycl_host_accessor_release(event->closed);
	event->closed = NULL;
}

void user_event_end(cl_event event)
{
	if (event->decision && event->closed)
		decide(event, CL_INVALID_EVENT);
	decision_release(event->decision);
	if (event->gate)
		(void)sycl_buffer_release(event->gate);
}

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context handle, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_event event = event_new(context, NULL, CL_COMMAND_USER);
	if (!event)
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	sycl_result r = close_gate(event);
	if (r != SYCL_SUCCESS) {
		(void)object_release(event, OBJECT_EVENT);
		return made(NULL, code_of(r), code_out);
	}
	return made(event, CL_SUCCESS, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event handle, cl_int status)
{
	/* Only this host task must end here, and it has nothing to wait for. */
	const uint64_t soon_ns = UINT64_C(10000000000);
	cl_event event = FIND_EVENT(handle);
	if (!event || event->queue)
		return CL_INVALID_EVENT;
	if (status > CL_COMPLETE)
		return CL_INVALID_VALUE;
	pthread_mutex_lock(&event->lock);
	bool is_first = event->closed != NULL;
	struct event_callback *waiting = event->waiting;
	if (is_first) {
		event->status = status;
		event->waiting = NULL;
		decide(event, status);
	}
	pthread_mutex_unlock(&event->lock);
	if (!is_first)
		return CL_INVALID_OPERATION;
	object_use(&event->head); /* a callback may release the event */
	(void)sycl_event_wait_for(event->sycl, soon_ns);
	while (waiting) {
		struct event_callback *next = waiting->next;
		callback_call(waiting, status);
		waiting = next;
	}
	object_unuse(&event->head);
	return CL_SUCCESS;
}
