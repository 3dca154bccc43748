#include "base/shape.h"

#include "protocol_limits.h"
#include "resubmit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS_MAX = 3 };

struct shape {
	uint32_t generation;
	uint32_t rest_bytes; /* bytes of a record behind its head */
	uint32_t usm_count, value_bytes;
	bool makes_bursts;
	Sycl__V1__CommandGroup group;
	Sycl__V1__Launch launch;
	uint64_t global[DIMENSIONS_MAX], local[DIMENSIONS_MAX], offset[DIMENSIONS_MAX];
	uint32_t cluster[DIMENSIONS_MAX];
	Sycl__V1__Copy copy;
	Sycl__V1__MemoryEnd source, destination;
	Sycl__V1__Box box;
	/* These arrays follow the struct in this order: */
	Sycl__V1__Requirement *requirements;
	Sycl__V1__EventRef *events;
	Sycl__V1__Argument *arguments;
	Sycl__V1__Requirement **requirement_list;
	Sycl__V1__EventRef **event_list;
	Sycl__V1__Argument **argument_list;
	uint64_t **usm; /* where the addresses are: of arguments, or of an end of a copy */
	uint8_t *values;
};

static_assert(sizeof(struct shape) % _Alignof(void *) == 0, "arrays of pointers follow");

/* Counts the USM addresses and the bytes of values. 0, or -EPROTO. */
static int shape_count_arguments(const Sycl__V1__Launch *launch, uint32_t *usm_out,
				 uint32_t *value_bytes_out)
{
	uint32_t usm = 0;
	size_t bytes = 0;
	for (size_t i = 0; i < launch->n_arguments; i++) {
		const Sycl__V1__Argument *argument = launch->arguments[i];
		switch (argument->value_case) {
		case SYCL__V1__ARGUMENT__VALUE_IMAGE:
		case SYCL__V1__ARGUMENT__VALUE_IS_SAMPLER:
			return -EPROTO;
		case SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS:
			usm++;
			break;
		/* All of them are in one record, so the sum cannot overflow. */
		case SYCL__V1__ARGUMENT__VALUE_BYTES:
			bytes += argument->bytes.len;
			break;
		default:
			break;
		}
	}
	if (bytes > SHAPE_VALUE_BYTES_MAX)
		return -EPROTO;
	*usm_out = usm;
	*value_bytes_out = (uint32_t)bytes;
	return 0;
}

static bool shape_is_copy(const Sycl__V1__CommandGroup *message)
{
	return message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_COPY;
}

static bool is_usm_end(const Sycl__V1__MemoryEnd *end)
{
	return end->place_case == SYCL__V1__MEMORY_END__PLACE_USM_ADDRESS;
}

/* A range of an arena is valid only for the group that it came with. */
static int count_ends(const Sycl__V1__Copy *copy, uint32_t *usm_out)
{
	const Sycl__V1__MemoryEnd *ends[] = {copy ? copy->source : NULL,
					     copy ? copy->destination : NULL};
	*usm_out = 0;
	for (uint32_t i = 0; i < 2; i++) {
		if (!ends[i] || ends[i]->place_case == SYCL__V1__MEMORY_END__PLACE_ARENA)
			return -EPROTO;
		*usm_out += is_usm_end(ends[i]);
	}
	return 0;
}

static int check_shape(const Sycl__V1__CommandGroup *message, uint32_t *usm_out,
		       uint32_t *value_bytes_out)
{
	const Sycl__V1__Launch *launch = message->launch;
	if (message->n_requirements > SHAPE_REQUIREMENTS_MAX ||
	    message->n_depends_on > SHAPE_EVENTS_MAX)
		return -EPROTO;
	*value_bytes_out = 0;
	if (shape_is_copy(message))
		return count_ends(message->copy, usm_out);
	if (message->action_case != SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH || !launch ||
	    launch->n_arguments > SHAPE_ARGUMENTS_MAX)
		return -EPROTO;
	if (launch->n_global > DIMENSIONS_MAX || launch->n_local > DIMENSIONS_MAX ||
	    launch->n_offset > DIMENSIONS_MAX || launch->n_cluster > DIMENSIONS_MAX)
		return -EPROTO;
	return shape_count_arguments(launch, usm_out, value_bytes_out);
}

/* Allocates a single block, so that a shape is one piece of memory whatever its counts. */
static struct shape *allocate_shape(size_t requirements, size_t events, size_t arguments,
				    size_t usm, size_t value_bytes)
{
	size_t bytes = sizeof(struct shape) +
		       requirements * (sizeof(Sycl__V1__Requirement) + sizeof(void *)) +
		       events * (sizeof(Sycl__V1__EventRef) + sizeof(void *)) +
		       arguments * (sizeof(Sycl__V1__Argument) + sizeof(void *)) +
		       usm * sizeof(void *) + value_bytes;
	struct shape *shape = calloc(1, bytes);
	if (!shape)
		return NULL;
	shape->requirements = (void *)(shape + 1);
	shape->events = (void *)(shape->requirements + requirements);
	shape->arguments = (void *)(shape->events + events);
	shape->requirement_list = (void *)(shape->arguments + arguments);
	shape->event_list = (void *)(shape->requirement_list + requirements);
	shape->argument_list = (void *)(shape->event_list + events);
	shape->usm = (void *)(shape->argument_list + arguments);
	shape->values = (void *)(shape->usm + usm);
	return shape;
}

