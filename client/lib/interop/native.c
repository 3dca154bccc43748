/* Native handles: whether they may be requested, what they are, and the handles of an object. */
#include "interop/native.h"

#include "handler/handler.h"
#include "memory/image.h"

#include "syclclient/native.h"
#include "host_task/host_tasks.h"
#include "interop/bridge.h"

#include <string.h>

#define ALL_KINDS 0x1feu

_Static_assert(ALL_KINDS == (NATIVE_BIT(PLATFORM) | NATIVE_BIT(DEVICE) | NATIVE_BIT(CONTEXT) |
			     NATIVE_BIT(QUEUE) | NATIVE_BIT(MEMORY) | NATIVE_BIT(PROGRAM) |
			     NATIVE_BIT(KERNEL) | NATIVE_BIT(EVENT)),
	       "every kind that there is");

/* 000 and 002: the objects of each backend that are native objects (I1, J1). */
static const uint32_t kinds_of[] = {
	[SYCL_BACKEND_KIND_OPENCL] = ALL_KINDS,
	[SYCL_BACKEND_KIND_CUDA] =
		NATIVE_BIT(DEVICE) | NATIVE_BIT(CONTEXT) | NATIVE_BIT(QUEUE) | NATIVE_BIT(EVENT),
	[SYCL_BACKEND_KIND_FAKE] = 0,
};

static sycl_result check_backend(uint32_t is, sycl_backend wanted)
{
	if ((uint32_t)wanted < SYCL_BACKEND_KIND_OPENCL ||
	    (uint32_t)wanted > SYCL_BACKEND_KIND_FAKE)
		return error_set(SYCL_ERROR_INVALID, "%d is no backend", (int)wanted);
	if (is != (uint32_t)wanted)
		return error_set(SYCL_ERROR_BACKEND_MISMATCH,
				 "the object is of backend %u, not of %d", is, (int)wanted);
	return SYCL_SUCCESS;
}

/* Fails as the service would. */
static sycl_result check_process(const struct connection *c)
{
	if (c->engine)
		return SYCL_SUCCESS;
	return error_set(
		SYCL_ERROR_FEATURE_NOT_SUPPORTED,
		"native handles are valid in one process only: open \"embedded:\" for them");
}

sycl_result native_check(const struct connection *c, uint32_t is, sycl_backend wanted, int kind)
{
	sycl_result result = check_process(c);
	if (!result)
		result = check_backend(is, wanted);
	if (!result && !(kinds_of[is] & 1u << kind))
		result = error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				   "this backend has no native objects of this kind");
	return result;
}

sycl_result native_check_outputs(uint32_t capacity, const uint64_t *natives_out,
				 const uint32_t *count_out)
{
	if (capacity > 0)
		REQUIRE_OUTPUT(natives_out);
	if (!natives_out)
		REQUIRE_OUTPUT(count_out);
	return SYCL_SUCCESS;
}

struct described {
	struct native_facts *facts;
	bool known;
};

static void take_facts(struct pending *pending, const Sycl__V1__Reply *reply)
{
	struct described *described = pending->context;
	struct native_facts *facts = described->facts;
	if (reply->body_case != SYCL__V1__REPLY__BODY_NATIVE_FACTS)
		return;
	const Sycl__V1__NativeFacts *from = reply->native_facts;
	if (from->n_devices > NATIVES_MAX || from->n_image_size > 3)
		return;
	*facts = (struct native_facts){.device_count = (uint32_t)from->n_devices,
				       .out_of_order = from->out_of_order,
				       .profiling = from->profiling,
				       .is_sub_device = from->is_sub_device,
				       .size_bytes = from->size_bytes,
				       .image_format = from->image_format,
				       .dimensions = (uint32_t)from->n_image_size,
				       .program = from->program,
				       .state = from->state};
	for (size_t i = 0; i < from->n_devices; i++)
		facts->devices[i] = from->devices[i];
	for (size_t i = 0; i < from->n_image_size; i++)
		facts->image_size[i] = from->image_size[i];
	(void)strncpy(facts->name, from->name, sizeof(facts->name) - 1);
	described->known = true;
}

