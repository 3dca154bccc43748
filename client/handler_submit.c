/* From a built command group to its record. */
#include "handler.h"

#include "access_mode.h"

#include <inttypes.h>
#include <stdlib.h>

/* Messages of one group, in one block: nothing is left behind, whatever happens. */
struct group_messages {
	Sycl__V1__CommandGroup group;
	Sycl__V1__Launch launch;
	Sycl__V1__Copy copy;
	Sycl__V1__MemoryEnd source, destination;
	Sycl__V1__Fill fill;
	Sycl__V1__HostUpdate update;
	Sycl__V1__SharedEventAction event_action;
	uint32_t cluster[3];
	Sycl__V1__Requirement *requirements, **requirement_list;
	Sycl__V1__EventRef *events, **event_list;
	Sycl__V1__Argument *arguments, **argument_list;
	void *block;
	_Alignas(16) uint8_t small[2048]; /* most groups allocate nothing */
};

static void messages_fini(struct group_messages *m)
{
	if (m->block != m->small)
		free(m->block);
}

static sycl_result messages_init(struct group_messages *m, uint32_t requirements, uint32_t events, uint32_t arguments)
{
	size_t bytes = requirements * (sizeof(*m->requirements) + sizeof(void *)) +
		       events * (sizeof(*m->events) + sizeof(void *)) +
		       arguments * (sizeof(*m->arguments) + sizeof(void *));
	m->block = bytes <= sizeof(m->small) ? m->small : malloc(bytes);
	if (!m->block) {
		m->block = m->small;
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
	}
	m->requirements = m->block;
	m->events = (void *)(m->requirements + requirements);
	m->arguments = (void *)(m->events + events);
	m->requirement_list = (void *)(m->arguments + arguments);
	m->event_list = (void *)(m->requirement_list + requirements);
	m->argument_list = (void *)(m->event_list + events);
	return SYCL_SUCCESS;
}

static void put_requirements(struct group_messages *m, const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		const struct handler_requirement *from = handler_requirement_at(handler, i);
		Sycl__V1__Requirement *to = &m->requirements[i];
		sycl__v1__requirement__init(to);
		to->buffer = from->buffer->remote.id;
		to->mode = from->mode;
		/* 0 and 0 say "the whole buffer"; an empty range orders like that as well. */
		bool whole = from->begin == 0 && from->end == from->buffer->size_bytes;
		to->offset_bytes = whole || from->begin == from->end ? 0 : from->begin;
		to->size_bytes = whole ? 0 : from->end - from->begin;
		m->requirement_list[i] = to;
	}
	m->group.n_requirements = handler->requirements.count;
	m->group.requirements = m->requirement_list;
}

static void put_events(struct group_messages *m, const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->depends_on.count; i++) {
		const struct handler_dependency *from = handler_dependency_at(handler, i);
		sycl__v1__event_ref__init(&m->events[i]);
		m->events[i].queue = from->line->remote.id;
		m->events[i].group = from->group;
		m->event_list[i] = &m->events[i];
	}
	m->group.n_depends_on = handler->depends_on.count;
	m->group.depends_on = m->event_list;
}

/* Nothing runs in an empty space, so nothing is special about how. */
static void put_properties(struct group_messages *m, const struct handler *handler)
{
	uint32_t dimensions = handler->is_empty ? 0 : handler->cluster.dimensions;
	for (uint32_t i = 0; i < dimensions; i++)
		m->cluster[i] = (uint32_t)handler->cluster.size[i];
	m->launch.n_cluster = dimensions;
	m->launch.cluster = m->cluster;
	m->launch.cooperative = handler->cooperative && !handler->is_empty;
}

static void put_launch(struct group_messages *m, struct handler *handler)
{
	sycl__v1__launch__init(&m->launch);
	m->launch.kernel = handler->kernel->remote.id;
	m->launch.n_global = handler->dimensions;
	m->launch.global = handler->global;
	/* Of an empty space the local size means nothing, and may be anything (E5). */
	m->launch.n_local = handler->is_nd && !handler->is_empty ? handler->dimensions : 0;
	m->launch.local = handler->local;
	put_properties(m, handler);
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		const struct handler_argument *from = handler_argument_at(handler, i);
		Sycl__V1__Argument *to = &m->arguments[i];
		sycl__v1__argument__init(to);
		if (from->kind == HANDLER_ARGUMENT_ACCESSOR) {
			to->value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
			to->accessor = from->requirement;
			to->offset_bytes = from->offset_bytes;
		} else if (from->kind == HANDLER_ARGUMENT_VALUE) {
			to->value_case = SYCL__V1__ARGUMENT__VALUE_BYTES;
			to->bytes.data = (uint8_t *)handler->values.items + from->offset_bytes;
			to->bytes.len = (size_t)from->size_bytes;
		} else {
			to->value_case = SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES;
			to->local_bytes = from->size_bytes;
		}
		m->argument_list[i] = to;
	}
	m->launch.n_arguments = handler->arguments.count;
	m->launch.arguments = m->argument_list;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	m->group.launch = &m->launch;
}