/* Fields of a later version are left out, since this version does not read them. */
static ProtobufCMessage is_plain_record(const ProtobufCMessageDescriptor *descriptor)
{
	return (ProtobufCMessage){.descriptor = descriptor};
}

static void copy_arguments(struct shape *shape, const Sycl__V1__Launch *launch)
{
	uint32_t usm = 0;
	uint8_t *at = shape->values;
	for (size_t i = 0; i < launch->n_arguments; i++) {
		Sycl__V1__Argument *to = &shape->arguments[i];
		*to = *launch->arguments[i];
		to->base = is_plain_record(&sycl__v1__argument__descriptor);
		to->sampler = NULL; /* nothing without an image or a sampler, which it is not */
		if (to->value_case == SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS)
			shape->usm[usm++] = &to->usm_address;
		if (to->value_case == SYCL__V1__ARGUMENT__VALUE_BYTES) {
			if (to->bytes.len)
				memcpy(at, to->bytes.data, to->bytes.len);
			to->bytes.data = at;
			at += to->bytes.len;
		}
		shape->argument_list[i] = to;
	}
}

static void copy_launch(struct shape *shape, const Sycl__V1__Launch *launch)
{
	Sycl__V1__Launch *to = &shape->launch;
	*to = *launch;
	to->base = is_plain_record(&sycl__v1__launch__descriptor);
	for (size_t i = 0; i < launch->n_global; i++)
		shape->global[i] = launch->global[i];
	for (size_t i = 0; i < launch->n_local; i++)
		shape->local[i] = launch->local[i];
	for (size_t i = 0; i < launch->n_offset; i++)
		shape->offset[i] = launch->offset[i];
	for (size_t i = 0; i < launch->n_cluster; i++)
		shape->cluster[i] = launch->cluster[i];
	to->global = shape->global;
	to->local = shape->local;
	to->offset = shape->offset;
	to->cluster = shape->cluster;
	to->arguments = shape->argument_list;
	copy_arguments(shape, launch);
}

static void shape_copy_end(const Sycl__V1__MemoryEnd *from, Sycl__V1__MemoryEnd *to)
{
	*to = *from;
	to->base = is_plain_record(&sycl__v1__memory_end__descriptor);
}

static void shape_copy_copy(struct shape *shape, const Sycl__V1__Copy *copy)
{
	uint32_t usm = 0;
	shape->copy = *copy;
	shape->copy.base = is_plain_record(&sycl__v1__copy__descriptor);
	shape_copy_end(copy->source, &shape->source);
	shape_copy_end(copy->destination, &shape->destination);
	shape->copy.source = &shape->source;
	shape->copy.destination = &shape->destination;
	if (is_usm_end(&shape->source))
		shape->usm[usm++] = &shape->source.usm_address;
	if (is_usm_end(&shape->destination))
		shape->usm[usm] = &shape->destination.usm_address;
	if (!copy->box)
		return;
	shape->box = *copy->box;
	shape->box.base = is_plain_record(&sycl__v1__box__descriptor);
	shape->copy.box = &shape->box;
}

static bool names_a_buffer_twice(const Sycl__V1__CommandGroup *message)
{
	for (size_t i = 0; i < message->n_requirements; i++)
		for (size_t j = 0; j < i; j++)
			if (message->requirements[i]->buffer == message->requirements[j]->buffer)
				return true;
	return false;
}

static bool makes_bursts(const Sycl__V1__CommandGroup *message, uint32_t value_bytes)
{
	const Sycl__V1__Launch *launch = message->launch;
	if (shape_is_copy(message))
		return false;
	for (size_t i = 0; i < launch->n_global; i++)
		if (launch->global[i] == 0)
			return false;
	return message->n_depends_on == 0 && !message->after_all && !launch->cooperative &&
	       launch->n_cluster == 0 && !launch->early && value_bytes <= SHAPE_BURST_VALUE_BYTES &&
	       !names_a_buffer_twice(message);
}

