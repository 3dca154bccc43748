/* Kernel bundles: sources built by the service. */
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

/* Asks for the build and waits for it. *log_out: malloc'ed or NULL, also on failure. */
static sycl_result build(struct queue *queue, uint64_t id, sycl_source_language language, const char *source,
			 const char *options, char **log_out)
{
	struct connection *c = queue->object.connection;
	size_t bytes = strlen(source);
	Sycl__V1__BundleBuild request = SYCL__V1__BUNDLE_BUILD__INIT;
	request.bundle = id;
	request.context = queue->context->remote.id;
	request.device = queue->device->facts->device;
	request.kind = (Sycl__V1__SourceKind)language;
	request.options = (char *)(options ? options : "");
	Sycl__V1__ArenaRange place = SYCL__V1__ARENA_RANGE__INIT;
	struct arena_range range = {0, 0, 0};
	if (bytes <= INLINE_SOURCE_BYTES_MAX) {
		request.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
		request.inline_source.data = (uint8_t *)source;
		request.inline_source.len = bytes;
	} else {
		void *address = NULL;
		sycl_result result = arenas_take(c, bytes, &range, &address);
		if (result)
			return result;
		memcpy(address, source, bytes);
		place.arena = range.arena;
		place.offset_bytes = range.offset_bytes;
		place.size_bytes = bytes;
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

static sycl_result check_source(const struct queue *queue, sycl_source_language language, const char *source,
				const char *options)
{
	uint64_t limit = queue->object.connection->limits.source_bytes;
	if (language < SYCL_SOURCE_OPENCL_C || language > SYCL_SOURCE_BUILTIN)
		return error_set(SYCL_ERROR_INVALID, "%d is no source language", (int)language);
	if (!source)
		return error_set(SYCL_ERROR_INVALID, "the source is NULL");
	if (strlen(source) > limit)
		return error_set(SYCL_ERROR_QUOTA, "the source has %zu bytes, %" PRIu64 " are allowed", strlen(source),
				 limit);
	if (options && strlen(options) > 4096)
		return error_set(SYCL_ERROR_INVALID, "the build options have %zu bytes, 4096 are allowed",
				 strlen(options));
	if (language != SYCL_SOURCE_BUILTIN && !(queue->device->facts->aspects >> SYCL_ASPECT_ONLINE_COMPILER & 1))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s has no compiler", queue->device->facts->name);
	return remote_check(&queue->context->remote);
}

SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue handle, sycl_source_language language,
						    const char *source, const char *options,
						    sycl_kernel_bundle *bundle_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(bundle_out);
	struct connection *c = queue->object.connection;
	error_set_build_log(NULL);
	sycl_result result = check_source(queue, language, source, options);
	if (result)
		return result;
	struct bundle *bundle = object_new(sizeof(*bundle), c);
	if (!bundle)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	result = remote_name(c, OBJECT_BUNDLE, &bundle->remote);
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
	result = build(queue, bundle->remote.id, language, source, options, &bundle->log);
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
