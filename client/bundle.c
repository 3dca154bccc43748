/* Kernel bundles: sources and binaries built by the service. */
#include "client_objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void bundle_destroy(struct object *object)
{
	struct bundle *bundle = (struct bundle *)object;
	remote_release(object->connection, &bundle->remote);
	free(bundle->remote.why);
	object_unref(&bundle->context->object);
	object_unref(&bundle->device->object);
	free(bundle->log);
	object_delete(object);
}

static void take_build(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case == SYCL__V1__REPLY__BODY_BUILD && reply->build->log)
		pending->context = strdup(reply->build->log);
}

/* What is built: text or bytes. */
struct build_input {
	Sycl__V1__SourceKind kind;
	const void *bytes;
	size_t size_bytes;
	const char *options;
};

/* Asks for the build and waits for it. *log_out: malloc'ed or NULL, also on failure. */
static sycl_result build(struct queue *queue, uint64_t id, const struct build_input *input, char **log_out)
{
	struct connection *c = queue->object.connection;
	Sycl__V1__BundleBuild request = SYCL__V1__BUNDLE_BUILD__INIT;
	request.bundle = id;
	request.context = queue->context->remote.id;
	request.device = queue->device->facts->device;
	request.kind = input->kind;
	request.options = (char *)(input->options ? input->options : "");
	Sycl__V1__ArenaRange place = SYCL__V1__ARENA_RANGE__INIT;
	struct arena_range range = {0, 0, 0};
	if (input->size_bytes <= INLINE_SOURCE_BYTES_MAX) {
		request.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
		request.inline_source.data = (uint8_t *)(uintptr_t)input->bytes;
		request.inline_source.len = input->size_bytes;
	} else {
		void *address = NULL;
		sycl_result result = arenas_take(c, input->size_bytes, &range, &address);
		if (result)
			return result;
		memcpy(address, input->bytes, input->size_bytes);
		place.arena = range.arena;
		place.offset_bytes = range.offset_bytes;
		place.size_bytes = input->size_bytes;
		request.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_ARENA_SOURCE;
		request.arena_source = &place;
	}
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = &request;
	struct pending pending = {.take = take_build};
	sycl_result result = connection_request(c, &command, &pending, UINT64_MAX);
	if (range.size_bytes) {
		(void)pthread_mutex_lock(&c->state_lock);
		arenas_give(&c->arenas, &range);
		(void)pthread_mutex_unlock(&c->state_lock);
	}
	*log_out = pending.context;
	return result;
}

/* Which kinds the device's backend takes is the service's to say. */
static sycl_result check_input(const struct queue *queue, const struct build_input *input)
{
	uint64_t limit = queue->object.connection->limits.source_bytes;
	bool compiled = input->kind == SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C ||
			input->kind == SYCL__V1__SOURCE_KIND__SOURCE_KIND_PORTABLE ||
			input->kind == SYCL__V1__SOURCE_KIND__SOURCE_KIND_CUDA_CPP;
	if (input->size_bytes > limit)
		return error_set(SYCL_ERROR_QUOTA, "the source has %zu bytes, %" PRIu64 " are allowed",
				 input->size_bytes, limit);
	if (input->options && strlen(input->options) > 4096)
		return error_set(SYCL_ERROR_INVALID, "the build options have %zu bytes, 4096 are allowed",
				 strlen(input->options));
	if (compiled && !(queue->device->facts->aspects >> SYCL_ASPECT_ONLINE_COMPILER & 1))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s has no compiler", queue->device->facts->name);
	return remote_check(&queue->context->remote);
}

static sycl_result bundle_new(struct queue *queue, struct bundle **bundle_out)
{
	struct connection *c = queue->object.connection;
	struct bundle *bundle = object_new(sizeof(*bundle), c);
	if (!bundle)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	sycl_result result = remote_name(c, OBJECT_BUNDLE, &bundle->remote);
	if (result || handle_create(&bundle->object, HANDLE_BUNDLE, bundle_destroy) < 0) {
		if (!result) {
			remote_forget(c, &bundle->remote);
			result = error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
		}
		object_delete(&bundle->object);
		return result;
	}
	bundle->context = queue->context;
	object_ref(&bundle->context->object);
	bundle->device = queue->device;
	object_ref(&bundle->device->object);
	*bundle_out = bundle;
	return SYCL_SUCCESS;
}

static sycl_result make(struct queue *queue, const struct build_input *input, sycl_kernel_bundle *bundle_out)
{
	struct bundle *bundle = NULL;
	sycl_result result = check_input(queue, input);
	if (!result)
		result = bundle_new(queue, &bundle);
	if (result)
		return result;
	result = build(queue, bundle->remote.id, input, &bundle->log);
	if (result) {
		struct failure why;
		error_get(&why);
		error_set_build_log(bundle->log);
		object_unref(&bundle->object);
		return error_set_failure(&why);
	}
	*bundle_out = handle_of(&bundle->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue handle, sycl_source_language language,
						    const char *source, const char *options,
						    sycl_kernel_bundle *bundle_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(bundle_out);
	error_set_build_log(NULL);
	switch (language) {
	case SYCL_SOURCE_OPENCL_C:
	case SYCL_SOURCE_PORTABLE:
	case SYCL_SOURCE_BUILTIN:
	case SYCL_SOURCE_PTX:
	case SYCL_SOURCE_CUDA_CPP:
		break;
	default:
		return error_set(SYCL_ERROR_INVALID, "%d is no source language", (int)language);
	}
	if (!source)
		return error_set(SYCL_ERROR_INVALID, "the source is NULL");
	const struct build_input input = {(Sycl__V1__SourceKind)language, source, strlen(source), options};
	return make(queue, &input, bundle_out);
}

SYCL_API sycl_result sycl_kernel_bundle_from_binary(sycl_queue handle, const void *bytes, uint64_t size_bytes,
						    sycl_kernel_bundle *bundle_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(bundle_out);
	error_set_build_log(NULL);
	if (!bytes || size_bytes == 0)
		return error_set(SYCL_ERROR_INVALID, "there are no bytes");
	const struct build_input input = {SYCL__V1__SOURCE_KIND__SOURCE_KIND_CUBIN, bytes, size_bytes, NULL};
	return make(queue, &input, bundle_out);
}

SYCL_API sycl_result sycl_kernel_bundle_retain(sycl_kernel_bundle bundle)
{
	return handle_retain(bundle, HANDLE_BUNDLE);
}

SYCL_API sycl_result sycl_kernel_bundle_release(sycl_kernel_bundle bundle)
{
	return handle_release(bundle, HANDLE_BUNDLE);
}

SYCL_API sycl_result sycl_kernel_bundle_get_reference_count(sycl_kernel_bundle bundle, uint32_t *count_out)
{
	return handle_get_reference_count(bundle, HANDLE_BUNDLE, count_out);
}

SYCL_API sycl_result sycl_kernel_bundle_get_log(sycl_kernel_bundle handle, const char **log_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(log_out);
	*log_out = bundle->log ? bundle->log : "";
	return SYCL_SUCCESS;
}
