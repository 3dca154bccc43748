/* The states of a bundle: input, object, executable, and the transitions between them. */
#include "kernel/bundle.h"
#include "connection/limits.h"

#include <stdlib.h>
#include <string.h>

static bool source_takes_bytes(sycl_source_language language)
{
	return language == SYCL_SOURCE_CUBIN || language == SYCL_SOURCE_SPIRV;
}

static sycl_result check_source(sycl_source_language language, const void *source,
				uint64_t size_bytes)
{
	if (language < SYCL_SOURCE_OPENCL_C || language > SYCL_SOURCE_SPIRV)
		return error_set(SYCL_ERROR_INVALID, "%d is no source language", (int)language);
	if (!source)
		return error_set(SYCL_ERROR_INVALID, "the source is NULL");
	if (source_takes_bytes(language) ? size_bytes == 0 : size_bytes != 0)
		return error_set(SYCL_ERROR_INVALID,
				 source_takes_bytes(language)
					 ? "the source has no bytes"
					 : "size_bytes is for binaries; a text ends with a 0");
	return SYCL_SUCCESS;
}

static sycl_result source_new(const struct context *context, sycl_source_language language,
			      const void *source, uint64_t size_bytes,
			      struct bundle_source **source_out)
{
	uint64_t bytes = source_takes_bytes(language) ? size_bytes : strlen(source);
	uint64_t most = connection_most_source_bytes(context->object.connection);
	if (bytes > most)
		return error_set(SYCL_ERROR_QUOTA,
				 "the source has %llu bytes, but only %llu are allowed",
				 (unsigned long long)bytes, (unsigned long long)most);
	struct bundle_source *copy = malloc(sizeof(*copy) + bytes + 1);
	if (!copy)
		return error_no_memory();
	atomic_init(&copy->references, 1);
	copy->kind = (uint32_t)language;
	copy->size_bytes = bytes;
	memcpy(copy->bytes, source, bytes);
	copy->bytes[bytes] = '\0';
	*source_out = copy;
	return SYCL_SUCCESS;
}

/*
 * Each device must be one of the context's, and may occur once. `chosen` has room for all of these.
 */
static sycl_result bundle_choose_devices(const struct context *context, uint32_t count,
					 const sycl_device *handles, struct device **chosen)
{
	for (uint32_t i = 0; i < count; i++) {
		PIN(device, device, handles[i]);
		if (!context_has(context, device))
			return error_set(SYCL_ERROR_INVALID, "device %u is not one of the context",
					 i);
		for (uint32_t k = 0; k < i; k++)
			if (chosen[k] == device)
				return error_set(SYCL_ERROR_INVALID, "device %u is named twice", i);
		chosen[i] = device; /* the context holds the device */
	}
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_create_input(sycl_context handle, uint32_t device_count,
						     const sycl_device *devices,
						     sycl_source_language language,
						     const void *source, uint64_t size_bytes,
						     sycl_kernel_bundle *bundle_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(bundle_out);
	sycl_result result = check_source(language, source, size_bytes);
	if (result)
		return result;
	if (device_count > 0 && !devices)
		return error_set(SYCL_ERROR_INVALID, "devices is NULL");
	if (device_count > context->device_count)
		return error_set(SYCL_ERROR_INVALID,
				 "%u devices were given, but the context has %u", device_count,
				 context->device_count);
	struct device **chosen = calloc(context->device_count + 1u, sizeof(struct device *));
	if (!chosen)
		return error_no_memory();
	struct bundle_source *copy = NULL;
	struct bundle *bundle = NULL;
	result = bundle_choose_devices(context, device_count, devices, chosen);
	if (!result)
		result = source_new(context, language, source, size_bytes, &copy);
	if (!result)
		result = bundle_new(context, SYCL_BUNDLE_INPUT,
				    device_count ? device_count : context->device_count,
				    device_count ? chosen : context->devices, 0, &bundle);
	free(chosen);
	if (result) {
		bundle_source_unref(copy);
		return result;
	}
	bundle->sources[bundle->source_count++] = copy;
	return bundle_finish(bundle, bundle_out);
}

/* Makes the images of an input that consists of programs of the application. */
static sycl_result translate_natives(const struct bundle *input, const char *options,
				     struct bundle *bundle)
{
	sycl_result result = SYCL_SUCCESS;
	if (options && *options && input->image_count > 0)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "native programs are built without options");
	for (uint32_t i = 0; !result && i < input->image_count; i++) {
		result = bundle_image_make_native(input->context, input->images[i]->device,
						  bundle->state, 1, &input->images[i]->native,
						  &bundle->images[bundle->image_count]);
		if (!result)
			bundle->image_count++;
	}
	return result;
}

