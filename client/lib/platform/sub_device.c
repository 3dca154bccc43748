/* Devices that are parts of others: divided here, or taken from the application (J2). */
#include "platform/topology.h"

#include "protocol_limits.h"

#include <stdlib.h>

/* Above every index in a topology. */
#define SUB_DEVICE_INDEX 0x80000000u

uint32_t device_root_number(const struct device *device)
{
	while (device->parent)
		device = device->parent;
	return device->facts->device;
}

/* The result of a request: as many names as it may need, and a copy of the answer. */
struct making {
	struct pending pending;
	struct remote remotes[SUB_DEVICES_MAX];
	uint32_t named;
	Sycl__V1__SubDevices *answer; /* NULL: the answer could not be read */
};

/* The message lives in the decoder's memory: packed and unpacked again, it is a copy of our own. */
static void sub_devices_take_answer(struct pending *pending, const Sycl__V1__Reply *reply)
{
	struct making *making = pending->context;
	if (reply->body_case != SYCL__V1__REPLY__BODY_SUB_DEVICES)
		return;
	size_t bytes = sycl__v1__sub_devices__get_packed_size(reply->sub_devices);
	uint8_t *packed = malloc(bytes ? bytes : 1);
	if (!packed)
		return;
	(void)sycl__v1__sub_devices__pack(reply->sub_devices, packed);
	making->answer = sycl__v1__sub_devices__unpack(NULL, bytes, packed);
	free(packed);
}

static sycl_result sub_devices_request(struct connection *c, Sycl__V1__SubDevicesCreate *message,
				       uint32_t capacity, struct making *making)
{
	uint64_t ids[SUB_DEVICES_MAX];
	sycl_result result = SYCL_SUCCESS;
	while (making->named < capacity && making->named < SUB_DEVICES_MAX && !result) {
		result = remote_name(c, OBJECT_SUB_DEVICE, &making->remotes[making->named]);
		making->named += !result;
	}
	for (uint32_t i = 0; i < making->named; i++)
		ids[i] = making->remotes[i].id;
	message->n_objects = making->named;
	message->objects = ids;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SUB_DEVICES_CREATE;
	command.sub_devices_create = message;
	making->pending = (struct pending){.take = sub_devices_take_answer, .context = making};
	if (!result)
		result = connection_request(c, &command, &making->pending, UINT64_MAX);
	if (!result &&
	    (!making->answer ||
	     (making->answer->n_devices && making->answer->n_devices != making->answer->count) ||
	     making->answer->n_devices > making->named))
		result = error_set(SYCL_ERROR_RUNTIME,
				   "the service's answer about sub-devices could not be read");
	message->n_objects = 0;
	message->objects = NULL;
	return result;
}

/* Gives the name to the device. The service's messages about the name then concern the device. */
static void sub_device_move_name(struct connection *c, struct remote *from, struct remote *to)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct id_entry *entry = object_ids_find(&c->ids, from->id);
	if (entry)
		entry->owner = to;
	to->id = from->id;
	from->id = 0;
	(void)pthread_mutex_unlock(&c->state_lock);
}

/* Makes a device that takes the name and the facts. One user reference. */
static sycl_result sub_device_make(struct device *parent, struct remote *remote,
				   Sycl__V1__DeviceFacts **facts, sycl_device *device_out)
{
	struct device *device =
		device_new(parent->object.connection, SUB_DEVICE_INDEX | (*facts)->device, *facts);
	if (!device)
		return error_no_memory();
	device->parent = parent;
	object_ref(&parent->object);
	device->platform = parent->platform;
	object_ref(&parent->platform->object);
	device->own_facts = *facts;
	*facts = NULL;
	sub_device_move_name(parent->object.connection, remote, &device->remote);
	sycl_result result = object_give(&device->object);
	if (!result)
		*device_out = handle_of(&device->object);
	object_unref(&device->object);
	return result;
}

/* Ends the names that no device has taken. If a device could not be made here, its name is
 * released. */
