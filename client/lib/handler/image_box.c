/* Parts of images: copied between images, buffers and the program's memory, and filled. */
#include "handler/image.h"

#include "access_mode.h"
#include "image_format.h"
#include "image_pixel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct sycl_image_region no_region = SYCL_IMAGE_REGION_INIT;

static sycl_result region_check(const struct sycl_image_region *region)
{
	if (!region || region->struct_bytes != no_region.struct_bytes || region->reserved != 0)
		return error_set(SYCL_ERROR_INVALID,
				 "region: NULL, or struct_bytes or reserved is wrong; start from "
				 "SYCL_IMAGE_REGION_INIT");
	return SYCL_SUCCESS;
}

/* Columns, rows, slices or layers; 1 where the image has none. */
static void image_extent_of(const struct buffer *image, uint64_t extent_out[3])
{
	uint32_t dimensions = image->range.dimensions;
	for (uint32_t i = 0; i < 3; i++)
		extent_out[i] = i < dimensions ? image->range.size[dimensions - 1 - i] : 1;
}

static sycl_result region_check_image(const struct buffer *image, const uint64_t origin[3],
				      const uint64_t size[3])
{
	uint64_t extent[3];
	image_extent_of(image, extent);
	for (uint32_t i = 0; i < 3; i++)
		if (size[i] == 0 || size[i] > extent[i] || origin[i] > extent[i] - size[i])
			return error_set_object(SYCL_ERROR_INVALID, image->remote.id,
						"dimension %u: %" PRIu64 " pixels from %" PRIu64
						" lie outside of an image of %" PRIu64,
						i, size[i], origin[i], extent[i]);
	return SYCL_SUCCESS;
}

/* The part as bytes of the image's tightly packed pixels. */
static void region_in_image(const struct buffer *image, const uint64_t origin[3],
			    struct box_pitch *pitch_out, uint64_t *offset_out)
{
	const uint32_t pixel = image_pixel_bytes(image->image_format);
	uint64_t extent[3];
	image_extent_of(image, extent);
	pitch_out->row_bytes = extent[0] * pixel;
	pitch_out->slice_bytes = extent[1] * pitch_out->row_bytes;
	*offset_out = origin[2] * pitch_out->slice_bytes + origin[1] * pitch_out->row_bytes +
		      origin[0] * pixel;
}

static struct copy_box region_box(const struct buffer *image, const uint64_t size[3])
{
	struct copy_box box = {.width_bytes = size[0] * image_pixel_bytes(image->image_format),
			       .rows = size[1],
			       .slices = size[2]};
	box.source = box.destination = copy_box_tight(&box);
	return box;
}

/* The pitches of the program's memory. */
static sycl_result region_host_pitch(const struct sycl_image_region *region,
				     const struct copy_box *box, struct box_pitch *pitch_out)
{
	uint64_t span = 0;
	*pitch_out = copy_box_tight(box);
	if (region->row_pitch_bytes) {
		pitch_out->row_bytes = region->row_pitch_bytes;
		if (__builtin_mul_overflow(region->row_pitch_bytes, box->rows,
					   &pitch_out->slice_bytes))
			pitch_out->slice_bytes = 0;
	}
	if (region->slice_pitch_bytes)
		pitch_out->slice_bytes = region->slice_pitch_bytes;
	if (!copy_box_span(box, pitch_out, &span))
		return error_set(SYCL_ERROR_INVALID,
				 "rows or slices of the region overlap, or exceed 64 bits");
	return SYCL_SUCCESS;
}

static uint32_t region_write_mode(const struct buffer *image, const uint64_t size[3])
{
	uint64_t extent[3];
	image_extent_of(image, extent);
	return memcmp(extent, size, sizeof(extent)) == 0 ? ACCESS_MODE_WRITE_NO_INIT
							 : ACCESS_MODE_WRITE;
}

