/* Requests about native objects: checks, messages, and the extensions of a backend. */
#include "interop/native.h"

#include "syclclient/native.h"

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

sycl_result native_check_process(const struct connection *c)
{
	if (c->engine)
		return SYCL_SUCCESS;
	return error_set(
		SYCL_ERROR_FEATURE_NOT_SUPPORTED,
		"native handles are valid in one process only: open \"embedded:\" for them");
}

sycl_result native_check(const struct connection *c, uint32_t is, sycl_backend wanted, int kind)
{
	sycl_result result = native_check_process(c);
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
				   "the service returned %u native objects, not one", list.count);
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

/* Whole words, separated by blanks. */
static uint32_t native_has_word(const char *words, const char *word)
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
		*has_out = native_has_word(topology->platforms[index]->extensions, extension);
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
		*has_out = native_has_word(device->facts->extensions, extension);
	return result;
}