int shape_create(const Sycl__V1__CommandGroup *message, struct shape **shape_out)
{
	uint32_t usm, value_bytes;
	int r = check_shape(message, &usm, &value_bytes);
	if (r < 0)
		return r;
	size_t arguments = shape_is_copy(message) ? 0 : message->launch->n_arguments;
	struct shape *shape = allocate_shape(message->n_requirements, message->n_depends_on,
					     arguments, usm, value_bytes);
	if (!shape)
		return -ENOMEM;
	shape->generation = message->shape_generation;
	shape->usm_count = usm;
	shape->value_bytes = value_bytes;
	shape->makes_bursts = makes_bursts(message, value_bytes);
	shape->rest_bytes = (uint32_t)(message->n_depends_on * sizeof(struct resubmit_event) +
				       usm * sizeof(uint64_t) + value_bytes);
	shape->group = *message;
	shape->group.base = is_plain_record(&sycl__v1__command_group__descriptor);
	shape->group.shape = shape->group.shape_generation =
		0; /* a group that comes again defines no shape */
	for (size_t i = 0; i < message->n_requirements; i++) {
		shape->requirements[i] = *message->requirements[i];
		shape->requirements[i].base = is_plain_record(&sycl__v1__requirement__descriptor);
		shape->requirement_list[i] = &shape->requirements[i];
	}
	for (size_t i = 0; i < message->n_depends_on; i++) {
		sycl__v1__event_ref__init(&shape->events[i]);
		shape->event_list[i] = &shape->events[i];
	}
	shape->group.requirements = shape->requirement_list;
	shape->group.depends_on = shape->event_list;
	if (shape_is_copy(message)) {
		shape_copy_copy(shape, message->copy);
		shape->group.copy = &shape->copy;
	} else {
		copy_launch(shape, message->launch);
		shape->group.launch = &shape->launch;
	}
	*shape_out = shape;
	return 0;
}

struct shape *shape_free(struct shape *shape)
{
	free(shape);
	return NULL;
}

uint32_t shape_generation(const struct shape *shape)
{
	return shape->generation;
}

int shape_apply(struct shape *shape, const void *bytes, size_t count,
		const Sycl__V1__CommandGroup **group_out)
{
	struct resubmit_record head;
	if (count < sizeof(head))
		return -EPROTO;
	memcpy(&head, bytes, sizeof(head));
	if (head.generation != shape->generation || head.rest_bytes != shape->rest_bytes ||
	    count - sizeof(head) != shape->rest_bytes ||
	    (head.flags & ~(RESUBMIT_WANTS_SLOT | RESUBMIT_HAS_EVENT)))
		return -EPROTO;
	bool wants_slot = head.flags & RESUBMIT_WANTS_SLOT;
	if (!wants_slot && (head.slot || head.slot_value))
		return -EPROTO;
	shape->group.group = head.group;
	shape->group.wants_slot = wants_slot;
	shape->group.has_event = (head.flags & RESUBMIT_HAS_EVENT) != 0;
	shape->group.slot = head.slot;
	shape->group.slot_value = head.slot_value;
	const uint8_t *at = (const uint8_t *)bytes + sizeof(head);
	for (size_t i = 0; i < shape->group.n_depends_on; i++) {
		struct resubmit_event event;
		memcpy(&event, at, sizeof(event));
		shape->events[i].queue = event.queue;
		shape->events[i].group = event.group;
		at += sizeof(event);
	}
	for (uint32_t i = 0; i < shape->usm_count; i++) {
		memcpy(shape->usm[i], at, sizeof(uint64_t));
		at += sizeof(uint64_t);
	}
	if (shape->value_bytes)
		memcpy(shape->values, at, shape->value_bytes);
	*group_out = &shape->group;
	return 0;
}

bool shape_makes_bursts(const struct shape *shape)
{
	return shape->makes_bursts;
}

uint32_t shape_value_bytes(const struct shape *shape)
{
	return shape->value_bytes;
}

const uint8_t *shape_values(const struct shape *shape)
{
	return shape->values;
}

bool shape_has_usm(const struct shape *shape)
{
	return shape->usm_count > 0;
}

/*
 * True if the head of the record is that of group `number` of this shape, without a slot.
 */
static bool is_plain_record_of(const struct shape *shape, const void *bytes, size_t count,
			       uint64_t number)
{
	struct resubmit_record head;
	if (count < sizeof(head) || count - sizeof(head) != shape->rest_bytes)
		return false;
	memcpy(&head, bytes, sizeof(head));
	return head.generation == shape->generation && head.rest_bytes == shape->rest_bytes &&
	       head.group == number && !(head.flags & ~RESUBMIT_HAS_EVENT) && !head.slot &&
	       !head.slot_value;
}

bool shape_joins(const struct shape *shape, const void *bytes, size_t count, uint64_t number,
		 const uint8_t **values_out)
{
	if (!shape->makes_bursts || shape->usm_count > 0 ||
	    !is_plain_record_of(shape, bytes, count, number))
		return false;
	*values_out = (const uint8_t *)bytes + sizeof(struct resubmit_record);
	return true;
}

bool shape_repeats(const struct shape *shape, const void *bytes, size_t count, uint64_t number,
		   const uint8_t **values_out)
{
	if (!is_plain_record_of(shape, bytes, count, number))
		return false;
	const uint8_t *at = (const uint8_t *)bytes + sizeof(struct resubmit_record);
	for (uint32_t i = 0; i < shape->usm_count; i++) {
		if (memcmp(at, shape->usm[i], sizeof(uint64_t)) != 0)
			return false;
		at += sizeof(uint64_t);
	}
	*values_out = at;
	return true;
}
