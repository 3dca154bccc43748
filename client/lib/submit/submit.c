/*
 * From a built command group to its record in the submit ring, and its event.
 *
 *   validate: may the queue take it?          handler_validate, validate_for_queue
 *   record:   what goes into the ring         record_begin, record_take_parts
 *   event:    what the caller waits with      event_prepare, group_event.c
 *   publish:  a number, bytes, the bell       publish_record -> publish_resubmit | publish_message
 *
 * submit_group does the four in this order; the event gets its number when the record does. A
 * command group of a known shape travels as a RESUBMIT record (resubmit.h), every other one as a
 * message.
 */
#include "submit/submit.h"

#include "graph/executable_graph.h"
#include "handler/messages.h"
#include "interop/bridge.h"
#include "interop/native_commands.h"
#include "host_task/host_tasks.h"
#include "submit/group_event.h"
#include "submit/repeat.h"
#include "submit/shape.h"
#include "base/lone_thread.h"
#include "memory/own_pages.h"

#include "access_mode.h"
#include "stage_clock.h"

#include <stdlib.h>
#include <string.h>

/* The parts of a record of the ring. */
struct group_record {
	struct handler *handler;
	struct event *event;            /* NULL: the caller needs none */
	struct host_task *task;         /* for a host task */
	struct native_call *call;       /* for a native command; the engine's once it is sent */
	struct graph_tasks graph_tasks; /* for a graph's launch */
	bool has_shape;      /* `messages` are filled only when they are needed, which is rare */
	uint32_t rest_bytes; /* for a RESUBMIT record */
	struct shape_key key;
	struct group_messages messages;
};

/* ---------------------------------------- validate ---------------------------------------- */

/*
 * True if no buffer has failed, is a temporary, or has contents to be copied in. This is the usual
 * case, in which buffers need no single checks. Checked once for each command group, before it is
 * sent.
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

/* Repeats for another queue the checks that the setters made for the handler's queue. */
static sycl_result validate_for_queue(struct handler *handler)
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
	/* Its bundle may have it for that device as well; if not, the check reports it. */
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

/* ----------------------------------------- event ----------------------------------------- */

/* Keeps the events on which the command group depends, because the event can list them. */
static sycl_result event_keep_dependencies(struct event *event, const struct handler *handler)
{
	if (handler->step_of)
		handler = handler->step_of;
	uint32_t count = handler->depends_on.count;
	if (count == 0)
		return SYCL_SUCCESS;
	event->waits = calloc(count, sizeof(struct event *));
	if (!event->waits)
		return error_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		struct event *other = handler_dependency_at(handler, i)->event;
		if (event_is_complete(other))
			continue;
		object_ref(&other->object);
		event->waits[event->wait_count++] = other;
	}
	return SYCL_SUCCESS;
}

static sycl_result event_prepare(const struct handler *handler, struct event **event_out)
{
	struct event *event = NULL;
	sycl_result result = group_event_new(handler->queue, &event);
	if (!result)
		result = event_keep_dependencies(event, handler);
	if (result && event)
		group_event_discard(event);
	if (!result)
		*event_out = event;
	return result;
}

/* ----------------------------------------- record ----------------------------------------- */

/* A buffer's release waits only if the buffer was used, and writes back only if it was modified. */
static void record_mark_buffers(const struct handler *handler)
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

/* `record` is large, so only needed fields are written. Call record_end also after a failure. */
static sycl_result record_begin(struct group_record *record, struct handler *handler)
{
	struct connection *c = handler->object.connection;
	record->handler = handler;
	record->event = NULL;
	record->task = NULL;
	record->call = NULL;
	record->messages.block = record->messages.small;
	record->messages.lent = NULL;
	record->graph_tasks.tasks = NULL;
	record->graph_tasks.count = 0;
	record->has_shape =
		c->shapes.agreed_on && handler_shape(handler, &record->key, &record->rest_bytes);
	return record->has_shape ? SYCL_SUCCESS : group_messages_fill(&record->messages, handler);
}

static void record_end(struct group_record *record)
{
	group_messages_fini(&record->messages);
}

/* Takes the event, and the tasks and calls of the command group in this process. `origin`: the
 * handler itself, if the record's is a copy of it for another queue. */
