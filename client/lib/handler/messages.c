/* Turns a built command group into its messages. */
#include "handler/messages.h"
#include "handler/native_action.h"

#include "handler/image.h"

#include <stdlib.h>

void group_messages_fini(struct group_messages *m)
{
	if (m->block != m->small)
		free(m->block);
	if (m->lent)
		lent_range_drop(m->connection, m->lent);
}

/* `images`: 0, or as many as arguments if one of them is an image or a sampler. */
static sycl_result messages_make_room(struct group_messages *m, uint32_t requirements,
				      uint32_t events, uint32_t arguments, uint32_t images)
{
	size_t bytes = requirements * (sizeof(*m->requirements) + sizeof(void *)) +
		       events * (sizeof(*m->events) + sizeof(void *)) +
		       arguments * (sizeof(*m->arguments) + sizeof(void *)) +
		       images * (sizeof(*m->images) + sizeof(*m->samplers) + sizeof(*m->views));
	m->block = bytes <= sizeof(m->small) ? m->small : malloc(bytes);
	if (!m->block) {
		m->block = m->small;
		return error_no_memory();
	}
	m->requirements = m->block;
	m->events = (void *)(m->requirements + requirements);
	m->arguments = (void *)(m->events + events);
	m->images = (void *)(m->arguments + arguments);
	m->samplers = (void *)(m->images + images);
	m->views = (void *)(m->samplers + images);
	m->requirement_list = (void *)(m->views + images);
	m->event_list = (void *)(m->requirement_list + requirements);
	m->argument_list = (void *)(m->event_list + events);
	return SYCL_SUCCESS;
}

/* Returns the offset of a requirement's buffer in the service's buffer. */
static uint64_t origin_of(const struct handler *handler, uint32_t requirement)
{
	const struct buffer *buffer = handler_requirement_at(handler, requirement)->buffer;
	return buffer->root ? buffer->origin_bytes : 0;
}

/* The service has whole buffers only, so ranges describe a sub-buffer. */
static void messages_put_ranges(const struct handler_requirement *from, Sycl__V1__Requirement *to)
{
	const struct buffer *buffer = from->buffer;
	bool whole = !buffer->is_part && from->begin == 0 && from->end == buffer->size_bytes;
	if (buffer->is_part && buffer->root) {
		to->order_offset_bytes = buffer->origin_bytes;
		to->order_size_bytes = buffer->size_bytes;
	}
	/* Offset 0 and size 0 mean the whole buffer, so an empty part lies at the end. */
	uint64_t begin = from->begin == from->end ? buffer->size_bytes : from->begin;
	to->offset_bytes = whole ? 0 : (buffer->root ? buffer->origin_bytes : 0) + begin;
	to->size_bytes = whole ? 0 : from->end - from->begin;
}

static void messages_put_requirements(struct group_messages *m, const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		const struct handler_requirement *from = handler_requirement_at(handler, i);
		Sycl__V1__Requirement *to = &m->requirements[i];
		sycl__v1__requirement__init(to);
		to->buffer = from->buffer->remote.id;
		to->mode = from->mode;
		messages_put_ranges(from, to);
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
		m->events[i].queue = from->event->line->remote.id;
		m->events[i].group = from->event->group;
		m->event_list[i] = &m->events[i];
	}
	m->group.n_depends_on = handler->depends_on.count;
	m->group.depends_on = m->event_list;
}

/* An empty range runs nothing, so its properties are not sent. */
static void put_properties(struct group_messages *m, const struct handler *handler)
{
	uint32_t dimensions = handler->is_empty ? 0 : handler->cluster.dimensions;
	for (uint32_t i = 0; i < dimensions; i++)
		m->cluster[i] = (uint32_t)handler->cluster.size[i];
	m->launch.n_cluster = dimensions;
	m->launch.cluster = m->cluster;
	m->launch.cooperative = handler->cooperative && !handler->is_empty;
	m->launch.splittable = handler->splittable && !handler->is_empty;
	m->launch.early = handler->early && !handler->is_empty;
}