static sycl_result require_image(struct handler *handler, struct buffer *image, uint32_t mode,
				 sycl_target target, uint32_t *index_out)
{
	const struct handler_demand demand = {
		.buffer = image, .mode = mode, .target = target, .size_bytes = image->size_bytes};
	return handler_require(handler, &demand, index_out);
}

static sycl_result begin_region(struct handler *handler, const struct sycl_image_region *region)
{
	sycl_result result = region_check(region);
	return result ? result : handler_check_no_action(handler);
}

static void set_region(struct handler *handler, const struct sycl_image_region *region,
		       const struct copy_box *box, bool has_source, bool has_destination)
{
	handler->action = HANDLER_ACTION_COPY;
	handler->is_empty = false;
	handler->box = *box;
	handler->image_part = true;
	handler->image_is_source = has_source;
	handler->image_is_destination = has_destination;
	memcpy(handler->image_size, region->size, sizeof(handler->image_size));
	memcpy(handler->image_source_origin, region->source_origin,
	       sizeof(handler->image_source_origin));
	memcpy(handler->image_destination_origin, region->destination_origin,
	       sizeof(handler->image_destination_origin));
}

static bool regions_overlap(const struct sycl_image_region *region)
{
	for (uint32_t i = 0; i < 3; i++)
		if (region->source_origin[i] >= region->destination_origin[i] + region->size[i] ||
		    region->destination_origin[i] >= region->source_origin[i] + region->size[i])
			return false;
	return true;
}

static sycl_result check_two_images(const struct handler *handler, const struct buffer *from,
				    const struct buffer *to, const struct sycl_image_region *region)
{
	sycl_result result = region_check_image(from, region->source_origin, region->size);
	if (!result)
		result = region_check_image(to, region->destination_origin, region->size);
	if (!result && from->image_format != to->image_format)
		result = error_set(SYCL_ERROR_INVALID, "the images have different formats");
	if (!result && from == to && regions_overlap(region))
		result = error_set(SYCL_ERROR_INVALID, "the two parts of the image overlap");
	if (!result && (region->row_pitch_bytes || region->slice_pitch_bytes))
		result = error_set(SYCL_ERROR_INVALID, "only the program's memory has pitches");
	if (!result)
		result = image_check_device(from, handler->queue->device);
	return result ? result : image_check_device(to, handler->queue->device);
}

SYCL_API sycl_result sycl_handler_copy_image_region(sycl_handler handle, sycl_image source_handle,
						    sycl_image destination_handle,
						    const struct sycl_image_region *region)
{
	PIN(handler, handler, handle);
	PIN(image, source, source_handle);
	PIN(image, destination, destination_handle);
	struct buffer *from = &source->buffer, *to = &destination->buffer;
	sycl_result result = begin_region(handler, region);
	if (!result)
		result = check_two_images(handler, from, to, region);
	if (!result)
		result = require_image(handler, from, ACCESS_MODE_READ, SYCL_TARGET_DEVICE,
				       &handler->source);
	if (!result)
		result = require_image(handler, to, region_write_mode(to, region->size),
				       SYCL_TARGET_DEVICE, &handler->destination);
	if (result)
		return result;
	const struct copy_box box = region_box(from, region->size);
	set_region(handler, region, &box, true, true);
	handler->source_offset_bytes = handler->destination_offset_bytes = 0;
	return SYCL_SUCCESS;
}

