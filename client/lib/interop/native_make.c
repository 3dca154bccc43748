/* Makes platforms, devices, contexts, queues and events of native ones. Most calls make two round
 * trips: the first describes the native object, the second makes the object. */
#include "interop/native.h"

#include "handler/handler.h"

#include "syclclient/native.h"

#include <stdlib.h>

/*
 * The index in the topology of the device with the service's number; device_count: there is none.
 */
static uint32_t topology_index(const struct topology *topology, uint32_t device)
{
	uint32_t i = 0;
	while (i < topology->device_count && topology->devices[i]->device != device)
		i++;
	return i;
}

/* The devices of a native object: references for the caller. */
static sycl_result find_devices(struct connection *c, const struct native_facts *facts,
				struct device **devices_out, uint32_t *count_out)
{
	const struct topology *topology = NULL;
	sycl_result result = topology_get(c, &topology);
	uint32_t count = 0;
	if (!result && facts->device_count == 0)
		result = error_set(SYCL_ERROR_INVALID, "the native object has no device here");
	for (uint32_t i = 0; !result && i < facts->device_count; i++) {
		uint32_t index = topology_index(topology, facts->devices[i]);
		if (index == topology->device_count)
			result = error_set(SYCL_ERROR_RUNTIME,
					   "the service named an unknown device");
		else
			result = device_at(c, index, &devices_out[count]);
		count += !result;
	}
	*count_out = count;
	return result;
}

static void unref_devices(struct device **devices, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		object_unref(&devices[i]->object);
}

static sycl_result describe_in_context(struct connection *c, sycl_backend backend, int kind,
				       uint64_t native, struct device **devices_out,
				       uint32_t *count_out, bool *is_sub_device_out)
{
	struct native_facts facts = {.device_count = 0};
	sycl_result result = native_check(c, (uint32_t)backend, backend, kind);
	if (!result)
		result = native_describe(c, backend, kind, native, NULL, &facts);
	*count_out = 0;
	if (is_sub_device_out)
		*is_sub_device_out = facts.is_sub_device;
	return result ? result : find_devices(c, &facts, devices_out, count_out);
}

SYCL_API sycl_result sycl_platform_make_native(sycl_platform connection, sycl_backend backend,
					       uint64_t native, sycl_platform *platform_out)
{
	PIN(platform, any, connection);
	REQUIRE_OUTPUT(platform_out);
	struct device *devices[NATIVES_MAX];
	uint32_t count;
	sycl_result result = describe_in_context(any->object.connection, backend,
						 SYCL__V1__NATIVE_KIND__NATIVE_KIND_PLATFORM,
						 native, devices, &count, NULL);
	if (!result)
		result = object_give(&devices[0]->platform->object);
	if (!result)
		*platform_out = handle_of(&devices[0]->platform->object);
	unref_devices(devices, count);
	return result;
}

SYCL_API sycl_result sycl_device_make_native(sycl_platform connection, sycl_backend backend,
					     uint64_t native, sycl_device *device_out)
{
	PIN(platform, any, connection);
	REQUIRE_OUTPUT(device_out);
	struct device *devices[NATIVES_MAX];
	uint32_t count;
	bool is_sub_device = false;
	sycl_result result = describe_in_context(any->object.connection, backend,
						 SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE, native,
						 devices, &count, &is_sub_device);
	if (!result && is_sub_device) {
		result = sub_device_take(devices[0], backend, native, device_out);
		unref_devices(devices, count);
		return result;
	}
	if (!result)
		result = object_give(&devices[0]->object);
	if (!result)
		*device_out = handle_of(&devices[0]->object);
	unref_devices(devices, count);
	return result;
}

static sycl_result announce_context(struct context *context, void *native)
{
	uint32_t numbers[NATIVES_MAX];
	context->is_native = true;
	for (uint32_t i = 0; i < context->device_count; i++)
		numbers[i] = context->devices[i]->facts->device;
	Sycl__V1__NativeMake make = SYCL__V1__NATIVE_MAKE__INIT;
	make.object = context->remote.id;
	make.n_natives = 1;
	make.natives = native;
	make.n_devices = context->device_count;
	make.devices = numbers;
	return native_make(context->object.connection, &make);
}