static void forget_names(struct connection *c, struct making *making, bool made)
{
	uint32_t used = made ? (uint32_t)making->answer->n_devices : 0;
	for (uint32_t i = 0; i < making->named; i++) {
		if (making->remotes[i].id == 0)
			continue;
		if (i < used)
			remote_release(c, &making->remotes[i]);
		else
			remote_forget(c, &making->remotes[i]);
	}
	if (making->answer)
		sycl__v1__sub_devices__free_unpacked(making->answer, NULL);
}

static sycl_result sub_devices_make_all(struct device *parent, Sycl__V1__SubDevicesCreate *message,
					uint32_t capacity, sycl_device *devices_out,
					uint32_t *count_out)
{
	struct connection *c = parent->object.connection;
	struct making making = {.named = 0};
	struct failure why;
	uint32_t given = 0;
	sycl_result result = sub_devices_request(c, message, capacity, &making);
	const bool made = !result;
	for (; !result && given < making.answer->n_devices; given += !result)
		result = sub_device_make(parent, &making.remotes[given],
					 &making.answer->devices[given], &devices_out[given]);
	error_get(&why);
	while (result && given > 0)
		(void)sycl_device_release(devices_out[--given]);
	if (!result)
		*count_out = making.answer->count;
	forget_names(c, &making, made);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

sycl_result sub_device_take(struct device *parent, sycl_backend backend, uint64_t native,
			    sycl_device *device_out)
{
	Sycl__V1__SubDevicesCreate message = SYCL__V1__SUB_DEVICES_CREATE__INIT;
	uint32_t count = 0;
	message.native = native;
	message.backend = (Sycl__V1__Backend)backend;
	message.device = parent->facts->device;
	sycl_device made = NULL;
	sycl_result result = sub_devices_make_all(parent, &message, 1, &made, &count);
	if (!result && !made)
		result = error_set(SYCL_ERROR_RUNTIME, "the service made no sub-device");
	if (!result)
		*device_out = made;
	return result;
}

SYCL_API sycl_result sycl_device_create_sub_devices(sycl_device handle,
						    sycl_partition_property property,
						    uint32_t value_count, const uint32_t *values,
						    uint32_t capacity, sycl_device *devices_out,
						    uint32_t *count_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(count_out);
	sycl_device made[SUB_DEVICES_MAX] = {0};
	uint32_t count = 0;
	if (capacity > 0)
		REQUIRE_OUTPUT(devices_out);
	if (value_count == 0 || value_count > PARTITION_VALUES_MAX || !values)
		return error_set(SYCL_ERROR_INVALID,
				 "%u values to divide a device by; 1 to %u are allowed",
				 value_count, PARTITION_VALUES_MAX);
	if (property < SYCL_PARTITION_EQUALLY || property > SYCL_PARTITION_BY_AFFINITY_DOMAIN)
		return error_set(SYCL_ERROR_INVALID, "%d is no way to divide a device",
				 (int)property);
	Sycl__V1__SubDevicesCreate message = SYCL__V1__SUB_DEVICES_CREATE__INIT;
	message.device = device->facts->device;
	message.partition = (Sycl__V1__Partition)property;
	message.n_values = value_count;
	message.values = (uint32_t *)(uintptr_t)values;
	sycl_result result = sub_devices_make_all(device, &message, capacity, made, &count);
	if (result)
		return result;
	*count_out = count;
	if (count > SUB_DEVICES_MAX && capacity > 0)
		return error_set(SYCL_ERROR_QUOTA,
				 "this makes %u sub-devices; a session may have at most %u", count,
				 SUB_DEVICES_MAX);
	if (count > capacity && capacity > 0)
		return error_set(SYCL_ERROR_INVALID,
				 "this makes %u sub-devices, and there is room for %u", count,
				 capacity);
	for (uint32_t i = 0; i < count && capacity > 0; i++)
		devices_out[i] = made[i];
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_device_get_parent(sycl_device handle, sycl_device *parent_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(parent_out);
	if (!device->parent)
		return error_set(SYCL_ERROR_INVALID, "the device is no part of another");
	sycl_result result = object_give(&device->parent->object);
	if (!result)
		*parent_out = handle_of(&device->parent->object);
	return result;
}
