/* Images: creation and attributes, limits of devices, samplers. */
#include "memory/image.h"

#include "clock.h"
#include "image_format.h"

#include <inttypes.h>

_Static_assert((int)SYCL_ADDRESSING_NONE == (int)IMAGE_ADDRESSING_NONE,
	       "one number for the wire and the interface");
_Static_assert((int)SYCL_ADDRESSING_MIRRORED_REPEAT == (int)IMAGE_ADDRESSING_MIRRORED_REPEAT,
	       "the same");
_Static_assert((int)SYCL_IMAGE_FORMAT_B8G8R8A8_UNORM == IMAGE_FORMAT_COUNT,
	       "the formats are the shared table's");
_Static_assert(SYCL_IMAGE_FORMAT_GENERAL == IMAGE_FORMAT_GENERAL &&
		       (int)SYCL_IMAGE_ORDER_ABGR + 1 == (int)IMAGE_ORDERS &&
		       (int)SYCL_IMAGE_TYPE_UNORM_101010_2 + 1 == (int)IMAGE_TYPES_KNOWN &&
		       SYCL_IMAGE_KIND_2D_VIEW == 1 << IMAGE_KIND_2D_VIEW,
	       "so are the general ones");

static sycl_result image_announce(const struct buffer *image, const Sycl__V1__ArenaRange *place,
				  const struct buffer_plan *plan, bool *announced_out)
{
	Sycl__V1__ImageCreate create = SYCL__V1__IMAGE_CREATE__INIT;
	(void)plan;
	create.image = image->remote.id;
	create.format = image->image_format;
	create.n_size = image->range.dimensions;
	create.size = (uint64_t *)(uintptr_t)image->range.size;
	create.range = (Sycl__V1__ArenaRange *)(uintptr_t)place;
	create.initialised = image->kind != SYCL_HOST_NONE;
	create.layered = image->image_layered;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_IMAGE_CREATE;
	command.image_create = &create;
	sycl_result result = connection_send(image->object.connection, &command);
	*announced_out = result == SYCL_SUCCESS;
	return result;
}

