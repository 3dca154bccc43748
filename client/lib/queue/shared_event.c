/* Events that other processes record and wait for. */
#include "queue/queue.h"

#include "device_features.h"

#include <stdlib.h>
#include <string.h>

static void shared_event_destroy(struct object *object)
{
	struct shared_event *event = (struct shared_event *)object;
	remote_release(object->connection, &event->remote);
	free(event->remote.why);
	object_delete(object);
}

static void pending_take_shared_handle(struct pending *pending, const Sycl__V1__Reply *reply)
{
	struct shared_event *event = pending->context;
	if (reply->body_case == SYCL__V1__REPLY__BODY_SHARED_EVENT_CREATED &&
	    reply->shared_event_created->handle.len == sizeof(event->handle))
		memcpy(event->handle, reply->shared_event_created->handle.data,
		       sizeof(event->handle));
}

static sycl_result shared_event_request(struct shared_event *event, const uint8_t *handle)
{
	uint8_t copy[SYCL_SHARE_HANDLE_BYTES];
	Sycl__V1__SharedEventCreate create = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	Sycl__V1__SharedEventOpen open = SYCL__V1__SHARED_EVENT_OPEN__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	if (handle) {
		memcpy(copy, handle, sizeof(copy));
		memcpy(event->handle, handle, sizeof(event->handle));
		open.event = event->remote.id;
		open.device = event->device;
		open.handle = (ProtobufCBinaryData){sizeof(copy), copy};
		command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_OPEN;
		command.shared_event_open = &open;
	} else {
		create.event = event->remote.id;
		create.device = event->device;
		command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
		command.shared_event_create = &create;
	}
	struct pending pending = {.take = pending_take_shared_handle, .context = event};
	return connection_request(event->object.connection, &command, &pending, UINT64_MAX);
}

sycl_result shared_event_new(struct connection *c, uint32_t device, struct shared_event **event_out)
{
	struct shared_event *event = object_new(sizeof(*event), c);
	if (!event)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	event->device = device;
	sycl_result result = remote_name(c, OBJECT_SHARED_EVENT, &event->remote);
	if (!result &&
	    handle_create(&event->object, HANDLE_SHARED_EVENT, shared_event_destroy) < 0) {
		remote_forget(c, &event->remote);
		result = error_no_memory();
	}
	if (result) {
		object_delete(&event->object);
		return result;
	}
	*event_out = event;
	return SYCL_SUCCESS;
}

/* `handle` NULL: makes a new event. */
static sycl_result shared_event_make(struct device *device, const uint8_t *handle,
				     sycl_shared_event *event_out)
{
	struct shared_event *event = NULL;
	if (!(device->facts->features & DEVICE_FEATURE_SHARED_EVENT))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "%s has no events that processes share", device->facts->name);
	sycl_result result =
		shared_event_new(device->object.connection, device->facts->device, &event);
	if (result)
		return result;
	result = shared_event_request(event, handle);
	if (result) {
		struct failure why;
		error_get(&why);
		object_unref(&event->object);
		return error_set_failure(&why);
	}
	*event_out = handle_of(&event->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_shared_event_create(sycl_device handle, sycl_shared_event *event_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(event_out);
	return shared_event_make(device, NULL, event_out);
}

SYCL_API sycl_result sycl_shared_event_open(sycl_device handle, const uint8_t *event_handle,
					    sycl_shared_event *event_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(event_out);
	if (!event_handle)
		return error_set(SYCL_ERROR_INVALID, "the event's handle is NULL");
	return shared_event_make(device, event_handle, event_out);
}

SYCL_API sycl_result sycl_shared_event_get_handle(sycl_shared_event handle, uint8_t *handle_out)
{
	PIN(shared_event, event, handle);
	REQUIRE_OUTPUT(handle_out);
	memcpy(handle_out, event->handle, sizeof(event->handle));
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_shared_event_retain(sycl_shared_event event)
{
	return handle_retain(event, HANDLE_SHARED_EVENT);
}

SYCL_API sycl_result sycl_shared_event_release(sycl_shared_event event)
{
	return handle_release(event, HANDLE_SHARED_EVENT);
}

SYCL_API sycl_result sycl_shared_event_get_reference_count(sycl_shared_event event,
							   uint32_t *count_out)
{
	return handle_get_reference_count(event, HANDLE_SHARED_EVENT, count_out);
}
