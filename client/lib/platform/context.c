/* Contexts: devices of one platform. */
#include "platform/topology.h"

#include <stdlib.h>

static void context_destroy(struct object *object)
{
	struct context *context = (struct context *)object;
	struct connection *c = object->connection;
	(void)pthread_mutex_lock(&c->state_lock);
	for (uint32_t i = 0; i < context->device_count; i++) {
		if (context->devices[i]->implicit_context == context)
			context->devices[i]->implicit_context = NULL;
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	remote_release(c, &context->remote);
	for (uint32_t i = 0; i < context->device_count; i++)
		object_unref(&context->devices[i]->object);
	if (context->platform)
		object_unref(&context->platform->object);
	free(context->devices);
	free(context->remote.why);
	object_delete(object);
}

static sycl_result context_announce_plain(struct context *context, void *unused)
{
	(void)unused;
	struct connection *c = context->object.connection;
	uint32_t *numbers = calloc(context->device_count, sizeof(*numbers));
	if (!numbers)
		return error_no_memory();
	for (uint32_t i = 0; i < context->device_count; i++)
		numbers[i] = context->devices[i]->facts->device;
	Sycl__V1__ContextCreate create = SYCL__V1__CONTEXT_CREATE__INIT;
	create.context = context->remote.id;
	create.n_devices = context->device_count;
	create.devices = numbers;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_CONTEXT_CREATE;
	command.context_create = &create;
	sycl_result result = connection_send(c, &command);
	free(numbers);
	return result;
}

sycl_result context_make(uint32_t count, struct device *const *devices, context_announce *announce,
			 void *what, struct context **context_out)
{
	struct connection *c = devices[0]->object.connection;
	struct context *context = object_new(sizeof(*context), c);
	if (!context)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	context->devices = calloc(count, sizeof(struct device *));
	sycl_result result = context->devices ? remote_name(c, OBJECT_CONTEXT, &context->remote)
					      : error_no_memory();
	if (!result && handle_create(&context->object, HANDLE_CONTEXT, context_destroy) < 0) {
		remote_forget(c, &context->remote);
		result = error_no_memory();
	}
	if (result) {
		free(context->devices);
		object_delete(&context->object);
		return result;
	}
	for (uint32_t i = 0; i < count; i++) {
		object_ref(&devices[i]->object);
		context->devices[i] = devices[i];
	}
	context->device_count = count;
	context->platform = devices[0]->platform;
	object_ref(&context->platform->object);
	result = announce ? announce(context, what) : context_announce_plain(context, NULL);
	if (result) {
		struct failure why;
		error_get(&why);
		/* With `announce` the id was sent, so the service keeps it. */
		if (!announce)
			remote_forget(c, &context->remote);
		object_unref(&context->object);
		return error_set_failure(&why);
	}
	*context_out = context;
	return SYCL_SUCCESS;
}

static sycl_result context_check_devices_here(uint32_t count, struct device *const *devices)
{
	for (uint32_t i = 0; i < count; i++) {
		if (devices[i]->object.connection != devices[0]->object.connection)
			return error_set(SYCL_ERROR_INVALID,
					 "the devices belong to different connections");
		if (devices[i]->facts->platform != devices[0]->facts->platform)
			return error_set(SYCL_ERROR_INVALID,
					 "a context takes devices of one platform only");
		for (uint32_t k = 0; k < i; k++) {
			if (devices[k] == devices[i])
				return error_set(SYCL_ERROR_INVALID, "device %u is named twice", i);
		}
	}
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_context_create(uint32_t device_count, const sycl_device *devices,
					 sycl_context *context_out)
{
	return sycl_context_create_with(device_count, devices, NULL, context_out);
}

SYCL_API sycl_result sycl_context_create_with(uint32_t device_count, const sycl_device *devices,
					      const struct sycl_context_options *options,
					      sycl_context *context_out)
{
	REQUIRE_OUTPUT(context_out);
	if (options && (options->struct_bytes != sizeof(*options) || options->reserved != 0))
		return error_set(SYCL_ERROR_INVALID,
				 "options: struct_bytes or reserved is wrong; start from "
				 "SYCL_CONTEXT_OPTIONS_INIT");
	if (device_count == 0 || !devices)
		return error_set(SYCL_ERROR_INVALID, "a context needs at least one device");
	if (device_count > 1024)
		return error_set(SYCL_ERROR_INVALID, "%u devices are more than a platform has",
				 device_count);
	struct device **pinned = calloc(device_count, sizeof(struct device *));
	if (!pinned)
		return error_no_memory();
	sycl_result result = SYCL_SUCCESS;
	uint32_t count = 0;
	while (count < device_count && !result) {
		result = device_pin(devices[count], &pinned[count]);
		if (!result)
			count++;
	}
	if (!result)
		result = context_check_devices_here(device_count, pinned);
	struct context *context = NULL;
	if (!result)
		result = context_make(device_count, pinned, NULL, NULL, &context);
	for (uint32_t i = 0; i < count; i++)
		object_unref(&pinned[i]->object);
	free(pinned);
	if (result)
		return result;
	context->async_handler = options ? options->async_handler : NULL;
	context->async_user_data = options ? options->async_user_data : NULL;
	*context_out = handle_of(&context->object);
	return SYCL_SUCCESS;
}

sycl_result context_implicit(struct device *device, struct context **context_out)
{
	struct connection *c = device->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	struct context *present = device->implicit_context;
	if (present && !object_try_ref(&present->object))
		present = NULL;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (present && !remote_check(&present->remote)) {
		*context_out = present;
		return SYCL_SUCCESS;
	}
	if (present)
		object_unref(&present->object);
	struct context *made = NULL;
	sycl_result result = context_make(1, &device, NULL, NULL, &made);
	if (result)
		return result;
	object_keep(&made->object);
	(void)pthread_mutex_lock(&c->state_lock);
	device->implicit_context = made;
	(void)pthread_mutex_unlock(&c->state_lock);
	*context_out = made;
	return SYCL_SUCCESS;
}

bool context_has(const struct context *context, const struct device *device)
{
	for (uint32_t i = 0; i < context->device_count; i++) {
		if (context->devices[i]->index == device->index)
			return context->object.connection == device->object.connection;
	}
	return false;
}

SYCL_API sycl_result sycl_context_retain(sycl_context context)
{
	return handle_retain(context, HANDLE_CONTEXT);
}

SYCL_API sycl_result sycl_context_release(sycl_context context)
{
	return handle_release(context, HANDLE_CONTEXT);
}

SYCL_API sycl_result sycl_context_get_reference_count(sycl_context context, uint32_t *count_out)
{
	return handle_get_reference_count(context, HANDLE_CONTEXT, count_out);
}

SYCL_API sycl_result sycl_context_get_platform(sycl_context handle, sycl_platform *platform_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(platform_out);
	sycl_result result = object_give(&context->platform->object);
	if (!result)
		*platform_out = handle_of(&context->platform->object);
	return result;
}

SYCL_API sycl_result sycl_context_get_devices(sycl_context handle, uint32_t capacity,
					      sycl_device *devices_out, uint32_t *count_out)
{
	PIN(context, context, handle);
	if (capacity > 0)
		REQUIRE_OUTPUT(devices_out);
	if (!devices_out)
		REQUIRE_OUTPUT(count_out);
	for (uint32_t i = 0; i < capacity && i < context->device_count; i++) {
		sycl_result result = object_give(&context->devices[i]->object);
		if (result) {
			while (i-- > 0)
				(void)sycl_device_release(devices_out[i]);
			return result;
		}
		devices_out[i] = handle_of(&context->devices[i]->object);
	}
	if (count_out)
		*count_out = context->device_count;
	return SYCL_SUCCESS;
}

/* The bits that all devices of the context have in common (G10). */
static uint32_t devices_intersect_bits(const struct context *context, sycl_context_info info)
{
	uint32_t bits = UINT32_MAX;
	for (uint32_t i = 0; i < context->device_count; i++) {
		const Sycl__V1__DeviceFacts *facts = context->devices[i]->facts;
		bits &= info == SYCL_CONTEXT_INFO_ATOMIC_MEMORY_ORDERS   ? facts->atomic_orders
			: info == SYCL_CONTEXT_INFO_ATOMIC_MEMORY_SCOPES ? facts->atomic_scopes
			: info == SYCL_CONTEXT_INFO_ATOMIC_FENCE_ORDERS  ? facts->fence_orders
									 : facts->fence_scopes;
	}
	return bits;
}

SYCL_API sycl_result sycl_context_get_info(sycl_context handle, sycl_context_info info,
					   size_t bytes, void *value, size_t *bytes_out)
{
	PIN(context, context, handle);
	uint32_t number = 0;
	switch (info) {
	case SYCL_CONTEXT_INFO_ATOMIC_MEMORY_ORDERS:
	case SYCL_CONTEXT_INFO_ATOMIC_MEMORY_SCOPES:
	case SYCL_CONTEXT_INFO_ATOMIC_FENCE_ORDERS:
	case SYCL_CONTEXT_INFO_ATOMIC_FENCE_SCOPES:
		number = devices_intersect_bits(context, info);
		break;
	case SYCL_CONTEXT_INFO_BACKEND:
		number = device_backend(context->devices[0]);
		break;
	case SYCL_CONTEXT_INFO_DEVICE_COUNT:
		number = context->device_count;
		break;
	default:
		return error_set(SYCL_ERROR_INVALID, "%d is no context info", (int)info);
	}
	return info_give(&number, sizeof(number), bytes, value, bytes_out);
}
