/* From a built command group to its record and its event. */
#include "handler_messages.h"

#include "access_mode.h"

#include <stdlib.h>

/* What the event can be asked for: the events that the program named. */
static sycl_result keep_waits(struct event *event, const struct handler *handler)
{
	if (handler->step_of)
		handler = handler->step_of;
	uint32_t count = handler->depends_on.count;
	if (count == 0)
		return SYCL_SUCCESS;
	event->waits = calloc(count, sizeof(struct event *));
	if (!event->waits)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
	for (uint32_t i = 0; i < count; i++) {
		struct event *other = handler_dependency_at(handler, i)->event;
		if (event_is_complete(other))
			continue;
		object_ref(&other->object);
		event->waits[event->wait_count++] = other;
	}
	return SYCL_SUCCESS;
}

/* An out-of-order queue's event has a slot of its own, an in-order queue's uses the queue's. */
static sycl_result make_event(const struct handler *handler, struct event **event_out)
{
	struct queue *queue = handler->queue;
	struct connection *c = queue->object.connection;
	struct event *event = event_new(c, queue->line);
	if (!event)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	sycl_result result = keep_waits(event, handler);
	if (!result && !queue->line->in_order) {
		(void)pthread_mutex_lock(&c->state_lock);
		int r = slots_take(&c->slots, &event->slot, &event->value);
		(void)pthread_mutex_unlock(&c->state_lock);
		event->own_slot = r == 0;
		if (r < 0)
			result = error_set(SYCL_ERROR_QUOTA,
					   "all %u completion slots are in use: release events, or submit without",
					   c->slots.count);
	}
	if (result)
		object_unref(&event->object);
	else
		*event_out = event;
	return result;
}

/* It was never sent, so nobody will write its slot. */
static void drop_event(struct event *event)
{
	struct connection *c = event->object.connection;
	if (event->own_slot) {
		(void)pthread_mutex_lock(&c->state_lock);
		slots_give_settled(&c->slots, event->slot);
		(void)pthread_mutex_unlock(&c->state_lock);
		event->own_slot = false;
	}
	object_unref(&event->object);
}

/* The submit lock is held: numbers and records have the same order. */
static sycl_result write_group(struct queue *queue, struct group_messages *m, struct event *event,
			       struct host_task *task)
{
	struct connection *c = queue->object.connection;
	struct queue_line *line = queue->line;
	uint32_t done = atomic_load_explicit(&c->slot_memory[line->slot].sequence, memory_order_relaxed);
	uint32_t open = (uint32_t)line->groups - done;
	if (c->limits.groups_in_flight && (int32_t)open >= 0 && open >= c->limits.groups_in_flight)
		return error_set_object(SYCL_ERROR_QUOTA, line->remote.id,
					"%u command groups of this queue are in flight, as many as are allowed", open);
	m->group.group = line->groups + 1;
	if (event && event->own_slot) {
		m->group.wants_slot = true;
		m->group.slot = event->slot;
		m->group.slot_value = event->value;
	}
	if (task) {
		m->host_task.slot = task->slot;
		m->host_task.slot_value = task->value;
		host_task_list(c, task, m->group.group);
	}
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &m->group;
	sycl_result result = connection_write(c, &command);
	if (result)
		return result;
	line->groups++;
	if (m->lent)
		lent_range_commit(c, line, TAKE(m->lent), line->groups);
	if (event) {
		event->group = line->groups;
		if (!event->own_slot)
			event->value = (uint32_t)line->groups;
	}
	return SYCL_SUCCESS;
}

static void mark_buffers(const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		const struct handler_requirement *requirement = handler_requirement_at(handler, i);
		struct buffer *root = buffer_root(requirement->buffer);
		atomic_store_explicit(&root->used, 1, memory_order_relaxed);
		if (access_mode_writes(requirement->mode))
			atomic_store_explicit(&root->modified, 1, memory_order_relaxed);
	}
}

/*
 * Answers that have come are taken in while submitting, so that a program that never waits leaves no full ring
 * behind.
 */