static sycl_result record_take_parts(struct group_record *record, struct handler *origin,
				     bool wants_event)
{
	struct handler *handler = record->handler;
	struct connection *c = handler->object.connection;
	sycl_result result = wants_event ? event_prepare(handler, &record->event) : SYCL_SUCCESS;
	if (!result && handler->action == HANDLER_ACTION_HOST_TASK)
		result = handler_host_task_new(origin, handler->queue->line, &record->task);
	if (!result && record->task && handler->native)
		record->task->early = bridge_event_take(handler->bridge, handler->queue->device);
	if (!result && handler->action == HANDLER_ACTION_NATIVE)
		result = native_call_new(c, handler, &record->call);
	if (handler->action != HANDLER_ACTION_GRAPH)
		return result;
	if (!result)
		result = graph_tasks_make(handler, &record->graph_tasks);
	if (record->event)
		record->event->untimed = !(handler->graph->flags & SYCL_GRAPH_ENABLE_PROFILING);
	return result;
}

/* `sent` false: the engine will never use the parts. */
static void record_settle_parts(struct group_record *record, bool sent)
{
	struct connection *c = record->handler->object.connection;
	if (record->task)
		host_task_settle(c, record->task, sent);
	if (!sent)
		native_call_discard(record->call);
	if (record->handler->action == HANDLER_ACTION_GRAPH)
		graph_tasks_settle(c, &record->graph_tasks, sent);
	if (!sent && record->event)
		group_event_discard(record->event);
}

/* With the submit lock. A kernel keeps the place of its last shape; a copy has none. */
static enum shape_use record_find_shape(struct group_record *record, struct shape_name *name_out)
{
	struct shapes *shapes = &record->handler->object.connection->shapes;
	struct kernel *kernel = record->handler->kernel;
	if (!record->has_shape)
		return SHAPE_MESSAGE;
	if (kernel && shapes_match_last(shapes, &record->key, kernel->shape, name_out))
		return SHAPE_KNOWN;
	shape_key_seal(&record->key);
	enum shape_use use = shapes_find(shapes, &record->key, name_out);
	if (use == SHAPE_KNOWN && kernel)
		kernel->shape = name_out->shape;
	return use;
}

/* The parts of a message that belong to this one submission: numbers, slots and calls. */
static void record_fill_message(struct group_record *record, const struct shape_name *defines,
				uint64_t group)
{
	struct connection *c = record->handler->object.connection;
	struct group_messages *m = &record->messages;
	m->group.group = group;
	m->group.has_event = record->event && c->takes_events;
	if (record->event && record->event->own_slot) {
		m->group.wants_slot = true;
		m->group.slot = record->event->slot;
		m->group.slot_value = record->event->value;
	}
	if (record->task) {
		m->host_task.slot = record->task->slot;
		m->host_task.slot_value = record->task->value;
		m->host_task.early_event =
			record->task->early ? bridge_event_id(record->task->early) : 0;
		host_task_list(c, record->task, group);
	}
	if (record->call)
		m->native.context = native_call_context(record->call);
	if (record->handler->action == HANDLER_ACTION_GRAPH) {
		sycl__v1__graph_launch__init(&record->graph_tasks.launch);
		record->graph_tasks.launch.graph = record->handler->graph->remote.id;
		graph_tasks_put(c, &record->graph_tasks, group);
		m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
		m->group.graph_launch = &record->graph_tasks.launch;
	}
	if (defines) {
		m->group.shape = defines->shape;
		m->group.shape_generation = defines->generation;
	}
}

/* ---------------------------------------- publish ---------------------------------------- */

static sycl_result publish_resubmit(struct group_record *record, struct shape_name name,
				    uint64_t group)
{
	struct connection *c = record->handler->object.connection;
	struct resubmit_record head = {.shape = name.shape,
				       .generation = name.generation,
				       .group = group,
				       .rest_bytes = record->rest_bytes};
	if (record->event && c->takes_events)
		head.flags = RESUBMIT_HAS_EVENT;
	if (record->event && record->event->own_slot) {
		head.flags |= RESUBMIT_WANTS_SLOT;
		head.slot = record->event->slot;
		head.slot_value = record->event->value;
	}
	void *payload = NULL;
	sycl_result result = connection_reserve_resubmit(
		c, (uint32_t)sizeof(head) + record->rest_bytes, &payload);
	if (result)
		return result;
	memcpy(payload, &head, sizeof(head));
	handler_write_rest(record->handler, (uint8_t *)payload + sizeof(head));
	STAGE_MARK(group, STAGE_WRITTEN);
	connection_commit(c);
	STAGE_MARK(group, STAGE_RUNG);
	return SYCL_SUCCESS;
}