/* Translates every source of an input for each of its devices. */
static sycl_result bundle_translate_sources(const struct bundle *input, const char *options,
					    bool compile_only, sycl_kernel_bundle *bundle_out)
{
	struct bundle *bundle = NULL;
	error_set_build_log(NULL);
	if (input->state != SYCL_BUNDLE_INPUT)
		return error_set(SYCL_ERROR_INVALID, "only a bundle in the input state can be %s",
				 compile_only ? "compiled" : "built");
	sycl_result result = bundle_new(
		input->context, compile_only ? SYCL_BUNDLE_OBJECT : SYCL_BUNDLE_EXECUTABLE,
		input->device_count, input->devices,
		input->device_count * input->source_count + input->image_count, &bundle);
	if (!result)
		result = translate_natives(input, options, bundle);
	for (uint32_t d = 0; !result && d < input->device_count; d++) {
		for (uint32_t s = 0; !result && s < input->source_count; s++) {
			const struct bundle_source *source = input->sources[s];
			const struct build_input one = {
				.kind = source->kind,
				.bytes = source->bytes,
				.size_bytes = source->size_bytes,
				.options = options,
				.compile_only = compile_only,
			};
			result = bundle_image_build(input->context, input->devices[d], &one,
						    &bundle->images[bundle->image_count]);
			if (!result)
				bundle->image_count++;
		}
	}
	if (result)
		return bundle ? bundle_discard(bundle, result) : result;
	return bundle_finish(bundle, bundle_out);
}

SYCL_API sycl_result sycl_kernel_bundle_compile(sycl_kernel_bundle handle, const char *options,
						sycl_kernel_bundle *bundle_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(bundle_out);
	return bundle_translate_sources(bundle, options, true, bundle_out);
}

SYCL_API sycl_result sycl_kernel_bundle_build(sycl_kernel_bundle handle, const char *options,
					      sycl_kernel_bundle *bundle_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(bundle_out);
	return bundle_translate_sources(bundle, options, false, bundle_out);
}

/* Several bundles, pinned. */
struct bundle_list {
	struct bundle **items;
	uint32_t count;
};

static void bundle_list_fini(struct bundle_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		object_unref(&list->items[i]->object);
	free(list->items);
}

static sycl_result bundles_pin_all(uint32_t count, const sycl_kernel_bundle *handles,
				   struct bundle_list *list)
{
	if (count == 0 || count > BUNDLE_SOURCES_MAX || !handles)
		return error_set(SYCL_ERROR_INVALID, "%u bundles; 1 to %u are possible", count,
				 BUNDLE_SOURCES_MAX);
	list->items = calloc(count, sizeof(struct bundle *));
	if (!list->items)
		return error_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		sycl_result result = bundle_pin(handles[i], &list->items[i]);
		if (result)
			return result;
		list->count++;
		if (list->items[i]->context != list->items[0]->context)
			return error_set(SYCL_ERROR_INVALID,
					 "bundle %u belongs to another context than the first", i);
		if (list->items[i]->state != list->items[0]->state)
			return error_set(SYCL_ERROR_INVALID,
					 "bundle %u is in another state than the first", i);
	}
	return SYCL_SUCCESS;
}

static bool devices_have(const struct bundle *bundle, const struct device *device)
{
	for (uint32_t i = 0; i < bundle->device_count; i++)
		if (bundle->devices[i] == device)
			return true;
	return false;
}

/* Lists the devices that all bundles of the list have, or that any of them has. `chosen` has room
 * for the context's. */
static uint32_t common_devices(const struct bundle_list *list, bool all, struct device **chosen)
{
	const struct context *context = list->items[0]->context;
	uint32_t count = 0;
	for (uint32_t d = 0; d < context->device_count; d++) {
		uint32_t have = 0;
		for (uint32_t i = 0; i < list->count; i++)
			have += devices_have(list->items[i], context->devices[d]);
		if (all ? have == list->count : have > 0)
			chosen[count++] = context->devices[d];
	}
	return count;
}

static sycl_result link_device(const struct bundle_list *list, struct device *device,
			       const char *options, struct bundle *bundle)
{
	struct bundle_image *objects[BUNDLE_SOURCES_MAX];
	uint32_t count = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		for (uint32_t k = 0; k < list->items[i]->image_count; k++) {
			struct bundle_image *image = list->items[i]->images[k];
			if (image->device != device)
				continue;
			if (count == BUNDLE_SOURCES_MAX)
				return error_set(SYCL_ERROR_INVALID, "more than %u objects",
						 BUNDLE_SOURCES_MAX);
			objects[count++] = image;
		}
	}
	uint64_t natives[BUNDLE_SOURCES_MAX];
	uint32_t native_count = 0;
	while (native_count < count && objects[native_count]->native) {
		natives[native_count] = objects[native_count]->native;
		native_count++;
	}
	sycl_result result;
	if (native_count == 0)
		result = bundle_image_link(bundle->context, device, count, objects, options,
					   &bundle->images[bundle->image_count]);
	else if (native_count < count || (options && *options))
		result = error_set(
			SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			"objects of native programs can only be linked with each other, and without options");
	else
		result = bundle_image_make_native(bundle->context, device, SYCL_BUNDLE_EXECUTABLE,
						  count, natives,
						  &bundle->images[bundle->image_count]);
	if (!result)
		bundle->image_count++;
	return result;
}

