/* The native handles of each kind of object (I1 - I6). */
#include "interop/native.h"

#include "handler/handler.h"
#include "memory/image.h"

#include "syclclient/native.h"
#include "host_task/host_tasks.h"
#include "interop/bridge.h"

static void native_get_begin(Sycl__V1__NativeGet *get, Sycl__V1__NativeKind kind, uint64_t object)
{
	sycl__v1__native_get__init(get);
	get->kind = kind;
	get->object = object;
}

SYCL_API sycl_result sycl_platform_get_native(sycl_platform handle, sycl_backend backend,
					      uint64_t *native_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(native_out);
	struct connection *c = platform->object.connection;
	sycl_result result = native_check_process(c);
	const struct topology *topology = NULL;
	if (!result)
		result = topology_get(c, &topology);
	if (result)
		return result;
	uint32_t index = atomic_load_explicit(&platform->index, memory_order_relaxed);
	if (index >= topology->platform_count)
		return error_set(SYCL_ERROR_PLATFORM, "the service has no platform");
	result = native_check(c, (uint32_t)topology->platforms[index]->backend, backend,
			      SYCL__V1__NATIVE_KIND__NATIVE_KIND_PLATFORM);
	if (result)
		return result;
	for (uint32_t i = 0; i < topology->device_count; i++) {
		if (topology_platform_of(topology, topology->devices[i]) != index)
			continue;
		Sycl__V1__NativeGet get;
		native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_PLATFORM, 0);
		get.device = topology->devices[i]->device;
		return native_get_one(c, &get, native_out);
	}
	return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			 "a platform without devices is not open");
}

SYCL_API sycl_result sycl_device_get_native(sycl_device handle, sycl_backend backend,
					    uint64_t *native_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(native_out);
	struct connection *c = device->object.connection;
	/* CUDA's number means something in this process as well: the same GPU, as counted by this
	 * program's driver. */
	if (!c->engine && backend == SYCL_BACKEND_KIND_CUDA &&
	    device_backend(device) == SYCL_BACKEND_KIND_CUDA) {
		cuda_device number = 0;
		sycl_result found = bridge_device_find(c, device, &number);
		if (!found)
			*native_out = (uint64_t)number;
		return found;
	}
	sycl_result result = native_check(c, device_backend(device), backend,
					  SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE);
	Sycl__V1__NativeGet get;
	native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE, 0);
	get.device = device->facts->device;
	return result ? result : native_get_one(c, &get, native_out);
}

/* Returns the handles that fit. If the program has room for fewer handles than exist, the other
 * references are unused, as everywhere. */
static void native_list_give(const struct native_list *list, uint32_t capacity,
			     uint64_t *natives_out, uint32_t *count_out)
{
	for (uint32_t i = 0; i < list->count && i < capacity; i++)
		natives_out[i] = list->items[i];
	if (count_out)
		*count_out = list->count;
}

SYCL_API sycl_result sycl_context_get_native(sycl_context handle, sycl_backend backend,
					     uint32_t capacity, uint64_t *natives_out,
					     uint32_t *count_out)
{
	PIN(context, context, handle);
	struct connection *c = context->object.connection;
	struct native_list list = {.count = 0};
	sycl_result result = native_check_outputs(capacity, natives_out, count_out);
	if (!result)
		result = native_check(c, device_backend(context->devices[0]), backend,
				      SYCL__V1__NATIVE_KIND__NATIVE_KIND_CONTEXT);
	if (!result)
		result = remote_check(&context->remote);
	/* If the context was made of a native object, that object serves all devices. */
	uint32_t count = context->is_native ? 1 : context->device_count;
	list.count = count < NATIVES_MAX ? count : NATIVES_MAX;
	for (uint32_t i = 0; !result && i < list.count && i < capacity; i++) {
		Sycl__V1__NativeGet get;
		native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_CONTEXT,
				 context->remote.id);
		get.device = context->devices[i]->facts->device;
		result = native_get_one(c, &get, &list.items[i]);
	}
	if (!result)
		native_list_give(&list, capacity, natives_out, count_out);
	return result;
}

/* I5: a queue whose CUDA stream is given out is synchronised. Failures of groups are reported as
 * always. */
static sycl_result queue_synchronise(struct queue *queue)
{
	struct connection *c = queue->object.connection;
	struct queue_line *line = queue->line;
	(void)pthread_mutex_lock(&c->submit_lock);
	uint64_t groups = line->groups;
	(void)pthread_mutex_unlock(&c->submit_lock);
	if (groups == 0)
		return SYCL_SUCCESS;
	if (host_task_is_here(line, groups, true))
		return error_set_object(
			SYCL_ERROR_INVALID, line->remote.id,
			"this thread runs a host task of the queue that it would wait for: "
			"ask the host task for its native queue");
	return queue_line_wait(c, line, line->slot, (uint32_t)groups, UINT64_MAX);
}

static sycl_result get_queue(struct queue *queue, uint64_t *native_out)
{
	Sycl__V1__NativeGet get;
	native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE, queue->line->remote.id);
	return native_get_one(queue->object.connection, &get, native_out);
}

SYCL_API sycl_result sycl_queue_get_native(sycl_queue handle, sycl_backend backend,
					   uint64_t *native_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(native_out);
	sycl_result result = native_check(queue->object.connection, queue->line->backend, backend,
					  SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE);
	if (!result)
		result = remote_check(&queue->line->remote);
	if (result)
		return result;
	/* Set before the request: groups that another thread submits meanwhile are refused, or
	 * waited for. */
	bool was_lent = queue->checks_native && atomic_exchange(&queue->is_lent, true);
	if (backend == SYCL_BACKEND_KIND_CUDA)
		result = queue_synchronise(queue);
	if (!result)
		result = get_queue(queue, native_out);
	if (result && queue->checks_native && !was_lent)
		atomic_store(&queue->is_lent, false);
	return result;
}

