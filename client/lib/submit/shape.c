/* Describes a handler as a shape, and the changes from one group of a shape to the next as a
 * record. */
#include "submit/shape.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Each of these functions writes words from `at` on, and returns their end. */
static uint64_t *shape_put_requirements(const struct handler *handler, uint64_t *at)
{
	const struct handler_requirement *requirement = handler->requirements.items;
	const struct handler_requirement *end = requirement + handler->requirements.count;
	for (; requirement < end; requirement++) {
		const struct buffer *buffer = requirement->buffer;
		bool is_whole = !buffer->root && requirement->begin == 0 &&
				requirement->end == buffer->size_bytes;
		*at++ = buffer->remote.id;
		*at++ = (uint64_t)requirement->mode << 32 | (buffer->is_part ? 1u : 0u) |
			(buffer->root ? 2u : 0u) | (is_whole ? 4u : 0u);
		if (is_whole)
			continue;
		*at++ = requirement->begin;
		*at++ = requirement->end;
		*at++ = buffer->origin_bytes;
		*at++ = buffer->size_bytes;
	}
	return at;
}

/* NULL: the handler has an argument that no shape has. */
static uint64_t *put_arguments(const struct handler *handler, uint64_t *at,
			       uint32_t *rest_bytes_out)
{
	const struct handler_argument *argument = handler->arguments.items,
				      *end = argument + handler->arguments.count;
	uint64_t usm_bytes = 0, value_bytes = 0;
	for (; argument < end; argument++) {
		uint64_t head = (uint64_t)argument->kind << 32;
		switch (argument->kind) {
		case HANDLER_ARGUMENT_ACCESSOR:
			*at++ = head | argument->requirement;
			*at++ = argument->offset_bytes;
			break;
		case HANDLER_ARGUMENT_VALUE:
			*at++ = head | argument->size_bytes; /* a record's bytes at most */
			value_bytes += argument->size_bytes;
			break;
		case HANDLER_ARGUMENT_LOCAL:
			*at++ = head;
			*at++ = argument->size_bytes;
			break;
		case HANDLER_ARGUMENT_USM:
			*at++ = head;
			usm_bytes += sizeof(uint64_t);
			break;
		default:
			return NULL;
		}
	}
	if (value_bytes > SHAPE_VALUE_BYTES_MAX)
		return NULL;
	*rest_bytes_out = (uint32_t)(handler->depends_on.count * sizeof(struct resubmit_event) +
				     usm_bytes + value_bytes);
	return at;
}

static uint64_t *put_range(uint64_t *at, const uint64_t *sizes, uint32_t dimensions)
{
	for (uint32_t i = 0; i < dimensions; i++)
		*at++ = sizes[i];
	return at;
}

/* The most words before requirements and arguments, of one requirement, and of one argument. */
enum { HEAD_WORDS = 15, REQUIREMENT_WORDS = 6, ARGUMENT_WORDS = 2 };

/* A byte each, 0 or 1, so seven bits above the first are free. */
static uint64_t flags_of(const struct handler *handler)
{
	static_assert(offsetof(struct handler, splittable) == offsetof(struct handler, is_nd) + 3,
		      "one word of flags");
	uint32_t flags;
	memcpy(&flags, (const uint8_t *)handler + offsetof(struct handler, is_nd), sizeof(flags));
	return (uint64_t)flags << 32 | (uint64_t)handler->after_all << 33 |
	       (uint64_t)handler->early << 41 | (uint64_t)handler->offset.dimensions << 34;
}

/* Copies have shapes only if the engine reaches USM. Memory of the program that is not USM is sent
 * with the message. */
static bool copy_has_shape(const struct handler *handler)
{
	return handler->action == HANDLER_ACTION_COPY && !handler->is_empty &&
	       !handler->image_part && handler->object.connection->has_usm_ends &&
	       (handler->host_is_usm || !handler->host_source);
}

