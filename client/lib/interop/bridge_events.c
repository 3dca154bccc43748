/*
 * Events of the engine, open in contexts of the program. The engine records an event behind the
 * groups on which a native command depends, before they are complete. It reports the record to the
 * program. Then the command's stream waits for the event and the function is called.
 *
 * none --a command finds none free--> new --requested--> asked --the service's reply, opened--> open
 *                                                             \--it cannot be made, or not opened--> bad
 *
 * A command names an event when it is submitted: the one that the fewest commands name. The engine
 * uses the event for one command at a time, until that command is over. So a wait that is sent for
 * a command waits for the command's own record and no later one.
 */
#include "interop/bridge.h"

#include "handler/handler.h"

#include "device_features.h"

#include <string.h>

static void pending_take_event_handle(struct pending *pending, const Sycl__V1__Reply *reply)
{
	struct bridge_event *event = pending->context;
	if (reply->body_case == SYCL__V1__REPLY__BODY_SHARED_EVENT_CREATED &&
	    reply->shared_event_created->handle.len == sizeof(event->handle.bytes)) {
		memcpy(event->handle.bytes, reply->shared_event_created->handle.data,
		       sizeof(event->handle.bytes));
		event->has_handle = true;
	}
}

/* Requests a new event. No thread waits for the answer. If the request fails, the present call does
 * not fail. */
static void bridge_event_request(struct connection *c, struct bridge_event *event, uint32_t device)
{
	struct failure before;
	error_get(&before);
	Sycl__V1__SharedEventCreate create = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	command.shared_event_create = &create;
	event->pending = (struct pending){.take = pending_take_event_handle, .context = event};
	sycl_result result = remote_name(c, OBJECT_SHARED_EVENT, &event->remote);
	if (!result) {
		create.event = event->remote.id;
		create.device = device;
		result = connection_send_request(c, &command, &event->pending);
		if (result)
			remote_forget(c, &event->remote);
	}
	(void)pthread_mutex_lock(&c->bridge->lock);
	event->state = result ? BRIDGE_EVENT_BAD : BRIDGE_EVENT_ASKED;
	(void)pthread_mutex_unlock(&c->bridge->lock);
	error_note_failure(&before);
}

/* With the lock. */
static void open_answered(struct bridge_context *context, struct bridge_event *event)
{
	struct connection *c = context->connection;
	const struct cuda_driver *cuda = cuda_driver_get();
	cuda_context popped = NULL;
	(void)pthread_mutex_lock(&c->state_lock);
	bool is_answered = event->pending.done, has_handle = event->has_handle;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!is_answered)
		return;
	event->state = BRIDGE_EVENT_BAD;
	if (!has_handle || cuda->cuCtxPushCurrent_v2(context->context) != CUDA_OK)
		return;
	int mode = CUDA_CAPTURE_RELAXED;
	cuda_driver_exchange_mode(cuda, &mode);
	if (cuda->cuIpcOpenEventHandle(&event->event, event->handle) == CUDA_OK)
		event->state = BRIDGE_EVENT_OPEN;
	cuda_driver_exchange_mode(cuda, &mode);
	(void)cuda->cuCtxPopCurrent_v2(&popped);
}

/* With the lock. The event to use, or NULL. *new_out: an event that must be requested, or NULL. */
static struct bridge_event *bridge_event_choose(struct bridge_context *context,
						struct bridge_event **new_out)
{
	struct bridge_event *best = NULL, *new_one = NULL;
	bool is_asked = false;
	for (uint32_t i = 0; i < BRIDGE_EVENTS; i++) {
		struct bridge_event *event = &context->events[i];
		if (event->state == BRIDGE_EVENT_ASKED)
			open_answered(context, event);
		is_asked |= event->state == BRIDGE_EVENT_NEW || event->state == BRIDGE_EVENT_ASKED;
		if (event->state == BRIDGE_EVENT_NONE && !new_one)
			new_one = event;
		if (event->state == BRIDGE_EVENT_OPEN && (!best || event->users < best->users))
			best = event;
	}
	/* A new event is opened only when all are in use, one at a time. */
	*new_out = !is_asked && (!best || best->users > 0) ? new_one : NULL;
	return best;
}

struct bridge_event *bridge_event_take(struct bridge_context *context, const struct device *device)
{
	struct connection *c = context->connection;
	struct bridge_event *new_one = NULL, *best = NULL;
	if (!c->has_early || !(device->facts->features & DEVICE_FEATURE_SHARED_EVENT) ||
	    !cuda_driver_get()->cuIpcOpenEventHandle)
		return NULL;
	(void)pthread_mutex_lock(&c->bridge->lock);
	if (!context->has_events)
		context->service_device = device->facts->device;
	context->has_events = true;
	if (context->service_device == device->facts->device && !context->is_stuck)
		best = bridge_event_choose(context, &new_one);
	if (best)
		best->users++;
	if (new_one)
		new_one->state = BRIDGE_EVENT_NEW; /* no other thread requests it */
	(void)pthread_mutex_unlock(&c->bridge->lock);
	if (new_one)
		bridge_event_request(c, new_one, device->facts->device);
	return best;
}

void bridge_event_give(struct bridge *bridge, struct bridge_event *event)
{
	(void)pthread_mutex_lock(&bridge->lock);
	event->users--;
	(void)pthread_mutex_unlock(&bridge->lock);
}

uint64_t bridge_event_id(const struct bridge_event *event)
{
	return event->remote.id;
}

void bridge_events_leave(struct bridge_context *context)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	for (uint32_t i = 0; i < BRIDGE_EVENTS; i++) {
		struct bridge_event *event = &context->events[i];
		if (event->state == BRIDGE_EVENT_OPEN)
			(void)cuda->cuEventDestroy_v2(event->event);
		event->state = BRIDGE_EVENT_BAD;
	}
}