SYCL_API sycl_result sycl_queue_return_native(sycl_queue handle)
{
	PIN(queue, queue, handle);
	if (queue->checks_native && !atomic_exchange(&queue->is_lent, false))
		return error_set(SYCL_ERROR_INVALID, "the queue's native queue is not in use");
	return SYCL_SUCCESS;
}

/* The buffer's memory on each device of the requested backend; a buffer itself has no backend. */
static sycl_result buffer_get_memories(struct buffer *buffer, sycl_backend backend,
				       uint32_t capacity, uint64_t *natives_out,
				       uint32_t *count_out)
{
	struct connection *c = buffer->object.connection;
	struct native_list list = {.count = 0};
	sycl_result result = native_check_outputs(capacity, natives_out, count_out);
	if (!result)
		result = native_check(c, (uint32_t)backend, backend,
				      SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY);
	if (!result)
		result = remote_check(&buffer_root(buffer)->remote);
	Sycl__V1__NativeGet get;
	native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY, buffer->remote.id);
	get.backend = (Sycl__V1__Backend)backend;
	get.limit = capacity;
	if (!result)
		result = native_get(c, &get, &list);
	if (!result)
		native_list_give(&list, capacity, natives_out, count_out);
	return result;
}

SYCL_API sycl_result sycl_buffer_get_native(sycl_buffer handle, sycl_backend backend,
					    uint32_t capacity, uint64_t *natives_out,
					    uint32_t *count_out)
{
	PIN(buffer, buffer, handle);
	return buffer_get_memories(buffer, backend, capacity, natives_out, count_out);
}

SYCL_API sycl_result sycl_image_get_native(sycl_image handle, sycl_backend backend,
					   uint32_t capacity, uint64_t *natives_out,
					   uint32_t *count_out)
{
	PIN(image, image, handle);
	return buffer_get_memories(&image->buffer, backend, capacity, natives_out, count_out);
}

SYCL_API sycl_result sycl_kernel_bundle_get_native(sycl_kernel_bundle handle, sycl_backend backend,
						   uint32_t capacity, uint64_t *natives_out,
						   uint32_t *count_out)
{
	PIN(bundle, bundle, handle);
	struct connection *c = bundle->object.connection;
	struct native_list list = {.count = 0};
	sycl_result result = native_check_outputs(capacity, natives_out, count_out);
	if (!result)
		result = native_check(c, device_backend(bundle->devices[0]), backend,
				      SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM);
	if (!result && bundle->source_count > 0)
		result = error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				   "a source of this library is no native program");
	list.count = bundle->image_count < NATIVES_MAX ? bundle->image_count : NATIVES_MAX;
	for (uint32_t i = 0; !result && i < list.count && i < capacity; i++) {
		Sycl__V1__NativeGet get;
		native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM,
				 bundle->images[i]->remote.id);
		result = native_get_one(c, &get, &list.items[i]);
	}
	if (!result)
		native_list_give(&list, capacity, natives_out, count_out);
	return result;
}

SYCL_API sycl_result sycl_kernel_get_native(sycl_kernel handle, sycl_backend backend,
					    uint64_t *native_out)
{
	PIN(kernel, kernel, handle);
	REQUIRE_OUTPUT(native_out);
	struct connection *c = kernel->object.connection;
	sycl_result result = native_check(c, device_backend(kernel->image->device), backend,
					  SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL);
	Sycl__V1__NativeGet get;
	native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL, kernel->remote.id);
	return result ? result : native_get_one(c, &get, native_out);
}

SYCL_API sycl_result sycl_event_get_natives(sycl_event handle, sycl_backend backend,
					    uint32_t capacity, uint64_t *natives_out,
					    uint32_t *count_out)
{
	PIN(event, event, handle);
	struct connection *c = event->object.connection;
	struct native_list list = {.count = 0};
	sycl_result result = native_check_outputs(capacity, natives_out, count_out);
	if (!result)
		result = native_check(c, event->line->backend, backend,
				      SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT);
	if (!result)
		list.count = event_natives(event);
	for (uint32_t i = 0; !result && i < list.count && i < capacity; i++) {
		Sycl__V1__NativeGet get;
		native_get_begin(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT,
				 event->natives[i]->remote.id);
		result = native_get_one(c, &get, &list.items[i]);
	}
	if (!result)
		native_list_give(&list, capacity, natives_out, count_out);
	return result;
}

SYCL_API sycl_result sycl_event_has_native_event(sycl_event handle, uint32_t *has_out)
{
	PIN(event, event, handle);
	REQUIRE_OUTPUT(has_out);
	/* Without a native event, the engine reports completion through a slot. */
	*has_out = event_natives(event) > 0;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_event_get_native(sycl_event handle, void **native_out)
{
	PIN(event, event, handle);
	REQUIRE_OUTPUT(native_out);
	if (event_natives(event) == 1) {
		uint64_t native = 0;
		uint32_t count = 0;
		sycl_result result = sycl_event_get_natives(
			handle, (sycl_backend)event->line->backend, 1, &native, &count);
		if (!result)
			*native_out = (void *)(uintptr_t)native;
		return result;
	}
	if (event->line->backend != SYCL_BACKEND_KIND_CUDA)
		return error_set_object(SYCL_ERROR_FEATURE_NOT_SUPPORTED, event->line->remote.id,
					"the event has no single native event");
	*native_out = NULL;
	return SYCL_SUCCESS;
}
