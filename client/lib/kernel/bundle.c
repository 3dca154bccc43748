/* Kernel bundles: images for devices, built by the service from sources and binaries. */
#include "kernel/bundle.h"

#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>

void bundle_source_unref(struct bundle_source *source)
{
	if (source && atomic_fetch_sub_explicit(&source->references, 1, memory_order_acq_rel) == 1)
		free(source);
}

static void bundle_destroy(struct object *object)
{
	struct bundle *bundle = (struct bundle *)object;
	for (uint32_t i = 0; i < bundle->image_count; i++)
		object_unref(&bundle->images[i]->object);
	for (uint32_t i = 0; i < bundle->source_count; i++)
		bundle_source_unref(bundle->sources[i]);
	for (uint32_t i = 0; i < bundle->device_count; i++)
		object_unref(&bundle->devices[i]->object);
	object_unref(&bundle->context->object);
	free((void *)(uintptr_t)bundle->kernels);
	free(bundle->images);
	free(bundle->sources);
	free(bundle->devices);
	free(bundle->log);
	object_delete(object);
}

sycl_result bundle_new(struct context *context, sycl_bundle_state state, uint32_t device_count,
		       struct device *const *devices, uint32_t image_count,
		       struct bundle **bundle_out)
{
	struct bundle *bundle = object_new(sizeof(*bundle), context->object.connection);
	if (!bundle)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	bundle->state = state;
	bundle->devices = calloc(device_count + 1u, sizeof(struct device *));
	bundle->images = calloc(image_count + 1u, sizeof(struct bundle_image *));
	bundle->sources = calloc(BUNDLE_SOURCES_MAX, sizeof(struct bundle_source *));
	if (!bundle->devices || !bundle->images || !bundle->sources ||
	    handle_create(&bundle->object, HANDLE_BUNDLE, bundle_destroy) < 0) {
		free(bundle->devices);
		free(bundle->images);
		free(bundle->sources);
		object_delete(&bundle->object);
		return error_no_memory();
	}
	bundle->context = context;
	object_ref(&context->object);
	for (uint32_t i = 0; i < device_count; i++) {
		bundle->devices[i] = devices[i];
		object_ref(&devices[i]->object);
	}
	bundle->device_count = device_count;
	*bundle_out = bundle;
	return SYCL_SUCCESS;
}

sycl_result bundle_discard(struct bundle *bundle, sycl_result result)
{
	struct failure why = {.code = result};
	error_get(&why);
	object_unref(&bundle->object);
	return error_set_failure(&why);
}

/* Joins the logs, each on its own lines. NULL is a valid result: there is no log. */
static char *join_logs(const struct bundle *bundle)
{
	size_t bytes = 1;
	for (uint32_t i = 0; i < bundle->image_count; i++)
		bytes += bundle->images[i]->log ? strlen(bundle->images[i]->log) + 1 : 0;
	char *log = bytes > 1 ? malloc(bytes) : NULL;
	if (!log)
		return NULL;
	char *to = log;
	for (uint32_t i = 0; i < bundle->image_count; i++) {
		const char *words = bundle->images[i]->log;
		if (!words || !*words)
			continue;
		if (to > log && to[-1] != '\n')
			*to++ = '\n';
		to = stpcpy(to, words);
	}
	*to = '\0';
	return log;
}

static bool kernel_name_is_in(const char *const *names, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Lists the names of all images without repetition. Within one image the names are unique. */
static bool list_kernels(struct bundle *bundle)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < bundle->image_count; i++)
		total += bundle->images[i]->name_count;
	bundle->kernels = (const char **)calloc(total + 1u, sizeof(char *));
	for (uint32_t i = 0; bundle->kernels && i < bundle->image_count; i++) {
		const struct bundle_image *image = bundle->images[i];
		uint32_t before = bundle->kernel_count;
		for (uint32_t k = 0; k < image->name_count; k++)
			if (!kernel_name_is_in(bundle->kernels, before, image->names[k]))
				bundle->kernels[bundle->kernel_count++] = image->names[k];
	}
	return bundle->kernels != NULL;
}

sycl_result bundle_finish(struct bundle *bundle, sycl_kernel_bundle *bundle_out)
{
	if (!list_kernels(bundle))
		return bundle_discard(bundle, error_no_memory());
	bundle->log = join_logs(bundle);
	error_set_build_log(bundle->log);
	*bundle_out = handle_of(&bundle->object);
	return SYCL_SUCCESS;
}

/* Builds an executable of one image, for the queue's device. */
static sycl_result bundle_build_one(struct queue *queue, const struct build_input *input,
				    sycl_kernel_bundle *bundle_out)
{
	struct bundle *bundle = NULL;
	sycl_result result =
		bundle_new(queue->context, SYCL_BUNDLE_EXECUTABLE, 1, &queue->device, 1, &bundle);
	if (result)
		return result;
	result = bundle_image_build(queue->context, queue->device, input, &bundle->images[0]);
	if (result)
		return bundle_discard(bundle, result);
	bundle->image_count = 1;
	return bundle_finish(bundle, bundle_out);
}

SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue handle,
						    sycl_source_language language,
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
	const struct build_input input = {.kind = (uint32_t)language,
					  .bytes = source,
					  .size_bytes = strlen(source),
					  .options = options};
	return bundle_build_one(queue, &input, bundle_out);
}

/* Checks the first word of a module, in either byte order. */
static bool is_spirv(const void *bytes, uint64_t size_bytes)
{
	static const unsigned char magic[] = {0x07, 0x23, 0x02, 0x03},
				   swapped[] = {0x03, 0x02, 0x23, 0x07};
	return size_bytes >= sizeof(magic) && (memcmp(bytes, magic, sizeof(magic)) == 0 ||
					       memcmp(bytes, swapped, sizeof(swapped)) == 0);
}

SYCL_API sycl_result sycl_kernel_bundle_from_binary(sycl_queue handle, const void *bytes,
						    uint64_t size_bytes,
						    sycl_kernel_bundle *bundle_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(bundle_out);
	error_set_build_log(NULL);
	if (!bytes || size_bytes == 0)
		return error_set(SYCL_ERROR_INVALID, "the source has no bytes");
	const struct build_input input = {
		.kind = is_spirv(bytes, size_bytes) ? SYCL_SOURCE_SPIRV : SYCL_SOURCE_CUBIN,
		.bytes = bytes,
		.size_bytes = size_bytes,
	};
	return bundle_build_one(queue, &input, bundle_out);
}

SYCL_API sycl_result sycl_kernel_bundle_retain(sycl_kernel_bundle bundle)
{
	return handle_retain(bundle, HANDLE_BUNDLE);
}

SYCL_API sycl_result sycl_kernel_bundle_release(sycl_kernel_bundle bundle)
{
	return handle_release(bundle, HANDLE_BUNDLE);
}

SYCL_API sycl_result sycl_kernel_bundle_get_reference_count(sycl_kernel_bundle bundle,
							    uint32_t *count_out)
{
	return handle_get_reference_count(bundle, HANDLE_BUNDLE, count_out);
}
