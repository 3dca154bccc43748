/* Devices and their properties. */
#include "platform/topology.h"

#include <stdlib.h>

static void sub_device_destroy(struct device *device)
{
	remote_release(device->object.connection, &device->remote);
	free(device->remote.why);
	sycl__v1__device_facts__free_unpacked(device->own_facts, NULL);
	object_unref(&device->parent->object);
}

static void device_destroy(struct object *object)
{
	struct device *device = (struct device *)object;
	struct connection *c = object->connection;
	if (device->parent) {
		sub_device_destroy(device);
		if (device->platform)
			object_unref(&device->platform->object);
		object_delete(object);
		return;
	}
	(void)pthread_mutex_lock(&c->state_lock);
	if (c->devices[device->index] == device)
		c->devices[device->index] = NULL;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (device->platform)
		object_unref(&device->platform->object);
	object_delete(object);
}

struct device *device_new(struct connection *c, uint32_t index, const Sycl__V1__DeviceFacts *facts)
{
	struct device *device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	device->object.connection = c;
	device->index = index;
	device->facts = facts;
	if (handle_create(&device->object, HANDLE_DEVICE, device_destroy) < 0) {
		free(device);
		return NULL;
	}
	connection_ref(c);
	object_keep(&device->object);
	return device;
}

sycl_result device_at(struct connection *c, uint32_t index, struct device **device_out)
{
	const struct topology *topology = NULL;
	sycl_result result = topology_get(c, &topology);
	if (result)
		return result;
	uint32_t of = topology_platform_of(topology, topology->devices[index]);
	if (of == topology->platform_count)
		return error_set(SYCL_ERROR_RUNTIME,
				 "the service named a device without a platform");
	struct platform *platform = NULL;
	result = platform_at(c, of, &platform);
	if (result)
		return result;
	(void)pthread_mutex_lock(&c->state_lock);
	struct device *device = c->devices[index];
	if (!device || !object_try_ref(&device->object)) {
		device = device_new(c, index, topology->devices[index]);
		if (device) {
			device->platform = platform;
			platform = NULL;
			c->devices[index] = device;
		}
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	if (platform)
		object_unref(&platform->object);
	if (!device)
		return error_no_memory();
	*device_out = device;
	return SYCL_SUCCESS;
}

static bool type_matches(const Sycl__V1__DeviceFacts *facts, sycl_device_type type)
{
	return type == SYCL_DEVICE_TYPE_ALL || (uint32_t)facts->type == (uint32_t)type;
}

static sycl_result device_give(struct connection *c, uint32_t index, sycl_device *out)
{
	struct device *device = NULL;
	sycl_result result = device_at(c, index, &device);
	if (result)
		return result;
	result = object_give(&device->object);
	if (!result)
		*out = handle_of(&device->object);
	object_unref(&device->object);
	return result;
}

/* platform_index: INDEX_UNRESOLVED for the devices of all platforms. */
static sycl_result list_devices(struct connection *c, uint32_t platform_index,
				sycl_device_type type, uint32_t capacity, sycl_device *devices_out,
				uint32_t *count_out)
{
	if ((uint32_t)type > SYCL_DEVICE_TYPE_CUSTOM)
		return error_set(SYCL_ERROR_INVALID, "%d is no device type", (int)type);
	if (capacity > 0)
		REQUIRE_OUTPUT(devices_out);
	if (!devices_out)
		REQUIRE_OUTPUT(count_out);
	const struct topology *topology = NULL;
	sycl_result result = topology_get(c, &topology);
	uint32_t count = 0, given = 0;
	for (uint32_t i = 0; !result && i < topology->device_count; i++) {
		const Sycl__V1__DeviceFacts *facts = topology->devices[i];
		if (!type_matches(facts, type) ||
		    (platform_index != INDEX_UNRESOLVED &&
		     topology_platform_of(topology, facts) != platform_index))
			continue;
		count++;
		if (given == capacity)
			continue;
		result = device_give(c, i, &devices_out[given]);
		if (!result)
			given++;
	}
	if (result) {
		for (uint32_t i = 0; i < given; i++)
			(void)sycl_device_release(devices_out[i]);
		return result;
	}
	if (count_out)
		*count_out = count;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_platform_get_devices(sycl_platform handle, sycl_device_type type,
					       uint32_t capacity, sycl_device *devices_out,
					       uint32_t *count_out)
{
	PIN(platform, platform, handle);
	const struct topology *topology = NULL;
	sycl_result result = topology_get(platform->object.connection, &topology);
	if (result)
		return result;
	uint32_t index = atomic_load_explicit(&platform->index, memory_order_relaxed);
	if (index == INDEX_UNRESOLVED)
		return error_set(SYCL_ERROR_PLATFORM, "the service has no platform");
	return list_devices(platform->object.connection, index, type, capacity, devices_out,
			    count_out);
}

SYCL_API sycl_result sycl_device_get_devices(sycl_platform handle, sycl_device_type type,
					     uint32_t capacity, sycl_device *devices_out,
					     uint32_t *count_out)
{
	PIN(platform, platform, handle);
	return list_devices(platform->object.connection, INDEX_UNRESOLVED, type, capacity,
			    devices_out, count_out);
}

SYCL_API sycl_result sycl_device_retain(sycl_device device)
{
	return handle_retain(device, HANDLE_DEVICE);
}

SYCL_API sycl_result sycl_device_release(sycl_device device)
{
	return handle_release(device, HANDLE_DEVICE);
}

SYCL_API sycl_result sycl_device_get_reference_count(sycl_device device, uint32_t *count_out)
{
	return handle_get_reference_count(device, HANDLE_DEVICE, count_out);
}

SYCL_API sycl_result sycl_device_get_platform(sycl_device handle, sycl_platform *platform_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(platform_out);
	sycl_result result = object_give(&device->platform->object);
	if (!result)
		*platform_out = handle_of(&device->platform->object);
	return result;
}

SYCL_API sycl_result sycl_device_has(sycl_device handle, sycl_aspect aspect, uint32_t *has_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(has_out);
	if ((uint32_t)aspect > SYCL_ASPECT_EXT_GRAPH_CONDITIONS)
		return error_set(SYCL_ERROR_INVALID, "%d is no aspect", (int)aspect);
	*has_out = (uint32_t)(device->facts->aspects >> (uint32_t)aspect) & 1;
	return SYCL_SUCCESS;
}

uint32_t device_backend(const struct device *device)
{
	const struct topology *topology =
		atomic_load_explicit(&device->object.connection->topology, memory_order_acquire);
	uint32_t platform = topology ? topology_platform_of(topology, device->facts) : 0;
	return topology && platform < topology->platform_count
		       ? (uint32_t)topology->platforms[platform]->backend
		       : 0;
}
