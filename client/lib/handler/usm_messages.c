/* Puts actions on USM into messages. */
#include "handler/messages.h"

static void messages_put_usm_copy(struct group_messages *m, const struct handler *handler)
{
	Sycl__V1__UsmCopy *copy = &m->usm_copy;
	const struct arena_range *range = handler->usm.range;
	sycl__v1__usm_copy__init(copy);
	copy->size_bytes = handler->size_bytes;
	if (range) {
		sycl__v1__arena_range__init(&m->usm_arena);
		m->usm_arena.arena = range->arena;
		m->usm_arena.offset_bytes = range->offset_bytes;
		m->usm_arena.size_bytes = range->size_bytes;
	}
	if (handler->usm.program_destination)
		copy->destination_arena = &m->usm_arena;
	else
		copy->destination = (uintptr_t)handler->usm.destination;
	if (handler->usm.program_source)
		copy->source_arena = &m->usm_arena;
	else
		copy->source = (uintptr_t)handler->usm.source;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY;
	m->group.usm_copy = copy;
}

static void messages_put_usm_fill(struct group_messages *m, struct handler *handler)
{
	Sycl__V1__UsmFill *fill = &m->usm_fill;
	sycl__v1__usm_fill__init(fill);
	fill->address = (uintptr_t)handler->usm.destination;
	fill->size_bytes = handler->size_bytes;
	fill->pattern.data = handler->pattern;
	fill->pattern.len = handler->pattern_bytes;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL;
	m->group.usm_fill = fill;
}

static void put_advice(struct group_messages *m, const struct handler *handler)
{
	Sycl__V1__UsmAdvise *advise = &m->usm_advise;
	sycl__v1__usm_advise__init(advise);
	advise->address = (uintptr_t)handler->usm.destination;
	advise->size_bytes = handler->size_bytes;
	advise->advice = handler->usm.advice;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE;
	m->group.usm_advise = advise;
}

static void put_prefetch(struct group_messages *m, const struct handler *handler)
{
	Sycl__V1__UsmRange *range = &m->usm_range;
	sycl__v1__usm_range__init(range);
	range->address = (uintptr_t)handler->usm.destination;
	range->size_bytes = handler->size_bytes;
	m->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH;
	m->group.usm_prefetch = range;
}

void usm_put_action(struct group_messages *m, struct handler *handler)
{
	switch (handler->action) {
	case HANDLER_ACTION_USM_COPY:
		messages_put_usm_copy(m, handler);
		break;
	case HANDLER_ACTION_USM_FILL:
		messages_put_usm_fill(m, handler);
		break;
	case HANDLER_ACTION_USM_ADVISE:
		put_advice(m, handler);
		break;
	default:
		put_prefetch(m, handler);
		break;
	}
}
