/* One image of a bundle: requests that the service compile, build or link it for one device. */
#include "kernel/bundle.h"
#include "connection/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void image_destroy(struct object *object)
{
	struct bundle_image *image = (struct bundle_image *)object;
	bundle_image_forget_variables(image);
	(void)pthread_mutex_destroy(&image->variables_lock);
	remote_release(object->connection, &image->remote);
	free(image->remote.why);
	object_unref(&image->context->object);
	object_unref(&image->device->object);
	for (uint32_t i = 0; i < image->name_count; i++)
		free(image->names[i]);
	free(image->names);
	free(image->log);
	object_delete(object);
}

static sycl_result image_new(struct context *context, struct device *device,
			     struct bundle_image **image_out)
{
	struct connection *c = context->object.connection;
	struct bundle_image *image = object_new(sizeof(*image), c);
	if (!image)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	sycl_result result = remote_name(c, OBJECT_BUNDLE, &image->remote);
	if (result || handle_create(&image->object, HANDLE_BUNDLE, image_destroy) < 0) {
		if (!result) {
			remote_forget(c, &image->remote);
			result = error_no_memory();
		}
		object_delete(&image->object);
		return result;
	}
	object_keep(&image->object); /* the program never receives its handle */
	(void)pthread_mutex_init(&image->variables_lock, NULL);
	image->context = context;
	object_ref(&context->object);
	image->device = device;
	object_ref(&device->object);
	*image_out = image;
	return SYCL_SUCCESS;
}

/* Copies the answer. Either all names are copied, or none. */
static void take_build(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case != SYCL__V1__REPLY__BODY_BUILD)
		return;
	struct bundle_image *image = pending->context;
	const Sycl__V1__BuildResult *build = reply->build;
	image->log = build->log[0] ? strdup(build->log) : NULL;
	image->names_left_out = build->kernels_left_out > 0;
	image->names = calloc(build->n_kernels + 1, sizeof(char *));
	for (size_t i = 0; image->names && i < build->n_kernels; i++) {
		image->names[i] = strdup(build->kernels[i]);
		if (!image->names[i])
			break;
		image->name_count++;
	}
	/* Without memory for the names, they are requested later. */
	if (image->name_count < build->n_kernels)
		image->names_left_out = true;
}

/* Sends the command and waits. On failure the image is freed. */
static sycl_result bundle_image_request(struct bundle_image *image,
					const Sycl__V1__Command *command,
					struct bundle_image **image_out)
{
	struct pending pending = {.take = take_build, .context = image};
	sycl_result result =
		connection_request(image->object.connection, command, &pending, UINT64_MAX);
	if (result) {
		struct failure why;
		error_get(&why);
		error_set_build_log(image->log);
		object_unref(&image->object);
		return error_set_failure(&why);
	}
	*image_out = image;
	return SYCL_SUCCESS;
}

/* The service decides which kinds the device's backend accepts. */
static sycl_result check_input(const struct context *context, const struct device *device,
			       const struct build_input *input)
{
	uint64_t limit = connection_most_source_bytes(context->object.connection);
	bool compiled = input->kind == SYCL_SOURCE_OPENCL_C ||
			input->kind == SYCL_SOURCE_PORTABLE ||
			input->kind == SYCL_SOURCE_CUDA_CPP || input->kind == SYCL_SOURCE_SPIRV;
	if (input->size_bytes > limit)
		return error_set(SYCL_ERROR_QUOTA,
				 "the source has %zu bytes, %" PRIu64 " are allowed",
				 input->size_bytes, limit);
	if (input->options && strlen(input->options) > BUNDLE_OPTIONS_MAX)
		return error_set(SYCL_ERROR_INVALID,
				 "the build options have %zu bytes, %u are allowed",
				 strlen(input->options), BUNDLE_OPTIONS_MAX);
	if (compiled && !(device->facts->aspects >> SYCL_ASPECT_ONLINE_COMPILER & 1))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s has no compiler",
				 device->facts->name);
	return SYCL_SUCCESS;
}

