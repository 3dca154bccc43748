/*
 * The native event of a command (H10). It is made when it is requested, so that other programs have
 * no cost. The engine records it behind all work that the command's lane has then. If the engine is
 * another process, or the command is not on its device, there is no native event.
 */
#include "interop/native.h"
#include "handler/handler.h"

#include "syclclient/native.h"

#include <stdlib.h>

static bool event_can_have_native(const struct event *event)
{
	return event->graph == 0 && event->object.connection->engine &&
	       event->line->backend == SYCL_BACKEND_KIND_CUDA;
}

/* Makes a native event: a reference without a user, or an error. */
static sycl_result native_event_make(const struct event *event, struct shared_event **native_out)
{
	struct connection *c = event->object.connection;
	struct shared_event *native = NULL;
	sycl_result result = shared_event_new(c, 0, &native);
	if (result)
		return result;
	object_keep(&native->object);
	Sycl__V1__SharedEventCreate create = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	create.event = native->remote.id;
	create.queue = event->line->remote.id;
	create.group = event->group;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	command.shared_event_create = &create;
	struct pending pending = {.take = NULL};
	result = connection_request(c, &command, &pending, UINT64_MAX);
	if (result)
		object_unref(&native->object);
	else
		*native_out = native;
	return result;
}

/* Stores the events. False: another thread has stored some already. */
static bool event_keep_natives(struct event *event, struct shared_event **natives)
{
	struct connection *c = event->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	bool is_first = atomic_load_explicit(&event->native_count, memory_order_relaxed) == 0;
	if (is_first) {
		event->natives = natives;
		atomic_store_explicit(&event->native_count, 1, memory_order_release);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	return is_first;
}

uint32_t event_natives(struct event *event)
{
	uint32_t count = atomic_load_explicit(&event->native_count, memory_order_acquire);
	if (count > 0 || !event_can_have_native(event))
		return count;
	struct shared_event **natives = calloc(1, sizeof(struct shared_event *));
	if (!natives)
		return 0;
	/* If the engine refuses, the caller does not fail. */
	struct failure before;
	error_get(&before);
	if (native_event_make(event, &natives[0])) {
		error_note_failure(&before);
		free(natives);
		return 0;
	}
	if (!event_keep_natives(event, natives)) {
		object_unref(&natives[0]->object);
		free(natives);
	}
	return atomic_load_explicit(&event->native_count, memory_order_acquire);
}