static sycl_result image_check_new(sycl_image_format format, bool is_layered,
				   const sycl_range *range, uint64_t *bytes_out)
{
	if (!image_format_find((uint32_t)format))
		return error_set(SYCL_ERROR_INVALID, "%d is no image format", (int)format);
	if (range->dimensions < 1 || range->dimensions > 3 || range->reserved != 0)
		return error_set(
			SYCL_ERROR_INVALID,
			"the range must have 1 to 3 dimensions, and its reserved member must be 0");
	if (is_layered && range->dimensions < 2)
		return error_set(
			SYCL_ERROR_INVALID,
			"a layered image has 2 or 3 dimensions, the first one counts layers");
	for (uint32_t i = 0; i < range->dimensions; i++)
		if (range->size[i] == 0 || range->size[i] > IMAGE_SIZE_MAX)
			return error_set(SYCL_ERROR_INVALID,
					 "dimension %u: %" PRIu64
					 " pixels; an image has 1 to %u in each",
					 i, range->size[i], IMAGE_SIZE_MAX);
	if (image_bytes((uint32_t)format, is_layered, range->dimensions, range->size, bytes_out) <
	    0)
		return error_set(SYCL_ERROR_QUOTA, "the image has more than 2^63 bytes");
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_image_create(sycl_platform handle, sycl_image_format format,
				       sycl_range range, void *host, sycl_host_memory kind,
				       sycl_image *image_out)
{
	const struct sycl_image_options options = {.struct_bytes = sizeof(options),
						   .kind = kind,
						   .format = format,
						   .range = range,
						   .host = host};
	return sycl_image_create_with(handle, &options, image_out);
}

SYCL_API sycl_result sycl_image_create_with(sycl_platform handle,
					    const struct sycl_image_options *options,
					    sycl_image *image_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(image_out);
	if (!options || options->struct_bytes != sizeof(*options) || options->layered > 1)
		return error_set(
			SYCL_ERROR_INVALID,
			"options: NULL, or struct_bytes or layered is wrong; start from SYCL_IMAGE_OPTIONS_INIT");
	const sycl_host_memory kind = options->kind;
	sycl_range range = options->range;
	uint64_t bytes = 0;
	sycl_result result = image_check_new(options->format, options->layered, &range, &bytes);
	if (!result && (kind == SYCL_HOST_SHARED || kind == SYCL_HOST_OWNED))
		result = error_set(
			SYCL_ERROR_INVALID,
			"an image takes host memory of the kinds BORROWED, CONST or NONE");
	if (result)
		return result;
	for (uint32_t i = range.dimensions; i < 3; i++)
		range.size[i] = 1;
	struct buffer_plan plan = {
		.host = options->host,
		.size_bytes = bytes,
		.kind = kind,
		.announce = image_announce,
		.image_format = (uint32_t)options->format,
		.image_range = range,
		.image_layered = options->layered,
	};
	sycl_buffer made = NULL;
	result = buffer_make(platform->object.connection, &plan, &made);
	if (!result)
		*image_out = (void *)made;
	return result;
}

SYCL_API sycl_result sycl_image_retain(sycl_image image)
{
	return handle_retain(image, HANDLE_IMAGE);
}

SYCL_API sycl_result sycl_image_get_reference_count(sycl_image image, uint32_t *count_out)
{
	return handle_get_reference_count(image, HANDLE_IMAGE, count_out);
}

SYCL_API sycl_result sycl_image_release(sycl_image handle)
{
	PIN(image, image, handle);
	return buffer_end(&image->buffer, true, UINT64_MAX);
}

SYCL_API sycl_result sycl_image_release_for(sycl_image handle, uint64_t timeout_ns)
{
	PIN(image, image, handle);
	return buffer_end(&image->buffer, true, clock_deadline_ns(timeout_ns));
}

SYCL_API sycl_result sycl_image_get_format(sycl_image handle, sycl_image_format *format_out)
{
	PIN(image, image, handle);
	REQUIRE_OUTPUT(format_out);
	*format_out = (sycl_image_format)image->buffer.image_format;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_image_get_range(sycl_image handle, sycl_range *range_out)
{
	PIN(image, image, handle);
	REQUIRE_OUTPUT(range_out);
	*range_out = image->buffer.range;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_image_get_layers(sycl_image handle, uint32_t *layers_out)
{
	PIN(image, image, handle);
	REQUIRE_OUTPUT(layers_out);
	*layers_out = image->buffer.image_layered ? (uint32_t)image->buffer.range.size[0] : 0;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_image_get_size(sycl_image handle, uint64_t *size_bytes_out)
{
	PIN(image, image, handle);
	REQUIRE_OUTPUT(size_bytes_out);
	*size_bytes_out = image->buffer.size_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_image_set_write_back(sycl_image handle, uint32_t write_back)
{
	PIN(image, image, handle);
	if (write_back > 1)
		return error_set(SYCL_ERROR_INVALID, "write_back is 0 or 1");
	atomic_store_explicit(&image->buffer.write_back, write_back, memory_order_relaxed);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_image_set_final_data(sycl_image handle, void *final_data)
{
	PIN(image, image, handle);
	atomic_store_explicit(&image->buffer.final_data, final_data, memory_order_relaxed);
	atomic_store_explicit(&image->buffer.final_data_set, 1, memory_order_release);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_device_get_image_formats(sycl_device handle, uint32_t capacity,
						   uint32_t *formats_out, uint32_t *count_out)
{
	PIN(device, device, handle);
	uint32_t count = 0;
	if ((capacity > 0 && !formats_out) || (!formats_out && !count_out))
		return error_set(SYCL_ERROR_INVALID, "an output is missing");
	for (uint32_t format = 1; format <= IMAGE_FORMAT_COUNT; format++) {
		if (!(device->facts->image_formats & 1u << format))
			continue;
		if (count < capacity)
			formats_out[count] = format;
		count++;
	}
	if (count_out)
		*count_out = count;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_device_get_general_image_formats(sycl_device handle, uint32_t capacity,
							   sycl_image_format_entry *entries_out,
							   uint32_t *count_out)
{
	PIN(device, device, handle);
	if ((capacity > 0 && !entries_out) || (!entries_out && !count_out))
		return error_set(SYCL_ERROR_INVALID, "an output is missing");
	const Sycl__V1__DeviceFacts *facts = device->facts;
	for (uint32_t i = 0; i < facts->n_general_image_formats && i < capacity; i++)
		entries_out[i] = (sycl_image_format_entry){
			.format = IMAGE_ENTRY_FORMAT(facts->general_image_formats[i]),
			.kinds = IMAGE_ENTRY_KINDS(facts->general_image_formats[i])};
	if (count_out)
		*count_out = (uint32_t)facts->n_general_image_formats;
	return SYCL_SUCCESS;
}

static sycl_result check_format(const Sycl__V1__DeviceFacts *facts, uint32_t format,
				enum image_kind kind)
{
	bool has = format < IMAGE_FORMAT_GENERAL && kind < IMAGE_KIND_1D_VIEW &&
		   facts->image_formats & 1u << format;
	for (size_t i = 0; !has && i < facts->n_general_image_formats; i++)
		has = IMAGE_ENTRY_FORMAT(facts->general_image_formats[i]) == format &&
		      IMAGE_ENTRY_KINDS(facts->general_image_formats[i]) >> kind & 1;
	if (has)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			 "the device has no such images of the format %" PRIu32 ", %s", format,
			 image_format_find(format)->name);
}

sycl_result image_check_view(uint32_t format, uint32_t dimensions, const struct device *device)
{
	return check_format(device->facts, format,
			    dimensions == 2 ? IMAGE_KIND_2D_VIEW : IMAGE_KIND_1D_VIEW);
}

/* The largest size in dimension `d`, counted from the last dimension. */
static uint64_t image_size_most(const Sycl__V1__DeviceFacts *facts, const struct buffer *image,
				uint32_t d)
{
	uint32_t dimensions = image->range.dimensions;
	if (image->image_layered)
		return facts->image_layered_sizes[d + 1 == dimensions ? 2 : d];
	size_t at = d + (dimensions == 3 ? 2 : 0);
	return at < facts->n_image_sizes ? facts->image_sizes[at] : 0;
}

sycl_result image_check_device(const struct buffer *image, const struct device *device)
{
	const Sycl__V1__DeviceFacts *facts = device->facts;
	uint32_t dimensions = image->range.dimensions;
	enum image_kind kind = image->image_layered ? (dimensions == 2 ? IMAGE_KIND_1D_LAYERED
								       : IMAGE_KIND_2D_LAYERED)
						    : (enum image_kind)(dimensions - 1);
	sycl_result result = check_format(facts, image->image_format, kind);
	if (result)
		return result;
	if (image->image_layered && facts->n_image_layered_sizes < 3)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "the device has no layered images");
	for (uint32_t d = 0; d < dimensions; d++) {
		uint64_t size = image->range.size[dimensions - 1 - d];
		uint64_t limit = image_size_most(facts, image, d);
		if (size > limit)
			return error_set(SYCL_ERROR_INVALID,
					 "dimension %u: %" PRIu64
					 " pixels; the device takes %" PRIu64 " there",
					 dimensions - 1 - d, size, limit);
	}
	return SYCL_SUCCESS;
}