/* A kernel's shape has the kernel's id in this place; this shape has a number that is no id. */
static bool copy_shape(const struct handler *handler, struct shape_key *key,
		       uint32_t *rest_bytes_out)
{
	const struct copy_box *box = &handler->box;
	uint64_t *at = key->words;
	bool from_usm = handler->host_is_usm && handler->host_source,
	     to_usm = handler->host_is_usm && !handler->host_source;
	*at++ = handler->queue->line->remote.id;
	*at++ = 1u | (from_usm ? 2u : 0u) | (to_usm ? 4u : 0u) | (handler->after_all ? 8u : 0u);
	*at++ = (uint64_t)handler->requirements.count | (uint64_t)handler->depends_on.count << 8;
	*at++ = (uint64_t)handler->source << 32 | handler->destination;
	*at++ = from_usm ? 0 : handler->source_offset_bytes;
	*at++ = to_usm ? 0 : handler->destination_offset_bytes;
	*at++ = box->width_bytes;
	*at++ = box->rows;
	*at++ = box->slices;
	*at++ = box->source.row_bytes;
	*at++ = box->source.slice_bytes;
	*at++ = box->destination.row_bytes;
	*at++ = box->destination.slice_bytes;
	at = shape_put_requirements(handler, at);
	shape_key_end(key, at);
	*rest_bytes_out = (uint32_t)(handler->depends_on.count * sizeof(struct resubmit_event) +
				     (handler->host_is_usm ? sizeof(uint64_t) : 0));
	return true;
}

bool handler_shape(const struct handler *handler, struct shape_key *key, uint32_t *rest_bytes_out)
{
	if ((handler->action != HANDLER_ACTION_LAUNCH && !copy_has_shape(handler)) ||
	    handler->requirements.count > SHAPE_REQUIREMENTS_MAX ||
	    handler->depends_on.count > SHAPE_EVENTS_MAX ||
	    handler->arguments.count > SHAPE_ARGUMENTS_MAX)
		return false;
	if (HEAD_WORDS + handler->requirements.count * REQUIREMENT_WORDS +
		    handler->arguments.count * ARGUMENT_WORDS >
	    SHAPE_KEY_WORDS_MAX)
		return false;
	if (handler->action == HANDLER_ACTION_COPY)
		return copy_shape(handler, key, rest_bytes_out);
	uint64_t *at = key->words;
	*at++ = handler->queue->line->remote.id;
	*at++ = handler->kernel->remote.id;
	*at++ = (uint64_t)handler->requirements.count | (uint64_t)handler->depends_on.count << 8 |
		(uint64_t)handler->arguments.count << 16 | (uint64_t)handler->dimensions << 24 |
		(uint64_t)handler->cluster.dimensions << 28 | flags_of(handler);
	at = put_range(at, handler->global, handler->dimensions);
	if (handler->is_nd)
		at = put_range(at, handler->local, handler->dimensions);
	at = put_range(at, handler->cluster.size, handler->cluster.dimensions);
	at = put_range(at, handler->offset.size, handler->offset.dimensions);
	at = shape_put_requirements(handler, at);
	at = put_arguments(handler, at, rest_bytes_out);
	if (!at)
		return false;
	shape_key_end(key, at);
	return true;
}

void handler_write_rest(const struct handler *handler, uint8_t *at)
{
	for (uint32_t i = 0; i < handler->depends_on.count; i++) {
		const struct event *event = handler_dependency_at(handler, i)->event;
		const struct resubmit_event named = {event->line->remote.id, event->group};
		memcpy(at, &named, sizeof(named));
		at += sizeof(named);
	}
	if (handler->host_is_usm) {
		const uint64_t address = (uintptr_t)handler_host_end(handler);
		memcpy(at, &address, sizeof(address));
	}
	uint32_t addresses = handler_may_have(handler, 1u << HANDLER_ARGUMENT_USM)
				     ? handler->arguments.count
				     : 0;
	for (uint32_t i = 0; i < addresses; i++) {
		const struct handler_argument *argument = handler_argument_at(handler, i);
		if (argument->kind != HANDLER_ARGUMENT_USM)
			continue;
		memcpy(at, &argument->offset_bytes, sizeof(argument->offset_bytes));
		at += sizeof(argument->offset_bytes);
	}
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		const struct handler_argument *argument = handler_argument_at(handler, i);
		if (argument->kind != HANDLER_ARGUMENT_VALUE)
			continue;
		memcpy(at, (const uint8_t *)handler->values.items + argument->offset_bytes,
		       argument->size_bytes);
		at += argument->size_bytes;
	}
}
