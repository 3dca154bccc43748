/* From a built command group to its record and its event. */
#include "submit/submit.h"

#include "graph/executable_graph.h"
#include "handler/messages.h"
#include "submit/handler_shape.h"
#include "base/lone_thread.h"
#include "memory/own_pages.h"
#include "host_task/host_tasks.h"
#include "interop/bridge.h"
#include "interop/native_commands.h"

#include "access_mode.h"
#include "stage_clock.h"

#include <stdlib.h>
#include <string.h>

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
			result = error_set(
				SYCL_ERROR_QUOTA,
				"all %u completion slots are in use: release events, or submit without an event",
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

/* A group on its way into the ring. */
struct submission {
	struct handler *handler;
	struct event *event;            /* NULL: nobody wants one */
	struct host_task *task;         /* of a host task */
	struct native_call *call;       /* of a native command; the engine's when it is sent */
	struct graph_tasks graph_tasks; /* of a graph's launch */
	bool has_shape;      /* `messages` are filled when they are needed, which is seldom */
	uint32_t rest_bytes; /* of a record */
	struct shape_key key;
	struct group_messages messages;
};

static sycl_result write_record(struct submission *s, struct shape_name name, uint64_t group)
{
	struct connection *c = s->handler->object.connection;
	struct resubmit_record head = {.shape = name.shape,
				       .generation = name.generation,
				       .group = group,
				       .rest_bytes = s->rest_bytes};
	if (s->event && s->event->own_slot) {
		head.flags = RESUBMIT_WANTS_SLOT;
		head.slot = s->event->slot;
		head.slot_value = s->event->value;
	}
	void *payload = NULL;
	sycl_result result =
		connection_reserve_resubmit(c, (uint32_t)sizeof(head) + s->rest_bytes, &payload);
	if (result)
		return result;
	memcpy(payload, &head, sizeof(head));
	handler_write_rest(s->handler, (uint8_t *)payload + sizeof(head));
	STAGE_MARK(group, STAGE_WRITTEN);
	connection_commit(c);
	STAGE_MARK(group, STAGE_RUNG);
	return SYCL_SUCCESS;
}

static sycl_result write_message(struct submission *s, const struct shape_name *defines,
				 uint64_t group)
{
	struct connection *c = s->handler->object.connection;
	struct group_messages *m = &s->messages;
	sycl_result result = s->has_shape ? group_messages_fill(m, s->handler) : SYCL_SUCCESS;
	if (result)
		return result;
	m->group.group = group;
	if (s->event && s->event->own_slot) {
		m->group.wants_slot = true;
		m->group.slot = s->event->slot;
		m->group.slot_value = s->event->value;
	}
	if (s->task) {
		m->host_task.slot = s->task->slot;
		m->host_task.slot_value = s->task->value;
		m->host_task.early_event = s->task->early ? bridge_event_id(s->task->early) : 0;
		host_task_list(c, s->task, group);
	}
	if (s->call)
		m->native.context = native_call_context(s->call);
	if (s->handler->action == HANDLER_ACTION_GRAPH) {
		sycl__v1__graph_launch__init(&s->graph_tasks.launch);
		s->graph_tasks.launch.graph = s->handler->graph->remote.id;
		graph_tasks_put(c, &s->graph_tasks, group);
		m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
		m->group.graph_launch = &s->graph_tasks.launch;
	}
	if (defines) {
		m->group.shape = defines->shape;
		m->group.shape_generation = defines->generation;
	}
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &m->group;
	result = connection_write(c, &command);
	if (!result && defines)
		shapes_defined(&c->shapes, *defines);
	return result;
}

/* The slot is looked at when it matters only: the service writes there all the time, from another
 * processor. */
static bool too_many_open(const struct connection *c, struct queue_line *line)
{
	uint32_t most = c->limits.groups_in_flight;
	if (most == 0 || (uint32_t)line->groups - line->done < most)
		return false;
	line->done =
		atomic_load_explicit(&c->slot_memory[line->slot].sequence, memory_order_relaxed);
	uint32_t open = (uint32_t)line->groups - line->done;
	return (int32_t)open >= 0 && open >= most;
}

/* With the submit lock. The kernel remembers where its last shape stands. */
static enum shape_use look_for_shape(struct submission *s, struct shape_name *name_out)
{
	struct shapes *shapes = &s->handler->object.connection->shapes;
	struct kernel *kernel = s->handler->kernel;
	if (!s->has_shape)
		return SHAPE_MESSAGE;
	if (shapes_again(shapes, &s->key, kernel->shape, name_out))
		return SHAPE_KNOWN;
	shape_key_seal(&s->key);
	enum shape_use use = shapes_look(shapes, &s->key, name_out);
	if (use == SHAPE_KNOWN)
		kernel->shape = name_out->shape;
	return use;
}

/* The submit lock is held: numbers and records have the same order. */
static sycl_result write_group(struct submission *s)
{
	struct queue_line *line = s->handler->queue->line;
	struct connection *c = s->handler->object.connection;
	if (too_many_open(c, line))
		return error_set_object(
			SYCL_ERROR_QUOTA, line->remote.id,
			"%u command groups of this queue are in flight, as many as are allowed",
			(uint32_t)line->groups - line->done);
	struct shape_name name;
	enum shape_use use = look_for_shape(s, &name);
	sycl_result result =
		use == SHAPE_KNOWN
			? write_record(s, name, line->groups + 1)
			: write_message(s, use == SHAPE_DEFINE ? &name : NULL, line->groups + 1);
	if (result)
		return result;
	line->groups++;
	if (s->messages.lent)
		lent_range_commit(c, line, TAKE(s->messages.lent), line->groups);
	if (s->event) {
		s->event->group = line->groups;
		if (!s->event->own_slot)
			s->event->value = (uint32_t)line->groups;
	}
	return SYCL_SUCCESS;
}

static void mark_buffers(const struct handler *handler)
{
	const struct handler_requirement *requirement = handler->requirements.items;
	const struct handler_requirement *end = requirement + handler->requirements.count;
	for (; requirement < end; requirement++) {
		struct buffer *root = buffer_root(requirement->buffer);
		atomic_store_explicit(&root->used, 1, memory_order_relaxed);
		if (access_mode_writes(requirement->mode))
			atomic_store_explicit(&root->modified, 1, memory_order_relaxed);
	}
}

/*
 * Answers that have come are taken in while submitting, so that a program that never waits leaves
 * no full ring behind.
 */
static void take_answers(struct connection *c)
{
	if (!replies_wait(c))
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	(void)pthread_mutex_unlock(&c->state_lock);
}

/*
 * None of its buffers has failed, is a temporary or has contents to be brought: as a rule, and then
 * nobody need look at them one by one. Asked once of a group, before it is sent.
 */
static bool buffers_are_plain(const struct handler *handler)
{
	const struct handler_requirement *requirement = handler->requirements.items;
	const struct handler_requirement *end = requirement + handler->requirements.count;
	for (; requirement < end; requirement++) {
		const struct buffer *root = buffer_root(requirement->buffer);
		if (atomic_load_explicit(&root->remote.failed, memory_order_acquire) ||
		    root->is_temporary || !own_pages_are_settled(root))
			return false;
	}
	return true;
}

/* What was checked against the queue that it was begun on, when it was set. */
static sycl_result check_for_other_queue(struct handler *handler)
{
	if (handler->queue->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID,
				 "the command group and the queue belong to different connections");
	if (handler->event && handler->event->device != handler->queue->device->facts->device)
		return error_set_object(SYCL_ERROR_INVALID, handler->event->remote.id,
					"the event belongs to another device than the queue's");
	if (handler->graph && handler->graph->device != handler->queue->device)
		return error_set(SYCL_ERROR_INVALID,
				 "the graph was made for another device than the queue's");
	sycl_result result = handler_check_origins(handler, handler->queue->device);
	if (result || !handler->kernel)
		return result;
	/* Its bundle may have it for that device as well; if not, the check says so. */
	struct kernel *kernel = kernel_on(handler->kernel_given, handler->queue->device);
	handler->kernel = kernel ? kernel : handler->kernel;
	result = remote_check(&handler->kernel->remote);
	if (result)
		return result;
	sycl_range global = {.dimensions = handler->dimensions},
		   local = {.dimensions = handler->dimensions};
	for (uint32_t i = 0; i < handler->dimensions; i++) {
		global.size[i] = handler->global[i];
		local.size[i] = handler->local[i];
	}
	return handler_check_range(handler, handler->kernel, &global,
				   handler->is_nd ? &local : NULL);
}

/* `origin`: the handler itself, where the submission's is a copy of it that looks at another queue.
 */
static sycl_result transmit(struct submission *s, struct handler *origin, sycl_event *event_out)
{
	struct handler *handler = s->handler;
	struct connection *c = handler->object.connection;
	/* So that nobody takes the last handle for gone before this one gives out another
	 * (connection_handle_released). */
	if (event_out)
		(void)count_add(&c->handles, 1, memory_order_relaxed);
	sycl_result result = event_out ? make_event(handler, &s->event) : SYCL_SUCCESS;
	if (!result && handler->action == HANDLER_ACTION_HOST_TASK)
		result = handler_host_task_new(origin, handler->queue->line, &s->task);
	if (!result && s->task && handler->native)
		s->task->early = bridge_event_take(handler->bridge, handler->queue->device);
	if (!result && handler->action == HANDLER_ACTION_NATIVE)
		result = native_call_new(c, handler, &s->call);
	bool is_graph = handler->action == HANDLER_ACTION_GRAPH;
	if (!result && is_graph)
		result = graph_tasks_make(handler, &s->graph_tasks);
	if (is_graph && s->event)
		s->event->untimed = !(handler->graph->flags & SYCL_GRAPH_ENABLE_PROFILING);
	bool sent = false;
	if (!result) {
		mark_buffers(handler);
		(void)pthread_mutex_lock(&c->submit_lock);
		result = write_group(s);
		(void)pthread_mutex_unlock(&c->submit_lock);
		sent = !result;
	}
	if (sent && event_out && s->event)
		*event_out = handle_of(&s->event->object);
	if (s->task)
		host_task_settle(c, s->task, sent);
	if (!sent)
		native_call_discard(s->call);
	if (is_graph)
		graph_tasks_settle(c, &s->graph_tasks, sent);
	if (!sent && s->event)
		drop_event(s->event);
	if (event_out)
		(void)count_add(&c->handles, -1u, memory_order_acq_rel);
	return result;
}

static void submission_fini(struct submission *s)
{
	group_messages_fini(&s->messages);
}

static struct buffer *required_root_at(const void *handler, uint32_t i)
{
	return buffer_root(handler_requirement_at(handler, i)->buffer);
}

static sycl_result send(struct handler *handler, struct handler *origin, bool is_step,
			sycl_event *event_out)
{
	struct connection *c = handler->object.connection;
	take_answers(c);
	bool plain_buffers = buffers_are_plain(handler);
	sycl_result result = handler_check(handler, plain_buffers);
	if (result)
		return result;
	if (!is_step && graph_records(handler))
		return graph_record(handler, origin, event_out);
	if (handler->action == HANDLER_ACTION_CONDITION)
		return error_set(SYCL_ERROR_INVALID,
				 "an IF or WHILE node is for graphs: record it, or add it to one");
	if (!plain_buffers)
		result = graph_check_no_temporaries(handler);
	if (result)
		return result;
	if (handler_is_staged(handler))
		return usm_send_staged(handler, event_out);
	CLEANUP(submission_fini)
	struct submission s; /* large: nothing is written that is not needed */
	s.handler = handler;
	s.event = NULL;
	s.task = NULL;
	s.call = NULL;
	s.messages.block = s.messages.small;
	s.messages.lent = NULL;
	s.graph_tasks.tasks = NULL;
	s.graph_tasks.count = 0;
	s.has_shape = c->shapes.agreed_on && handler_shape(handler, &s.key, &s.rest_bytes);
	if (!s.has_shape)
		result = group_messages_fill(&s.messages, handler);
	if (result)
		return result;
	struct own_pages *pages = NULL;
	if (!plain_buffers)
		own_pages_begin(&(struct buffer_list){c, handler->requirements.count,
						      required_root_at, handler},
				&pages);
	result = transmit(&s, origin, event_out);
	if (pages)
		own_pages_finish(pages);
	return result;
}

sycl_result handler_send_whole(struct handler *handler, sycl_event *event_out)
{
	for (uint32_t i = 0; i < handler->depends_on.count; i++) {
		sycl_result result = event_check_sent(handler_dependency_at(handler, i)->event);
		if (result)
			return result;
	}
	return send(handler, handler, true, event_out);
}

/* Apart, as the copy has a large place on the stack. */
__attribute__((noinline)) static sycl_result
send_elsewhere(struct handler *handler, struct queue *queue, sycl_event *event_out)
{
	struct handler view = *handler; /* its lists are the handler's own */
	view.queue = queue;
	sycl_result result = check_for_other_queue(&view);
	if (!result && handler->on_device &&
	    (queue->device != handler->queue->device || queue->context != handler->queue->context))
		result = error_set(
			SYCL_ERROR_INVALID,
			"a group with native handles needs a queue of its own device and context");
	return result ? result : send(&view, handler, false, event_out);
}

sycl_result handler_send(struct handler *handler, struct queue *queue, sycl_event *event_out)
{
	return queue == handler->queue ? send(handler, handler, false, event_out)
				       : send_elsewhere(handler, queue, event_out);
}
