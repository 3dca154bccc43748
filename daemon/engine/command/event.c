/* Events that other sessions and other processes record and wait for (F10). */
#include "command/command.h"
#include "session/shares.h"

#include <inttypes.h>
#include <string.h>

static void reply_ready(const struct shared_event *event)
{
	struct session *session = event->object.session;
	Sycl__V1__SharedEventCreated created = SYCL__V1__SHARED_EVENT_CREATED__INIT;
	created.event = event->object.id;
	created.handle = (ProtobufCBinaryData){sizeof(event->share->handle), event->share->handle};
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = event->number;
	reply.body_case = SYCL__V1__REPLY__BODY_SHARED_EVENT_CREATED;
	reply.shared_event_created = &created;
	session_reply(session, &reply);
}

void shared_event_attach(struct shared_event *event, struct event_share *share)
{
	event->share = share;
	list_push_back(&share->events, &event->link);
	if (!share->answered)
		return;
	reply_ready(event);
	event->number = 0;
}

/* `handle` NULL: makes a new event. */
static int create_event_share(struct shared_event *event, const struct context_device *found,
			      uint32_t device, const uint8_t *handle, struct backend_fault *fault)
{
	struct engine *engine = event->object.session->engine;
	struct event_share *share = event_share_create(engine, device, handle);
	int r = -ENOMEM;
	if (share)
		r = handle ? sched_event_open(engine->scheduler, found->device, handle, share,
					      &share->sched)
			   : sched_event_create(engine->scheduler, found->device, share,
						&share->sched);
	if (r < 0) {
		if (share)
			event_share_free(share);
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "a shared event could not be made: %s", strerror(-r));
	}
	shared_event_attach(event, share);
	return 0;
}

/*
 * The number is limited: each event costs the device something, and a look-up of a handle visits
 * all events of the engine.
 */
int shared_event_admit(struct shared_event *event, struct backend_fault *fault)
{
	struct session *session = event->object.session;
	if (session->shared_events >= SHARED_EVENTS_MAX)
		return fault_set(fault, STATUS_QUOTA, "a session may have at most %u shared events",
				 SHARED_EVENTS_MAX);
	session->shared_events++;
	event->is_counted = true;
	return 0;
}

static int start_shared_event(struct session *session, uint64_t id, uint32_t device,
			      const uint8_t *handle)
{
	struct shared_event *event;
	int r = object_new(session, id, OBJECT_SHARED_EVENT, session->record, &event);
	if (r != 0)
		return r < 0 ? r : 0;
	event->number = session->record;
	struct context_device found;
	struct backend_fault fault;
	r = feature_device(session, device, BACKEND_FEATURE_SHARED_EVENT, &found, &fault);
	if (r == 0)
		r = shared_event_admit(event, &fault);
	if (r == 0) {
		event->object.backend = (uint32_t)found.ops->kind;
		struct event_share *share =
			handle ? event_share_find(session->engine, device, handle) : NULL;
		if (share)
			shared_event_attach(event, share);
		else
			r = create_event_share(event, &found, device, handle, &fault);
	}
	if (r > 0)
		object_fail(&event->object, session->record, &fault);
	return 0;
}

/*
 * Finds the command of a group, for an event that is recorded behind it. NULL in *task_out: the
 * command is over, and so is an event that was never recorded. 0; 1: there is no such event, with
 * the reason.
 */
static int find_command(struct session *session, const Sycl__V1__SharedEventCreate *message,
			struct queue **queue_out, const struct task **task_out,
			struct backend_fault *fault)
{
	if (!session_has_natives(session))
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"native events of commands are for programs with an engine of their own in their process");
	int r = command_find_queue(session, message->queue, queue_out, fault);
	if (r != 0)
		return r;
	struct queue *queue = *queue_out;
	if (message->group == 0 || message->group > queue->window.last)
		return session_violation(session,
					 "an event of command group %" PRIu64
					 " of a queue that has had %" PRIu64,
					 message->group, queue->window.last);
	const struct window_entry *entry = group_window_find(&queue->window, message->group);
	*task_out = entry ? list_entry(entry, struct group, entry)->task : NULL;
	if (entry && (!*task_out || !task_has_lane_of(*task_out, queue->device)))
		return fault_set(
			fault, STATUS_EVENT,
			"the command is not on one lane of its device now: it has no native event");
	return 0;
}