static void put_copy(struct group_messages *m, const struct handler *handler)
{
	sycl__v1__copy__init(&m->copy);
	sycl__v1__memory_end__init(&m->source);
	sycl__v1__memory_end__init(&m->destination);
	m->source.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	m->source.requirement = handler->source;
	m->source.offset_bytes = handler->source_offset_bytes;
	m->destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	m->destination.requirement = handler->destination;
	m->destination.offset_bytes = handler->destination_offset_bytes;
	m->copy.source = &m->source;
	m->copy.destination = &m->destination;
	m->copy.size_bytes = handler->size_bytes;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	m->group.copy = &m->copy;
}

static void put_fill(struct group_messages *m, struct handler *handler)
{
	sycl__v1__fill__init(&m->fill);
	m->fill.requirement = handler->destination;
	m->fill.offset_bytes = handler->destination_offset_bytes;
	m->fill.size_bytes = handler->size_bytes;
	m->fill.pattern.data = handler->pattern;
	m->fill.pattern.len = handler->pattern_bytes;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	m->group.fill = &m->fill;
}

static void put_event(struct group_messages *m, const struct handler *handler)
{
	bool records = handler->action == HANDLER_ACTION_RECORD_EVENT;
	sycl__v1__shared_event_action__init(&m->event_action);
	m->event_action.event = handler->event->remote.id;
	m->group.action_case = records ? SYCL__V1__COMMAND_GROUP__ACTION_RECORD_EVENT
				       : SYCL__V1__COMMAND_GROUP__ACTION_WAIT_EVENT;
	m->group.record_event = &m->event_action; /* one union with wait_event */
}

static void put_action(struct group_messages *m, struct handler *handler)
{
	if (handler->action == HANDLER_ACTION_LAUNCH) {
		put_launch(m, handler);
	} else if (handler->is_empty) {
		return; /* nothing to move: the group only orders */
	} else if (handler->action == HANDLER_ACTION_COPY) {
		put_copy(m, handler);
	} else if (handler->action == HANDLER_ACTION_FILL) {
		put_fill(m, handler);
	} else if (handler->action == HANDLER_ACTION_UPDATE) {
		sycl__v1__host_update__init(&m->update);
		m->update.requirement = handler->source;
		m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE;
		m->group.host_update = &m->update;
	} else if (handler->event) {
		put_event(m, handler);
	}
}

/* An out-of-order queue's event has a slot of its own, an in-order queue's uses the queue's. */
static sycl_result make_event(struct queue *queue, struct event **event_out)
{
	struct connection *c = queue->object.connection;
	struct event *event = event_new(c, queue->line);
	if (!event)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	if (!queue->line->in_order) {
		(void)pthread_mutex_lock(&c->state_lock);
		int r = slots_take(&c->slots, &event->slot, &event->value);
		(void)pthread_mutex_unlock(&c->state_lock);
		if (r < 0) {
			object_unref(&event->object);
			return error_set(SYCL_ERROR_QUOTA,
					 "all %u completion slots are in use: release events, or submit without",
					 c->slots.count);
		}
		event->own_slot = true;
	}
	*event_out = event;
	return SYCL_SUCCESS;
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
static sycl_result write_group(struct queue *queue, struct group_messages *m, struct event *event)
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
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &m->group;
	sycl_result result = connection_write(c, &command);
	if (result)
		return result;
	line->groups++;
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
		atomic_store_explicit(&requirement->buffer->used, 1, memory_order_relaxed);
		if (access_mode_writes(requirement->mode))
			atomic_store_explicit(&requirement->buffer->modified, 1, memory_order_relaxed);
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

static sycl_result check_objects(const struct handler *handler)
{
	sycl_result result = remote_check(&handler->queue->line->remote);
	for (uint32_t i = 0; i < handler->requirements.count && !result; i++)
		result = remote_check(&handler_requirement_at(handler, i)->buffer->remote);
	if (!result)
		result = handler_check_arguments(handler);
	if (!result)
		result = handler_check_properties(handler);
	return result;
}

sycl_result handler_send(struct handler *handler, sycl_event *event_out)
{
	struct queue *queue = handler->queue;
	struct connection *c = handler->object.connection;
	take_answers(c);
	sycl_result result = check_objects(handler);
	if (result)
		return result;
	CLEANUP(messages_fini) struct group_messages m;
	m.block = m.small;
	result = messages_init(&m, handler->requirements.count, handler->depends_on.count, handler->arguments.count);
	if (result)
		return result;
	sycl__v1__command_group__init(&m.group);
	m.group.queue = queue->line->remote.id;
	m.group.after_all = handler->after_all;
	put_requirements(&m, handler);
	put_events(&m, handler);
	put_action(&m, handler);
	struct event *event = NULL;
	if (event_out)
		result = make_event(queue, &event);
	if (result)
		return result;
	mark_buffers(handler);
	(void)pthread_mutex_lock(&c->submit_lock);
	result = write_group(queue, &m, event);
	(void)pthread_mutex_unlock(&c->submit_lock);
	if (result) {
		if (event)
			drop_event(event);
		return result;
	}
	if (event)
		*event_out = handle_of(&event->object);
	return SYCL_SUCCESS;
}