static void take_answers(struct connection *c)
{
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	(void)pthread_mutex_unlock(&c->state_lock);
}

sycl_result handler_check(const struct handler *handler)
{
	sycl_result result = remote_check(&handler->queue->line->remote);
	for (uint32_t i = 0; i < handler->requirements.count && !result; i++)
		result = remote_check(&buffer_root(handler_requirement_at(handler, i)->buffer)->remote);
	if (!result)
		result = usm_check(handler);
	if (!result)
		result = handler_check_arguments(handler);
	if (!result)
		result = handler_check_properties(handler);
	return result;
}

/* What was checked against the queue that it was begun on, when it was set. */
static sycl_result check_for_other_queue(struct handler *handler)
{
	if (handler->queue->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID, "the command group and the queue belong to different connections");
	if (handler->event && handler->event->device != handler->queue->device->facts->device)
		return error_set_object(SYCL_ERROR_INVALID, handler->event->remote.id,
					"the event belongs to another device than the queue's");
	sycl_result result = handler_check_origins(handler, handler->queue->device);
	if (result || !handler->kernel)
		return result;
	/* Its bundle may have it for that device as well; if not, the check says so. */
	struct kernel *kernel = kernel_on(handler->kernel_given, handler->queue->device);
	handler->kernel = kernel ? kernel : handler->kernel;
	result = remote_check(&handler->kernel->remote);
	if (result)
		return result;
	sycl_range global = {.dimensions = handler->dimensions}, local = {.dimensions = handler->dimensions};
	for (uint32_t i = 0; i < handler->dimensions; i++) {
		global.size[i] = handler->global[i];
		local.size[i] = handler->local[i];
	}
	return handler_check_range(handler, handler->kernel, &global, handler->is_nd ? &local : NULL);
}

/* `origin`: the handler itself, where `handler` is a copy of it that looks at another queue. */
static sycl_result transmit(struct handler *handler, struct handler *origin, struct group_messages *m,
			    sycl_event *event_out)
{
	struct queue *queue = handler->queue;
	struct connection *c = handler->object.connection;
	struct event *event = NULL;
	struct host_task *task = NULL;
	/* So that nobody takes the last handle for gone before this one gives out another (host_tasks_look). */
	atomic_fetch_add_explicit(&c->handles, 1, memory_order_relaxed);
	sycl_result result = event_out ? make_event(handler, &event) : SYCL_SUCCESS;
	if (!result && handler->action == HANDLER_ACTION_HOST_TASK)
		result = host_task_new(c, origin, queue->line, &task);
	bool sent = false;
	if (!result) {
		mark_buffers(handler);
		(void)pthread_mutex_lock(&c->submit_lock);
		result = write_group(queue, m, event, task);
		(void)pthread_mutex_unlock(&c->submit_lock);
		sent = !result;
	}
	if (sent && event)
		*event_out = handle_of(&event->object);
	if (task)
		host_task_settle(c, task, sent);
	if (!sent && event)
		drop_event(event);
	atomic_fetch_sub_explicit(&c->handles, 1, memory_order_acq_rel);
	return result;
}

static sycl_result send(struct handler *handler, struct handler *origin, sycl_event *event_out)
{
	take_answers(handler->object.connection);
	sycl_result result = handler_check(handler);
	if (result)
		return result;
	if (usm_is_staged(handler))
		return usm_send_staged(handler, event_out);
	CLEANUP(group_messages_fini) struct group_messages m;
	m.block = m.small;
	m.lent = NULL;
	result = group_messages_fill(&m, handler);
	return result ? result : transmit(handler, origin, &m, event_out);
}

sycl_result handler_send_whole(struct handler *handler, sycl_event *event_out)
{
	return send(handler, handler, event_out);
}

sycl_result handler_send(struct handler *handler, struct queue *queue, sycl_event *event_out)
{
	if (queue == handler->queue)
		return send(handler, handler, event_out);
	struct handler view = *handler; /* its lists are the handler's own */
	view.queue = queue;
	sycl_result result = check_for_other_queue(&view);
	return result ? result : send(&view, handler, event_out);
}