/* The options of the service: checking mode is one of them. malloc'ed; NULL: no memory. */
static char *build_options(const struct connection *c, const struct build_input *input)
{
	bool checks = c->check && input->kind == SYCL_SOURCE_PORTABLE && !input->compile_only;
	char *options = NULL;
	return asprintf(&options, "%s%s", checks ? "--sycl-check " : "",
			input->options ? input->options : "") < 0
		       ? NULL
		       : options;
}

sycl_result bundle_image_build(struct context *context, struct device *device,
			       const struct build_input *input, struct bundle_image **image_out)
{
	struct connection *c = context->object.connection;
	struct bundle_image *image = NULL;
	CLEANUP(free_pointer) char *options = build_options(c, input);
	if (!options)
		return error_no_memory();
	sycl_result result = check_input(context, device, input);
	if (!result)
		result = remote_check(&context->remote);
	if (!result)
		result = image_new(context, device, &image);
	if (result)
		return result;
	Sycl__V1__BundleBuild request = SYCL__V1__BUNDLE_BUILD__INIT;
	request.bundle = image->remote.id;
	request.context = context->remote.id;
	request.device = device->facts->device;
	request.kind = (Sycl__V1__SourceKind)input->kind;
	request.options = options;
	request.compile_only = input->compile_only;
	Sycl__V1__ArenaRange place = SYCL__V1__ARENA_RANGE__INIT;
	struct arena_range range = {0, 0, 0};
	if (input->size_bytes <= INLINE_SOURCE_BYTES_MAX) {
		request.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
		request.inline_source.data = (uint8_t *)(uintptr_t)input->bytes;
		request.inline_source.len = input->size_bytes;
	} else {
		void *address = NULL;
		result = arenas_take(c, input->size_bytes, &range, &address);
		if (result) {
			remote_forget(c, &image->remote); /* the service has no such object */
			object_unref(&image->object);
			return result;
		}
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
	result = bundle_image_request(image, &command, image_out);
	if (range.size_bytes) {
		(void)pthread_mutex_lock(&c->state_lock);
		arenas_give(&c->arenas, &range);
		(void)pthread_mutex_unlock(&c->state_lock);
	}
	return result;
}

sycl_result bundle_image_link(struct context *context, struct device *device, uint32_t count,
			      struct bundle_image *const *objects, const char *options,
			      struct bundle_image **image_out)
{
	uint64_t ids[BUNDLE_SOURCES_MAX];
	struct bundle_image *image = NULL;
	if (count == 0 || count > BUNDLE_SOURCES_MAX)
		return error_set(SYCL_ERROR_INVALID, "%u objects cannot be linked; 1 to %u can",
				 count, BUNDLE_SOURCES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		sycl_result result = remote_check(&objects[i]->remote);
		if (result)
			return result;
		ids[i] = objects[i]->remote.id;
	}
	sycl_result result = image_new(context, device, &image);
	if (result)
		return result;
	Sycl__V1__BundleLink request = SYCL__V1__BUNDLE_LINK__INIT;
	request.bundle = image->remote.id;
	request.context = context->remote.id;
	request.device = device->facts->device;
	request.n_bundles = count;
	request.bundles = ids;
	request.options = (char *)(uintptr_t)(options ? options : "");
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_LINK;
	command.bundle_link = &request;
	return bundle_image_request(image, &command, image_out);
}

sycl_result bundle_image_make_native(struct context *context, struct device *device,
				     sycl_bundle_state state, uint32_t count,
				     const uint64_t *natives, struct bundle_image **image_out)
{
	struct bundle_image *image = NULL;
	sycl_result result = image_new(context, device, &image);
	if (result)
		return result;
	image->native = count == 1 ? natives[0] : 0;
	Sycl__V1__NativeMake make = SYCL__V1__NATIVE_MAKE__INIT;
	make.object = image->remote.id;
	make.context = context->remote.id;
	make.device = device->facts->device;
	make.n_natives = count;
	make.natives = (uint64_t *)(uintptr_t)natives;
	make.state = (uint32_t)state;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_MAKE;
	command.native_make = &make;
	return bundle_image_request(image, &command, image_out);
}

bool bundle_image_has(const struct bundle_image *image, const char *name, bool maybe)
{
	for (uint32_t i = 0; i < image->name_count; i++)
		if (strcmp(image->names[i], name) == 0)
			return true;
	return maybe && image->names_left_out;
}