static sycl_result publish_message(struct group_record *record, const struct shape_name *defines,
				   uint64_t group)
{
	struct connection *c = record->handler->object.connection;
	struct group_messages *m = &record->messages;
	sycl_result result =
		record->has_shape ? group_messages_fill(m, record->handler) : SYCL_SUCCESS;
	if (result)
		return result;
	record_fill_message(record, defines, group);
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &m->group;
	result = connection_write(c, &command);
	if (!result && defines)
		shapes_defined(&c->shapes, *defines);
	return result;
}

/* The submit lock is held: numbers and records have the same order. */
static sycl_result publish_record(struct group_record *record)
{
	struct queue_line *line = record->handler->queue->line;
	struct connection *c = record->handler->object.connection;
	if (queue_line_is_full(c, line))
		return error_set_object(
			SYCL_ERROR_QUOTA, line->remote.id,
			"%u command groups of this queue are in flight, as many as are allowed",
			(uint32_t)line->groups - line->done);
	struct shape_name name;
	enum shape_use use = record_find_shape(record, &name);
	sycl_result result = use == SHAPE_KNOWN
				     ? publish_resubmit(record, name, line->groups + 1)
				     : publish_message(record, use == SHAPE_DEFINE ? &name : NULL,
						       line->groups + 1);
	if (result)
		return result;
	line->groups++;
	if (use == SHAPE_KNOWN)
		repeat_remember(record->handler, name, record->rest_bytes);
	if (record->messages.lent)
		lent_range_commit(c, line, TAKE(record->messages.lent), line->groups);
	if (record->event)
		group_event_number(record->event, line->groups);
	return SYCL_SUCCESS;
}

/* ---------------------------------------- all four ---------------------------------------- */

static struct buffer *required_root_at(const void *handler, uint32_t i)
{
	return buffer_root(handler_requirement_at(handler, i)->buffer);
}

static sycl_result record_and_publish(struct group_record *record, struct handler *origin,
				      sycl_event *event_out)
{
	struct connection *c = record->handler->object.connection;
	/* With this count, no other thread finds the last handle gone before this call gives out
	 * another one (connection_handle_released). */
	if (event_out)
		(void)count_add(&c->handles, 1, memory_order_relaxed);
	sycl_result result = record_take_parts(record, origin, event_out != NULL);
	bool sent = false;
	if (!result) {
		record_mark_buffers(record->handler);
		(void)pthread_mutex_lock(&c->submit_lock);
		result = publish_record(record);
		(void)pthread_mutex_unlock(&c->submit_lock);
		sent = !result;
	}
	if (sent && event_out && record->event)
		*event_out = handle_of(&record->event->object);
	record_settle_parts(record, sent);
	if (event_out)
		(void)count_add(&c->handles, -1u, memory_order_acq_rel);
	return result;
}

static sycl_result submit_group(struct handler *handler, struct handler *origin, bool is_step,
				sycl_event *event_out)
{
	struct connection *c = handler->object.connection;
	replies_take_in(c);
	bool plain_buffers = buffers_are_plain(handler);
	sycl_result result = handler_validate(handler, plain_buffers);
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
		return usm_submit_staged(handler, event_out);
	CLEANUP(record_end) struct group_record record;
	result = record_begin(&record, handler);
	if (result)
		return result;
	struct own_pages *pages = NULL;
	if (!plain_buffers)
		own_pages_begin(&(struct buffer_list){c, handler->requirements.count,
						      required_root_at, handler},
				&pages);
	result = record_and_publish(&record, origin, event_out);
	if (pages)
		own_pages_finish(pages);
	return result;
}

sycl_result handler_submit_step(struct handler *handler, sycl_event *event_out)
{
	for (uint32_t i = 0; i < handler->depends_on.count; i++) {
		sycl_result result = event_check_sent(handler_dependency_at(handler, i)->event);
		if (result)
			return result;
	}
	return submit_group(handler, handler, true, event_out);
}

/* This is a function of its own, because the copy takes much of the stack. */
__attribute__((noinline)) static sycl_result
submit_to_other_queue(struct handler *handler, struct queue *queue, sycl_event *event_out)
{
	struct handler view = *handler; /* its lists are the handler's own */
	view.queue = queue;
	sycl_result result = validate_for_queue(&view);
	if (!result && handler->on_device &&
	    (queue->device != handler->queue->device || queue->context != handler->queue->context))
		result = error_set(
			SYCL_ERROR_INVALID,
			"a group with native handles needs a queue of its own device and context");
	return result ? result : submit_group(&view, handler, false, event_out);
}

sycl_result handler_submit(struct handler *handler, struct queue *queue, sycl_event *event_out)
{
	return queue == handler->queue ? submit_group(handler, handler, false, event_out)
				       : submit_to_other_queue(handler, queue, event_out);
}
