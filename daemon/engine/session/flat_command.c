#include "session/flat_command.h"

#include "flat_message.h"

enum { RELEASE_FIELDS = 1 };
/* The first byte of a command group: its field of Command, whose value has a length. */
enum { GROUP_BEGINS = SYCL__V1__COMMAND__BODY_COMMAND_GROUP << 3 | 2 };

static const Sycl__V1__Command *unpack_release(struct flat_command *place,
					       const struct flat_message *message)
{
	if (message->fields > RELEASE_FIELDS)
		return NULL;
	sycl__v1__release__init(&place->release);
	place->release.object = message->values[0];
	sycl__v1__command__init(&place->command);
	place->command.body_case = SYCL__V1__COMMAND__BODY_RELEASE;
	place->command.release = &place->release;
	return &place->command;
}

static const Sycl__V1__Command *unpack_host_access(struct flat_command *place,
						   const struct flat_message *message)
{
	const uint64_t *values = message->values;
	if (values[HOST_ACCESS_MODE] > UINT32_MAX || values[HOST_ACCESS_SLOT] > UINT32_MAX ||
	    values[HOST_ACCESS_SLOT_VALUE] > UINT32_MAX)
		return NULL;
	Sycl__V1__HostAccess *access = &place->host_access;
	sycl__v1__host_access__init(access);
	access->accessor = values[HOST_ACCESS_ACCESSOR];
	access->buffer = values[HOST_ACCESS_BUFFER];
	access->mode = (uint32_t)values[HOST_ACCESS_MODE];
	access->slot = (uint32_t)values[HOST_ACCESS_SLOT];
	access->slot_value = (uint32_t)values[HOST_ACCESS_SLOT_VALUE];
	access->offset_bytes = values[HOST_ACCESS_OFFSET_BYTES];
	access->size_bytes = values[HOST_ACCESS_SIZE_BYTES];
	access->order_offset_bytes = values[HOST_ACCESS_ORDER_OFFSET_BYTES];
	access->order_size_bytes = values[HOST_ACCESS_ORDER_SIZE_BYTES];
	sycl__v1__command__init(&place->command);
	place->command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	place->command.host_access = access;
	return &place->command;
}

static const Sycl__V1__Command *unpack_graph_launch(struct flat_command *place,
						    const struct flat_graph_launch *launch)
{
	Sycl__V1__CommandGroup *group = &place->group;
	sycl__v1__graph_launch__init(&place->graph_launch);
	place->graph_launch.graph = launch->graph;
	sycl__v1__command_group__init(group);
	group->queue = launch->queue;
	group->group = launch->group;
	group->wants_slot = launch->wants_slot;
	group->slot = launch->slot;
	group->slot_value = launch->slot_value;
	group->after_all = launch->after_all;
	group->has_event = launch->has_event;
	group->action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group->graph_launch = &place->graph_launch;
	sycl__v1__command__init(&place->command);
	place->command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	place->command.command_group = group;
	return &place->command;
}

const Sycl__V1__Command *flat_command_unpack(struct flat_command *place, const void *bytes,
					     uint32_t count)
{
	struct flat_message message;
	struct flat_graph_launch launch;
	if (count > 0 && *(const uint8_t *)bytes == GROUP_BEGINS)
		return flat_graph_launch_unpack(bytes, count, &launch)
			       ? unpack_graph_launch(place, &launch)
			       : NULL;
	if (!flat_message_unpack(bytes, count, &message))
		return NULL;
	if (message.body == SYCL__V1__COMMAND__BODY_RELEASE)
		return unpack_release(place, &message);
	if (message.body == SYCL__V1__COMMAND__BODY_HOST_ACCESS)
		return unpack_host_access(place, &message);
	return NULL;
}