sycl_result native_describe(struct connection *c, sycl_backend backend, int kind, uint64_t native,
			    const struct context *context, struct native_facts *facts_out)
{
	Sycl__V1__NativeDescribe describe = SYCL__V1__NATIVE_DESCRIBE__INIT;
	describe.backend = (Sycl__V1__Backend)backend;
	describe.kind = (Sycl__V1__NativeKind)kind;
	describe.native = native;
	describe.context = context ? context->remote.id : 0;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_DESCRIBE;
	command.native_describe = &describe;
	/* CUDA counts devices from 0. All other native objects are addresses. */
	if (native == 0 && !(backend == SYCL_BACKEND_KIND_CUDA &&
			     kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE))
		return error_set(SYCL_ERROR_INVALID, "the native object is NULL");
	struct described described = {.facts = facts_out};
	struct pending pending = {.take = take_facts, .context = &described};
	sycl_result result = connection_request(c, &command, &pending, UINT64_MAX);
	if (!result && !described.known)
		result = error_set(SYCL_ERROR_RUNTIME,
				   "the service's answer about a native object could not be read");
	return result;
}

static void take_handles(struct pending *pending, const Sycl__V1__Reply *reply)
{
	struct native_list *list = pending->context;
	if (reply->body_case != SYCL__V1__REPLY__BODY_NATIVE_HANDLES)
		return;
	const Sycl__V1__NativeHandles *handles = reply->native_handles;
	for (size_t i = 0; i < handles->n_natives && list->count < NATIVES_MAX; i++)
		list->items[list->count++] = handles->natives[i];
}

sycl_result native_get(struct connection *c, const Sycl__V1__NativeGet *get,
		       struct native_list *list)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_GET;
	command.native_get = (Sycl__V1__NativeGet *)(uintptr_t)get;
	struct pending pending = {.take = take_handles, .context = list};
	return connection_request(c, &command, &pending, UINT64_MAX);
}

sycl_result native_get_one(struct connection *c, const Sycl__V1__NativeGet *get,
			   uint64_t *native_out)
{
	struct native_list list = {.count = 0};
	sycl_result result = native_get(c, get, &list);
	if (!result && list.count != 1)
		result = error_set(SYCL_ERROR_RUNTIME,
				   "the service gave %u native objects, not one", list.count);
	if (!result)
		*native_out = list.items[0];
	return result;
}

sycl_result native_make(struct connection *c, const Sycl__V1__NativeMake *make)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_MAKE;
	command.native_make = (Sycl__V1__NativeMake *)(uintptr_t)make;
	struct pending pending = {.take = NULL};
	return connection_request(c, &command, &pending, UINT64_MAX);
}

static void get_init(Sycl__V1__NativeGet *get, Sycl__V1__NativeKind kind, uint64_t object)
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
	sycl_result result = check_process(c);
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
		get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_PLATFORM, 0);
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
	get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE, 0);
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
		get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_CONTEXT, context->remote.id);
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
	get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE, queue->line->remote.id);
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
	get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY, buffer->remote.id);
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
		get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM,
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
	get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL, kernel->remote.id);
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
		get_init(&get, SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT,
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
	*has_out = event_natives(event) >
		   0; /* without a native event, the engine reports completion through a slot */
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

/* Whole words, separated by blanks. */
static uint32_t has_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; *at;) {
		at += strspn(at, " ");
		size_t bytes = strcspn(at, " ");
		if (bytes == length && bytes > 0 && memcmp(at, word, bytes) == 0)
			return 1;
		at += bytes;
	}
	return 0;
}

SYCL_API sycl_result sycl_platform_has_extension(sycl_platform handle, sycl_backend backend,
						 const char *extension, uint32_t *has_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(has_out);
	if (!extension)
		return error_set(SYCL_ERROR_INVALID, "the extension's name is NULL");
	const struct topology *topology = NULL;
	sycl_result result = topology_get(platform->object.connection, &topology);
	if (result)
		return result;
	uint32_t index = atomic_load_explicit(&platform->index, memory_order_relaxed);
	if (index >= topology->platform_count)
		return error_set(SYCL_ERROR_PLATFORM, "the service has no platform");
	result = check_backend((uint32_t)topology->platforms[index]->backend, backend);
	if (!result)
		*has_out = has_word(topology->platforms[index]->extensions, extension);
	return result;
}

SYCL_API sycl_result sycl_device_has_extension(sycl_device handle, sycl_backend backend,
					       const char *extension, uint32_t *has_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(has_out);
	if (!extension)
		return error_set(SYCL_ERROR_INVALID, "the extension's name is NULL");
	sycl_result result = check_backend(device_backend(device), backend);
	if (!result)
		*has_out = has_word(device->facts->extensions, extension);
	return result;
}