SYCL_API sycl_result sycl_kernel_bundle_link(uint32_t count, const sycl_kernel_bundle *objects,
					     const char *options, sycl_kernel_bundle *bundle_out)
{
	CLEANUP(bundle_list_fini) struct bundle_list list = {NULL, 0};
	struct bundle *bundle = NULL;
	REQUIRE_OUTPUT(bundle_out);
	error_set_build_log(NULL);
	sycl_result result = bundles_pin_all(count, objects, &list);
	if (!result && list.items[0]->state != SYCL_BUNDLE_OBJECT)
		result = error_set(SYCL_ERROR_INVALID,
				   "only bundles in the object state are linked");
	if (!result && options && strlen(options) > BUNDLE_OPTIONS_MAX)
		result = error_set(SYCL_ERROR_INVALID, "the options have %zu bytes, %u are allowed",
				   strlen(options), BUNDLE_OPTIONS_MAX);
	if (result)
		return result;
	const struct context *context = list.items[0]->context;
	struct device **devices = calloc(context->device_count + 1u, sizeof(struct device *));
	if (!devices)
		return error_no_memory();
	uint32_t device_count = common_devices(&list, true, devices);
	if (device_count == 0)
		result = error_set(SYCL_ERROR_INVALID, "the bundles have no device in common");
	if (!result)
		result = bundle_new(list.items[0]->context, SYCL_BUNDLE_EXECUTABLE, device_count,
				    devices, device_count, &bundle);
	for (uint32_t d = 0; !result && d < device_count; d++)
		result = link_device(&list, devices[d], options, bundle);
	free(devices);
	if (result)
		return bundle ? bundle_discard(bundle, result) : result;
	return bundle_finish(bundle, bundle_out);
}

/* Adds an image or a source once, even if several bundles have it. */
static sycl_result images_take_all(struct bundle *bundle, const struct bundle *from)
{
	for (uint32_t i = 0; i < from->image_count; i++) {
		bool known = false;
		for (uint32_t k = 0; k < bundle->image_count; k++)
			known = known || bundle->images[k] == from->images[i];
		if (known)
			continue;
		object_ref(&from->images[i]->object);
		bundle->images[bundle->image_count++] = from->images[i];
	}
	for (uint32_t i = 0; i < from->source_count; i++) {
		bool known = false;
		for (uint32_t k = 0; k < bundle->source_count; k++)
			known = known || bundle->sources[k] == from->sources[i];
		if (known)
			continue;
		if (bundle->source_count == BUNDLE_SOURCES_MAX)
			return error_set(SYCL_ERROR_INVALID, "more than %u sources",
					 BUNDLE_SOURCES_MAX);
		(void)atomic_fetch_add_explicit(&from->sources[i]->references, 1,
						memory_order_relaxed);
		bundle->sources[bundle->source_count++] = from->sources[i];
	}
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_join(uint32_t count, const sycl_kernel_bundle *bundles,
					     sycl_kernel_bundle *bundle_out)
{
	CLEANUP(bundle_list_fini) struct bundle_list list = {NULL, 0};
	struct bundle *bundle = NULL;
	uint32_t images = 0;
	REQUIRE_OUTPUT(bundle_out);
	sycl_result result = bundles_pin_all(count, bundles, &list);
	if (result)
		return result;
	const struct context *context = list.items[0]->context;
	struct device **devices = calloc(context->device_count + 1u, sizeof(struct device *));
	if (!devices)
		return error_no_memory();
	/* An input is built for all of its devices. */
	uint32_t device_count =
		common_devices(&list, list.items[0]->state == SYCL_BUNDLE_INPUT, devices);
	for (uint32_t i = 0; i < list.count; i++)
		images += list.items[i]->image_count;
	if (device_count == 0)
		result = error_set(SYCL_ERROR_INVALID, "the bundles have no device in common");
	else
		result = bundle_new(list.items[0]->context, list.items[0]->state, device_count,
				    devices, images, &bundle);
	free(devices);
	for (uint32_t i = 0; !result && i < list.count; i++)
		result = images_take_all(bundle, list.items[i]);
	if (result)
		return bundle ? bundle_discard(bundle, result) : result;
	return bundle_finish(bundle, bundle_out);
}