static void put_launch(struct group_messages *m, struct handler *handler)
{
	sycl__v1__launch__init(&m->launch);
	m->launch.kernel = handler->kernel->remote.id;
	m->launch.n_global = handler->dimensions;
	m->launch.global = handler->global;
	/* For an empty range the local size has no meaning, and may be any value (E5). */
	m->launch.n_local = handler->is_nd && !handler->is_empty ? handler->dimensions : 0;
	m->launch.local = handler->local;
	m->launch.n_offset = handler->is_empty ? 0 : handler->offset.dimensions;
	m->launch.offset = handler->offset.size;
	put_properties(m, handler);
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		const struct handler_argument *from = handler_argument_at(handler, i);
		Sycl__V1__Argument *to = &m->arguments[i];
		sycl__v1__argument__init(to);
		if (from->kind == HANDLER_ARGUMENT_ACCESSOR) {
			to->value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
			to->accessor = from->requirement;
			to->offset_bytes =
				origin_of(handler, from->requirement) + from->offset_bytes;
		} else if (from->kind == HANDLER_ARGUMENT_USM) {
			to->value_case = SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS;
			to->usm_address = from->offset_bytes;
		} else if (from->kind == HANDLER_ARGUMENT_VALUE) {
			to->value_case = SYCL__V1__ARGUMENT__VALUE_BYTES;
			to->bytes.data = (uint8_t *)handler->values.items + from->offset_bytes;
			to->bytes.len = (size_t)from->size_bytes;
		} else if (from->kind == HANDLER_ARGUMENT_IMAGE ||
			   from->kind == HANDLER_ARGUMENT_SAMPLER) {
			handler_put_image(from, to, &m->images[i], &m->samplers[i]);
			if (from->view_end)
				handler_put_view(handler, from, &m->images[i], &m->views[i]);
		} else if (from->kind == HANDLER_ARGUMENT_LOCAL) {
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

/* Packs bytes of the program into shared memory (E21). */
static sycl_result take_host_bytes(struct group_messages *m, const struct handler *handler)
{
	struct copy_box box = handler->box;
	uint64_t bytes = box.width_bytes * box.rows * box.slices;
	sycl_result result = lent_range_new(handler->object.connection, bytes, &m->lent);
	if (result)
		return result;
	box.destination = copy_box_tight(&box);
	copy_box_move(&box, m->lent->address,
		      (const uint8_t *)handler->host_source + handler->source_offset_bytes);
	return SYCL_SUCCESS;
}

static void put_box(struct group_messages *m, const struct copy_box *box)
{
	if (box->rows == 1) {
		m->copy.size_bytes = box->width_bytes;
		return;
	}
	sycl__v1__box__init(&m->box);
	m->box.width_bytes = box->width_bytes;
	m->box.rows = box->rows;
	m->box.slices = box->slices;
	m->box.source_row_pitch = box->source.row_bytes;
	m->box.source_slice_pitch = box->source.slice_bytes;
	m->box.destination_row_pitch = box->destination.row_bytes;
	m->box.destination_slice_pitch = box->destination.slice_bytes;
	m->copy.box = &m->box;
}

static void put_image_box(struct group_messages *m, struct handler *handler)
{
	sycl__v1__image_box__init(&m->image_box);
	m->image_box.n_size = 3;
	m->image_box.size = handler->image_size;
	if (handler->image_is_source) {
		m->image_box.n_source_origin = 3;
		m->image_box.source_origin = handler->image_source_origin;
	}
	if (handler->image_is_destination) {
		m->image_box.n_destination_origin = 3;
		m->image_box.destination_origin = handler->image_destination_origin;
	}
}

static void put_usm_end(Sycl__V1__MemoryEnd *end, const struct handler *handler)
{
	end->place_case = SYCL__V1__MEMORY_END__PLACE_USM_ADDRESS;
	end->usm_address = (uintptr_t)handler_host_end(handler);
}

static void put_source(struct group_messages *m, const struct handler *handler)
{
	sycl__v1__memory_end__init(&m->source);
	m->copy.source = &m->source;
	if (handler->host_is_usm && handler->host_source) {
		put_usm_end(&m->source, handler);
		return;
	}
	if (!m->lent) {
		m->source.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
		m->source.requirement = handler->source;
		m->source.offset_bytes =
			origin_of(handler, handler->source) + handler->source_offset_bytes;
		return;
	}
	sycl__v1__arena_range__init(&m->arena);
	m->arena.arena = m->lent->range.arena;
	m->arena.offset_bytes = m->lent->range.offset_bytes;
	m->arena.size_bytes = m->lent->range.size_bytes;
	m->source.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	m->source.arena = &m->arena;
}

/* An offset in bytes is that of a buffer, or of an image in the shared memory of the host. */
static uint64_t destination_offset(const struct handler *handler)
{
	return handler->image_part && handler->image_is_destination
		       ? 0
		       : origin_of(handler, handler->destination) +
				 handler->destination_offset_bytes;
}

static void put_destination(struct group_messages *m, const struct handler *handler)
{
	sycl__v1__memory_end__init(&m->destination);
	m->copy.destination = &m->destination;
	if (handler->host_destination) {
		put_usm_end(&m->destination, handler);
		return;
	}
	m->destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	m->destination.requirement = handler->destination;
	m->destination.offset_bytes = destination_offset(handler);
}

static sycl_result messages_put_copy(struct group_messages *m, struct handler *handler)
{
	struct copy_box box = handler->box;
	sycl_result result = handler->host_source && !handler->host_is_usm
				     ? take_host_bytes(m, handler)
				     : SYCL_SUCCESS;
	if (result)
		return result;
	sycl__v1__copy__init(&m->copy);
	put_source(m, handler);
	put_destination(m, handler);
	if (m->lent) {
		box.source = copy_box_tight(&box);
		box = copy_box_simplify(&box);
	}
	if (handler->image_part) {
		put_image_box(m, handler);
		m->copy.image = &m->image_box;
	} else {
		put_box(m, &box);
	}
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	m->group.copy = &m->copy;
	return SYCL_SUCCESS;
}

static void messages_put_fill(struct group_messages *m, struct handler *handler)
{
	sycl__v1__fill__init(&m->fill);
	m->fill.requirement = handler->destination;
	m->fill.offset_bytes = destination_offset(handler);
	m->fill.size_bytes = handler->size_bytes;
	if (handler->image_part) {
		put_image_box(m, handler);
		m->fill.image = &m->image_box;
	}
	m->fill.pattern.data = handler->pattern;
	m->fill.pattern.len = handler->pattern_bytes;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	m->group.fill = &m->fill;
}

static void put_event(struct group_messages *m, struct handler *handler)
{
	bool records = handler->action == HANDLER_ACTION_RECORD_EVENT;
	sycl__v1__shared_event_action__init(&m->event_action);
	m->event_action.event = handler->event->remote.id;
	m->group.action_case = records ? SYCL__V1__COMMAND_GROUP__ACTION_RECORD_EVENT
				       : SYCL__V1__COMMAND_GROUP__ACTION_WAIT_EVENT;
	m->group.record_event = &m->event_action; /* wait_event is in the same union */
}

static void put_host_task(struct group_messages *m, struct handler *handler)
{
	sycl__v1__host_task__init(&m->host_task); /* the slot is filled in when it is taken */
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	m->host_task.on_device = handler->on_device;
	m->group.host_task = &m->host_task;
}

static void put_native(struct group_messages *m, struct handler *handler)
{
	sycl__v1__native_command__init(&m->native);
	m->native.function = handler->native->entry; /* the argument is filled in later */
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_NATIVE;
	m->group.native = &m->native;
}

/* The number of the body's nodes is filled in when they are sent. */
static void put_condition(struct group_messages *m, struct handler *handler)
{
	sycl__v1__graph_condition__init(&m->condition);
	m->condition.kind = handler->repeats
				    ? SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_WHILE
				    : SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_IF;
	m->condition.usm_address = (uintptr_t)handler->usm.source;
	if (!handler->usm.source) {
		m->condition.requirement = handler->source;
		m->condition.offset_bytes =
			origin_of(handler, handler->source) + handler->source_offset_bytes;
	}
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION;
	m->group.graph_condition = &m->condition;
}

static void put_update(struct group_messages *m, struct handler *handler)
{
	sycl__v1__host_update__init(&m->update);
	m->update.requirement = handler->source;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE;
	m->group.host_update = &m->update;
}

/* The function for each action that always succeeds. A group without one only orders. */
static const struct {
	void (*put)(struct group_messages *m, struct handler *handler);
	bool is_put_empty; /* also if it moves and runs nothing */
} actions[] = {
	[HANDLER_ACTION_LAUNCH] = {.put = put_launch, .is_put_empty = true},
	[HANDLER_ACTION_FILL] = {.put = messages_put_fill},
	[HANDLER_ACTION_UPDATE] = {.put = put_update},
	[HANDLER_ACTION_RECORD_EVENT] = {.put = put_event},
	[HANDLER_ACTION_WAIT_EVENT] = {.put = put_event},
	[HANDLER_ACTION_HOST_TASK] = {.put = put_host_task, .is_put_empty = true},
	[HANDLER_ACTION_USM_COPY] = {.put = usm_put_action},
	[HANDLER_ACTION_USM_FILL] = {.put = usm_put_action},
	[HANDLER_ACTION_USM_PREFETCH] = {.put = usm_put_action},
	[HANDLER_ACTION_USM_ADVISE] = {.put = usm_put_action},
	[HANDLER_ACTION_NATIVE] = {.put = put_native, .is_put_empty = true},
	[HANDLER_ACTION_CONDITION] = {.put = put_condition, .is_put_empty = true},
};

static sycl_result put_action(struct group_messages *m, struct handler *handler)
{
	size_t action = handler->action;
	if (action == HANDLER_ACTION_COPY && !handler->is_empty)
		return messages_put_copy(m, handler);
	if (action < sizeof(actions) / sizeof(*actions) && actions[action].put &&
	    (!handler->is_empty || actions[action].is_put_empty))
		actions[action].put(m, handler);
	return SYCL_SUCCESS;
}

static bool handler_has_images(const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		enum handler_argument_kind kind = handler_argument_at(handler, i)->kind;
		if (kind == HANDLER_ARGUMENT_IMAGE || kind == HANDLER_ARGUMENT_SAMPLER)
			return true;
	}
	return false;
}

sycl_result group_messages_fill(struct group_messages *m, struct handler *handler)
{
	m->connection = handler->object.connection;
	sycl_result result = messages_make_room(
		m, handler->requirements.count, handler->depends_on.count, handler->arguments.count,
		handler_has_images(handler) ? handler->arguments.count : 0);
	if (result)
		return result;
	sycl__v1__command_group__init(&m->group);
	m->group.queue = handler->queue->line->remote.id;
	m->group.after_all = handler->after_all;
	messages_put_requirements(m, handler);
	put_events(m, handler);
	return put_action(m, handler);
}
