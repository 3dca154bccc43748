/* SPDX-License-Identifier: Apache-2.0 */
/* What all commands share: the wait list, the library's command group, the event. */
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

cl_ulong now_ns(void)
{
	struct timespec now = {0, 0};
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec;
}

cl_ulong command_time(cl_command_queue queue, const cl_event *event_out)
{
	return event_out && queue->flags & CL_QUEUE_PROFILING_ENABLE ? now_ns() : 0;
}

cl_int wait_list_check(cl_context context, cl_uint count, const cl_event *events)
{
	if ((count == 0) != (events == NULL))
		return CL_INVALID_EVENT_WAIT_LIST;
	for (cl_uint i = 0; i < count; i++) {
		cl_event event = FIND_EVENT(events[i]);
		if (!event)
			return CL_INVALID_EVENT_WAIT_LIST;
		if (event->context != context)
			return CL_INVALID_CONTEXT;
	}
	return CL_SUCCESS;
}

/* An out-of-order queue of the library knows no barrier, so each later group depends on it. */
static sycl_result depend_on_barrier(struct command *command)
{
	cl_command_queue queue = command->queue;
	sycl_result r = SYCL_SUCCESS;
	pthread_mutex_lock(&queue->lock);
	if (queue->barrier)
		r = sycl_handler_depends_on(command->handler, queue->barrier);
	pthread_mutex_unlock(&queue->lock);
	return r;
}

cl_int command_begin(struct command *command, cl_command_queue handle, cl_command_type type,
		     cl_uint count, const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(handle);
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = wait_list_check(queue->context, count, events);
	if (code != CL_SUCCESS)
		return code;
	command->queue = queue;
	command->type = type;
	command->event_out = event_out;
	command->queued_ns = command_time(queue, event_out);
	command->handler = NULL;
	sycl_result r = sycl_handler_begin(queue->sycl, &command->handler);
	for (cl_uint i = 0; i < count && r == SYCL_SUCCESS; i++)
		r = sycl_handler_depends_on(command->handler, events[i]->sycl);
	if (r == SYCL_SUCCESS)
		r = depend_on_barrier(command);
	if (r != SYCL_SUCCESS)
		command_drop(command);
	return code_of(r);
}

void command_drop(struct command *command)
{
	(void)sycl_handler_discard(command->handler);
	command->handler = NULL;
}

/* Passes on the event of a command that was sent, and ended so if it was waited for. */
static cl_int give_events(const struct command *command, sycl_event event, sycl_result result,
			  sycl_event *sycl_out)
{
	cl_int code = code_of(result);
	if (code == CL_SUCCESS && sycl_out) {
		(void)sycl_event_retain(event);
		*sycl_out = event;
	}
	if (code != CL_SUCCESS || !command->event_out) {
		(void)sycl_event_release(event);
		return code;
	}
	code = event_make(command->queue, command->type, event, command->queued_ns,
			  command->event_out);
	if (code != CL_SUCCESS && sycl_out) {
		(void)sycl_event_release(event);
		*sycl_out = NULL;
	}
	return code;
}

cl_int command_submit(struct command *command, sycl_result result, bool blocking,
		      sycl_event *sycl_out)
{
	sycl_event event = NULL;
	bool wanted = command->event_out || blocking || sycl_out;
	if (result != SYCL_SUCCESS) {
		command_drop(command);
		return code_of(result);
	}
	result = sycl_handler_submit(command->handler, wanted ? &event : NULL);
	command->handler = NULL;
	if (result != SYCL_SUCCESS || !wanted)
		return code_of(result);
	if (!blocking)
		return give_events(command, event, SYCL_SUCCESS, sycl_out);
	object_use(&command->queue->head); /* a callback may release it meanwhile */
	result = sycl_event_wait(event);
	printed_pass_on(command->queue->context);
	cl_int code = give_events(command, event, result, sycl_out);
	object_unuse(&command->queue->head);
	return code;
}

static void event_destroy(struct object *object)
{
	cl_event event = (cl_event)object;
	if (!event->queue)
		user_event_end(event);
	if (event->sycl)
		(void)sycl_event_release(event->sycl);
	pthread_mutex_destroy(&event->lock);
	object_unuse(event->queue ? &event->queue->head : &event->context->head);
	free(event);
}

cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type)
{
	cl_event event = calloc(1, sizeof(*event));
	if (!event)
		return NULL;
	event->context = context;
	event->queue = queue;
	event->type = type;
	event->status = CL_SUBMITTED;
	pthread_mutex_init(&event->lock, NULL);
	object_use(queue ? &queue->head : &context->head); /* a queue keeps its context */
	object_publish(&event->head, OBJECT_EVENT, event_destroy);
	return event;
}

cl_int event_make(cl_command_queue queue, cl_command_type type, sycl_event sycl, cl_ulong queued_ns,
		  cl_event *event_out)
{
	cl_event event = event_new(queue->context, queue, type);
	if (!event) {
		(void)sycl_event_release(sycl);
		return CL_OUT_OF_HOST_MEMORY;
	}
	event->sycl = sycl;
	event->queued_ns = queued_ns;
	*event_out = event;
	return CL_SUCCESS;
}