static int shared_event_make_behind(struct shared_event *event, struct queue *queue,
				    const struct task *task, struct backend_fault *fault)
{
	struct engine *engine = event->object.session->engine;
	if (!(queue->facts->features & BACKEND_FEATURE_SHARED_EVENT))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device has no such events");
	int r = shared_event_admit(event, fault);
	if (r != 0)
		return r;
	struct event_share *share = event_share_create(engine, queue->device_index, NULL);
	r = -ENOMEM;
	if (share)
		r = task ? sched_event_create_behind(engine->scheduler, task, share, &share->sched)
			 : sched_event_create(engine->scheduler, queue->device, share,
					      &share->sched);
	if (r < 0) {
		if (share)
			event_share_free(share);
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the event of a command could not be made: %s", strerror(-r));
	}
	event->object.backend = queue->object.backend;
	event->context = queue->context;
	(void)object_ref(&queue->context->object);
	share->is_native = true; /* recording the event again would change its meaning */
	shared_event_attach(event, share);
	return 0;
}

static int shared_event_start_behind(struct session *session,
				     const Sycl__V1__SharedEventCreate *message)
{
	struct shared_event *event;
	struct queue *queue = NULL;
	const struct task *task = NULL;
	struct backend_fault fault;
	int r = object_new(session, message->event, OBJECT_SHARED_EVENT, session->record, &event);
	if (r != 0)
		return r < 0 ? r : 0;
	event->number = session->record;
	r = find_command(session, message, &queue, &task, &fault);
	if (r == 0)
		r = shared_event_make_behind(event, queue, task, &fault);
	if (r > 0)
		object_fail(&event->object, session->record, &fault);
	return r < 0 ? r : 0;
}

int command_shared_event_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__SharedEventCreate *message = command->shared_event_create;
	return message->queue ? shared_event_start_behind(session, message)
			      : start_shared_event(session, message->event, message->device, NULL);
}

int command_shared_event_open(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__SharedEventOpen *message = command->shared_event_open;
	uint8_t handle[SHARE_HANDLE_BYTES] = {0};
	if (message->handle.len == SHARE_HANDLE_BYTES) {
		memcpy(handle, message->handle.data, sizeof(handle));
		return start_shared_event(session, message->event, message->device, handle);
	}
	struct shared_event *event;
	int r = object_new(session, message->event, OBJECT_SHARED_EVENT, session->record, &event);
	if (r != 0)
		return r < 0 ? r : 0;
	struct backend_fault fault;
	(void)fault_set(&fault, STATUS_INVALID, "a handle of a shared event has %u bytes, not %zu",
			SHARE_HANDLE_BYTES, message->handle.len);
	object_fail(&event->object, session->record, &fault);
	return 0;
}

static void detach_event_share(struct shared_event *event)
{
	list_remove(&event->link);
	event->share = NULL;
}

void event_share_ready(struct event_share *share, const uint8_t *handle,
		       const struct backend_fault *fault)
{
	share->answered = true;
	if (!share->sched) { /* every session has released the event meanwhile */
		event_share_free(share);
		return;
	}
	if (handle && !share->named) {
		memcpy(share->handle, handle, SHARE_HANDLE_BYTES);
		share->named = true;
	}
	struct list *next;
	for (struct list *link = share->events.next; link != &share->events; link = next) {
		next = link->next;
		struct shared_event *event = list_entry(link, struct shared_event, link);
		if (fault->status) {
			detach_event_share(event);
			object_fail(&event->object, event->number, fault);
		} else {
			reply_ready(event);
		}
		event->number = 0;
	}
	if (!fault->status)
		return;
	sched_event_release(share->sched);
	event_share_free(share);
}

void shared_event_end(struct shared_event *event)
{
	struct event_share *share = event->share;
	if (!share)
		return;
	detach_event_share(event);
	if (!list_empty(&share->events))
		return;
	struct sched_event *sched = share->sched;
	share->sched = NULL;
	if (share->answered)
		event_share_free(share);
	sched_event_release(sched);
}