/* An image and a buffer, in either direction. */
static sycl_result copy_with_buffer(struct handler *handler, struct buffer *image,
				    struct buffer *buffer, uint64_t offset_bytes, bool to_image,
				    const struct sycl_image_region *region)
{
	const uint64_t *origin = to_image ? region->destination_origin : region->source_origin;
	sycl_result result = region_check_image(image, origin, region->size);
	if (!result && (region->row_pitch_bytes || region->slice_pitch_bytes))
		result = error_set(SYCL_ERROR_INVALID,
				   "between an image and a buffer pixels are tightly packed");
	if (!result)
		result = image_check_device(image, handler->queue->device);
	if (result)
		return result;
	const struct copy_box box = region_box(image, region->size);
	uint64_t bytes = box.width_bytes * box.rows * box.slices;
	const uint32_t image_mode =
		to_image ? region_write_mode(image, region->size) : ACCESS_MODE_READ;
	const struct handler_demand demand = {.buffer = buffer,
					      .mode = to_image ? ACCESS_MODE_READ
							       : ACCESS_MODE_WRITE_NO_INIT,
					      .target = SYCL_TARGET_DEVICE,
					      .offset_bytes = offset_bytes,
					      .size_bytes = bytes};
	uint32_t image_index = 0, buffer_index = 0;
	result = handler_require(handler, &demand, &buffer_index);
	if (!result)
		result =
			require_image(handler, image, image_mode, SYCL_TARGET_DEVICE, &image_index);
	if (result)
		return result;
	set_region(handler, region, &box, !to_image, to_image);
	handler->source = to_image ? buffer_index : image_index;
	handler->destination = to_image ? image_index : buffer_index;
	handler->source_offset_bytes = to_image ? offset_bytes : 0;
	handler->destination_offset_bytes = to_image ? 0 : offset_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_copy_image_to_buffer(sycl_handler handle, sycl_image image_handle,
						       sycl_buffer buffer_handle,
						       uint64_t offset_bytes,
						       const struct sycl_image_region *region)
{
	PIN(handler, handler, handle);
	PIN(image, image, image_handle);
	PIN(buffer, buffer, buffer_handle);
	sycl_result result = begin_region(handler, region);
	return result ? result
		      : copy_with_buffer(handler, &image->buffer, buffer, offset_bytes, false,
					 region);
}

SYCL_API sycl_result sycl_handler_copy_buffer_to_image(sycl_handler handle,
						       sycl_buffer buffer_handle,
						       uint64_t offset_bytes,
						       sycl_image image_handle,
						       const struct sycl_image_region *region)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	PIN(image, image, image_handle);
	sycl_result result = begin_region(handler, region);
	return result ? result
		      : copy_with_buffer(handler, &image->buffer, buffer, offset_bytes, true,
					 region);
}