SYCL_API sycl_result sycl_context_make_native(sycl_platform connection, sycl_backend backend,
					      uint64_t native,
					      const struct sycl_context_options *options,
					      sycl_context *context_out)
{
	PIN(platform, any, connection);
	REQUIRE_OUTPUT(context_out);
	if (options && (options->struct_bytes != sizeof(*options) || options->reserved != 0))
		return error_set(SYCL_ERROR_INVALID,
				 "options: struct_bytes or reserved is wrong; start from "
				 "SYCL_CONTEXT_OPTIONS_INIT");
	struct device *devices[NATIVES_MAX];
	uint32_t count;
	sycl_result result = describe_in_context(any->object.connection, backend,
						 SYCL__V1__NATIVE_KIND__NATIVE_KIND_CONTEXT, native,
						 devices, &count, NULL);
	struct context *context = NULL;
	if (!result)
		result = context_make(count, devices, announce_context, &native, &context);
	unref_devices(devices, count);
	if (result)
		return result;
	context->async_handler = options ? options->async_handler : NULL;
	context->async_user_data = options ? options->async_user_data : NULL;
	*context_out = handle_of(&context->object);
	return SYCL_SUCCESS;
}

static sycl_result announce_queue(const struct queue *queue, void *native)
{
	Sycl__V1__NativeMake make = SYCL__V1__NATIVE_MAKE__INIT;
	make.object = queue->line->remote.id;
	make.context = queue->context->remote.id;
	make.device = queue->device->facts->device;
	make.n_natives = 1;
	make.natives = native;
	make.slot = queue->line->slot;
	make.in_order = queue->line->in_order;
	make.enable_profiling = queue->line->profiling;
	return native_make(queue->object.connection, &make);
}

/* Finds the context's device for the native object. For a part of a device the service returns the
 * whole, and checks itself whether the object is of this part. */
static sycl_result native_find_device(const struct context *context,
				      const struct native_facts *facts, struct device **device_out)
{
	for (uint32_t i = 0; i < context->device_count; i++)
		if (facts->device_count == 1 &&
		    device_root_number(context->devices[i]) == facts->devices[0]) {
			*device_out = context->devices[i];
			return SYCL_SUCCESS;
		}
	return error_set(SYCL_ERROR_INVALID,
			 "the native queue is for none of the context's devices");
}

SYCL_API sycl_result sycl_queue_make_native(sycl_context handle, sycl_backend backend,
					    uint64_t native,
					    const struct sycl_queue_options *options,
					    sycl_queue *queue_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(queue_out);
	if (options && (options->struct_bytes != sizeof(*options) || options->properties != 0))
		return error_set(
			SYCL_ERROR_INVALID,
			"options: struct_bytes is wrong, or properties are given, which are the "
			"native queue's");
	struct native_facts facts;
	struct device *device = NULL;
	struct connection *c = context->object.connection;
	sycl_result result = native_check(c, device_backend(context->devices[0]), backend,
					  SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE);
	if (!result)
		result = remote_check(&context->remote);
	if (!result)
		result = native_describe(c, backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE,
					 native, context, &facts);
	if (!result)
		result = native_find_device(context, &facts, &device);
	if (result)
		return result;
	struct sycl_queue_options chosen = SYCL_QUEUE_OPTIONS_INIT;
	if (options)
		chosen = *options;
	chosen.properties = (chosen.properties & SYCL_QUEUE_CHECK_NATIVE) |
			    (facts.out_of_order ? 0 : SYCL_QUEUE_IN_ORDER);
	if (facts.profiling && (device->facts->aspects >> SYCL_ASPECT_QUEUE_PROFILING & 1))
		chosen.properties |= SYCL_QUEUE_ENABLE_PROFILING;
	object_ref(&context->object);
	return queue_make(context, device, &chosen, announce_queue, &native, queue_out);
}

sycl_result native_helper_queue(struct context *context, sycl_queue *queue_out)
{
	const struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	object_ref(&context->object);
	return queue_make(context, context->devices[0], &options, NULL, NULL, queue_out);
}