SYCL_API sycl_result sycl_handler_copy_image_from_host(sycl_handler handle, const void *source,
						       sycl_image image_handle,
						       const struct sycl_image_region *region)
{
	PIN(handler, handler, handle);
	PIN(image, pinned, image_handle);
	struct buffer *image = &pinned->buffer;
	sycl_result result = begin_region(handler, region);
	if (!result && !source)
		result = error_set(SYCL_ERROR_INVALID, "the source is NULL");
	if (!result)
		result = region_check_image(image, region->destination_origin, region->size);
	if (!result)
		result = image_check_device(image, handler->queue->device);
	if (result)
		return result;
	struct copy_box box = region_box(image, region->size);
	result = region_host_pitch(region, &box, &box.source);
	if (!result)
		result = require_image(handler, image, region_write_mode(image, region->size),
				       SYCL_TARGET_DEVICE, &handler->destination);
	if (result)
		return result;
	/* The destination's pitches and offset are for a host task of a graph, which writes to the
	 * image's shared memory. */
	region_in_image(image, region->destination_origin, &box.destination,
			&handler->destination_offset_bytes);
	set_region(handler, region, &box, false, true);
	handler->source_offset_bytes = 0;
	handler->host_source = source;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_copy_image_to_host(sycl_handler handle, sycl_image image_handle,
						     void *destination,
						     const struct sycl_image_region *region)
{
	PIN(handler, handler, handle);
	PIN(image, pinned, image_handle);
	struct buffer *image = &pinned->buffer;
	uint64_t offset = 0;
	uint32_t index = 0;
	sycl_result result = begin_region(handler, region);
	if (!result && !destination)
		result = error_set(SYCL_ERROR_INVALID, "the destination is NULL");
	if (!result)
		result = region_check_image(image, region->source_origin, region->size);
	if (result)
		return result;
	struct copy_box box = region_box(image, region->size);
	result = region_host_pitch(region, &box, &box.destination);
	if (!result)
		result = require_image(handler, image, ACCESS_MODE_READ, SYCL_TARGET_HOST_TASK,
				       &index);
	if (result)
		return result;
	region_in_image(image, region->source_origin, &box.source, &offset);
	return handler_set_copy_out(handler, (const uint8_t *)image->address + offset, destination,
				    &box);
}

/* A fill by a host task, for SYCL's formats: not every driver fills images. */
struct image_fill {
	struct copy_box box;
	uint8_t *first, pixel[IMAGE_PIXEL_BYTES_MAX];
	uint32_t pixel_bytes;
};

static sycl_result image_fill_run(sycl_host_task task, void *user_data)
{
	const struct image_fill *fill = user_data;
	const struct copy_box *box = &fill->box;
	(void)task;
	for (uint64_t slice = 0; slice < box->slices; slice++)
		for (uint64_t row = 0; row < box->rows; row++)
			for (uint64_t at = 0; at < box->width_bytes; at += fill->pixel_bytes)
				memcpy(fill->first + slice * box->destination.slice_bytes +
					       row * box->destination.row_bytes + at,
				       fill->pixel, fill->pixel_bytes);
	return SYCL_SUCCESS;
}

static sycl_result fill_as_task(struct handler *handler, struct buffer *image, const void *pixel,
				const struct sycl_image_region *region)
{
	const uint32_t format = image->image_format;
	uint64_t offset = 0;
	uint32_t index = 0;
	struct image_fill *fill = calloc(1, sizeof(*fill));
	if (!fill)
		return error_no_memory();
	if (image_format_is_float(format))
		(void)image_pixel_write_float(format, fill->pixel, pixel);
	else if (image_format_find(format)->channel == IMAGE_CHANNEL_SINT)
		(void)image_pixel_write_int(format, fill->pixel, pixel);
	else
		(void)image_pixel_write_uint(format, fill->pixel, pixel);
	fill->pixel_bytes = image_pixel_bytes(format);
	fill->box = region_box(image, region->size);
	region_in_image(image, region->destination_origin, &fill->box.destination, &offset);
	fill->first = (uint8_t *)image->address + offset;
	sycl_result result = require_image(handler, image, region_write_mode(image, region->size),
					   SYCL_TARGET_HOST_TASK, &index);
	if (result) {
		free(fill);
		return result;
	}
	handler->action = HANDLER_ACTION_HOST_TASK;
	handler->host_function = image_fill_run;
	handler->user_data = fill;
	handler->destroy_user_data = free;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_fill_image(sycl_handler handle, sycl_image image_handle,
					     const void *pixel,
					     const struct sycl_image_region *region)
{
	PIN(handler, handler, handle);
	PIN(image, pinned, image_handle);
	struct buffer *image = &pinned->buffer;
	uint32_t index = 0;
	sycl_result result = begin_region(handler, region);
	if (!result && !pixel)
		result = error_set(SYCL_ERROR_INVALID, "the pixel is NULL");
	if (!result)
		result = region_check_image(image, region->destination_origin, region->size);
	if (!result && image->image_format < IMAGE_FORMAT_GENERAL)
		return fill_as_task(handler, image, pixel, region);
	if (!result)
		result = image_check_device(image, handler->queue->device);
	if (!result)
		result = require_image(handler, image, region_write_mode(image, region->size),
				       SYCL_TARGET_DEVICE, &index);
	if (result)
		return result;
	const struct copy_box box = region_box(image, region->size);
	set_region(handler, region, &box, false, true);
	handler->action = HANDLER_ACTION_FILL;
	handler->destination = index;
	handler->destination_offset_bytes = 0;
	handler->size_bytes = 0;
	memcpy(handler->pattern, pixel, 16);
	handler->pattern_bytes = 16;
	return SYCL_SUCCESS;
}
