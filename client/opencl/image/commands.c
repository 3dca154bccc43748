/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes, copies and fills of images. Those of an image of a buffer are the buffer's. */
#include "image/image.h"

#include <string.h>

size_t image_offset(cl_mem image, size_t column, size_t row, size_t slice)
{
	bool is_1d_array = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	return column * image->pixel_bytes +
	       row * (is_1d_array ? image->slice_pitch : image->row_pitch) +
	       slice * image->slice_pitch;
}

cl_int image_check(cl_command_queue queue, cl_mem handle)
{
	cl_mem image = FIND_MEMORY(handle);
	if (!image || !memory_is_image(image))
		return CL_INVALID_MEM_OBJECT;
	if (image->context != queue->context)
		return CL_INVALID_CONTEXT;
	if (!image_device_has_any(queue->device))
		return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

cl_int image_check_host(cl_command_queue queue, cl_mem handle, unsigned use)
{
	cl_int code = image_check(queue, handle);
	return code == CL_SUCCESS ? memory_check_host(handle, use) : code;
}

cl_int image_check_region(cl_mem image, const size_t *origin, const size_t *region)
{
	if (!origin || !region)
		return CL_INVALID_VALUE;
	for (int i = 0; i < 3; i++)
		if (region[i] == 0 || region[i] > image->extent[i] ||
		    origin[i] > image->extent[i] - region[i])
			return CL_INVALID_VALUE;
	return CL_SUCCESS;
}

/* The pitches of the program's memory. The layers of a 1D array are rows here, whose distance
 * OpenCL calls the slice pitch. */
bool image_read_pitches(cl_mem image, const size_t *region, size_t row, size_t slice,
			struct image_pitches *out)
{
	size_t width = region[0] * image->pixel_bytes, tight = 0;
	bool is_1d_array = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY,
	     has_slices = image->type == CL_MEM_OBJECT_IMAGE3D ||
			  image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	if (row == 0)
		row = width;
	if (row < width || __builtin_mul_overflow(row, is_1d_array ? 1 : region[1], &tight))
		return false;
	if (slice && !has_slices && !is_1d_array)
		return false;
	if (slice == 0)
		slice = tight;
	if (slice < tight)
		return false;
	out->row = is_1d_array ? slice : row;
	out->slice = is_1d_array ? slice * region[1] : slice;
	/* The library wants whole rows in a slice; with one slice the pitch has no meaning. */
	if (region[2] == 1)
		out->slice = 0;
	return true;
}

static size_t span_of(cl_mem image, const size_t *region, const struct image_pitches *pitches)
{
	return (region[2] - 1) * pitches->slice + (region[1] - 1) * pitches->row +
	       region[0] * image->pixel_bytes;
}

struct sycl_image_region image_region_of(const size_t *from, const size_t *to, const size_t *size,
					 const struct image_pitches *pitches)
{
	struct sycl_image_region region = SYCL_IMAGE_REGION_INIT;
	for (int i = 0; i < 3; i++) {
		region.source_origin[i] = from ? from[i] : 0;
		region.destination_origin[i] = to ? to[i] : 0;
		region.size[i] = size[i];
	}
	region.row_pitch_bytes = pitches ? pitches->row : 0;
	region.slice_pitch_bytes = pitches ? pitches->slice : 0;
	return region;
}

/* A part of a view as a box of its buffer's bytes, and the other end with these pitches. */
static struct sycl_copy_rect view_box(cl_mem view, const size_t *origin, const size_t *region,
				      const struct image_pitches *pitches, bool to_view)
{
	struct sycl_copy_rect box = SYCL_COPY_RECT_INIT;
	size_t offset = image_offset(view, origin[0], origin[1], 0);
	size_t tight = region[0] * view->pixel_bytes;
	box.width_bytes = tight;
	box.rows = region[1];
	box.slices = 1;
	box.source_offset_bytes = to_view ? 0 : offset;
	box.destination_offset_bytes = to_view ? offset : 0;
	box.source_row_pitch_bytes = to_view ? pitches->row : view->row_pitch;
	box.destination_row_pitch_bytes = to_view ? view->row_pitch : pitches->row;
	return box;
}

sycl_result image_read(sycl_handler handler, cl_mem image, const size_t *origin,
		       const size_t *region, const struct image_pitches *pitches, void *to)
{
	if (!image->image) {
		const struct sycl_copy_rect box = view_box(image, origin, region, pitches, false);
		return sycl_handler_copy_rect_to_host(handler, image->sycl, to, &box);
	}
	const struct sycl_image_region part = image_region_of(origin, NULL, region, pitches);
	return sycl_handler_copy_image_to_host(handler, image->image, to, &part);
}

sycl_result image_write(sycl_handler handler, cl_mem image, const size_t *origin,
			const size_t *region, const struct image_pitches *pitches, const void *from)
{
	if (!image->image) {
		const struct sycl_copy_rect box = view_box(image, origin, region, pitches, true);
		return sycl_handler_copy_rect_from_host(handler, from, image->sycl, &box);
	}
	const struct sycl_image_region part = image_region_of(NULL, origin, region, pitches);
	return sycl_handler_copy_image_from_host(handler, from, image->image, &part);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue_handle, cl_mem image,
						   cl_bool blocking, const size_t *origin,
						   const size_t *region, size_t row, size_t slice,
						   void *to, cl_uint count, const cl_event *events,
						   cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	struct image_pitches pitches;
	sycl_event read = NULL;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = image_check_host(queue, image, HOST_READS);
	if (code == CL_SUCCESS)
		code = image_check_region(image, origin, region);
	if (code == CL_SUCCESS && (!to || !image_read_pitches(image, region, row, slice, &pitches)))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_READ_IMAGE, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = image_read(command.handler, image, origin, region, &pitches, to);
	code = command_submit(&command, r, blocking, blocking ? NULL : &read);
	if (read)
		late_note_read(to, span_of(image, region, &pitches), read);
	return code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue_handle, cl_mem image,
						    cl_bool blocking, const size_t *origin,
						    const size_t *region, size_t row, size_t slice,
						    const void *from, cl_uint count,
						    const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	struct image_pitches pitches;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = image_check_host(queue, image, HOST_WRITES);
	if (code == CL_SUCCESS)
		code = image_check_region(image, origin, region);
	if (code == CL_SUCCESS &&
	    (!from || !image_read_pitches(image, region, row, slice, &pitches)))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_WRITE_IMAGE, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	bool is_late = late_is_needed(from, span_of(image, region, &pitches));
	sycl_result r = image_write(command.handler, image, origin, region, &pitches, from);
	if (r == SYCL_SUCCESS && is_late)
		r = sycl_handler_read_late(command.handler);
	return command_submit(&command, r, blocking && (is_late || count > 0 || event_out), NULL);
}

static bool is_same_format(const cl_image_format *a, const cl_image_format *b)
{
	return a->image_channel_order == b->image_channel_order &&
	       a->image_channel_data_type == b->image_channel_data_type;
}

static bool regions_overlap(const size_t *from, const size_t *to, const size_t *region)
{
	for (int i = 0; i < 3; i++)
		if (from[i] >= to[i] + region[i] || to[i] >= from[i] + region[i])
			return false;
	return true;
}

static const struct image_pitches no_pitches = {0, 0};

/* Between an image and tightly packed bytes of a buffer, either of which may be a view. */
static sycl_result copy_with_bytes(sycl_handler handler, cl_mem image, const size_t *origin,
				   const size_t *region, sycl_buffer bytes, size_t offset,
				   bool to_image)
{
	if (!image->image) {
		struct sycl_copy_rect box = view_box(image, origin, region, &no_pitches, to_image);
		if (to_image) {
			box.source_offset_bytes = offset;
			return sycl_handler_copy_rect(handler, bytes, image->sycl, &box);
		}
		box.destination_offset_bytes = offset;
		return sycl_handler_copy_rect(handler, image->sycl, bytes, &box);
	}
	const struct sycl_image_region part =
		image_region_of(to_image ? NULL : origin, to_image ? origin : NULL, region, NULL);
	return to_image ? sycl_handler_copy_buffer_to_image(handler, bytes, offset, image->image,
							    &part)
			: sycl_handler_copy_image_to_buffer(handler, image->image, bytes, offset,
							    &part);
}

/* A view is tightly packed for one row. */
static sycl_result copy_images(sycl_handler handler, cl_mem from, cl_mem to,
			       const size_t *from_origin, const size_t *to_origin,
			       const size_t *region)
{
	if (from->image && to->image) {
		const struct sycl_image_region part =
			image_region_of(from_origin, to_origin, region, NULL);
		return sycl_handler_copy_image_region(handler, from->image, to->image, &part);
	}
	if (!to->image)
		return region[1] > 1 && to->row_pitch != region[0] * to->pixel_bytes && from->image
			       ? SYCL_ERROR_FEATURE_NOT_SUPPORTED
			       : copy_with_bytes(handler, from, from_origin, region, to->sycl,
						 image_offset(to, to_origin[0], to_origin[1], 0),
						 false);
	return region[1] > 1 && from->row_pitch != region[0] * from->pixel_bytes
		       ? SYCL_ERROR_FEATURE_NOT_SUPPORTED
		       : copy_with_bytes(handler, to, to_origin, region, from->sycl,
					 image_offset(from, from_origin[0], from_origin[1], 0),
					 true);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue_handle, cl_mem from,
						   cl_mem to, const size_t *from_origin,
						   const size_t *to_origin, const size_t *region,
						   cl_uint count, const cl_event *events,
						   cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = image_check(queue, from);
	if (code == CL_SUCCESS)
		code = image_check(queue, to);
	if (code == CL_SUCCESS && !is_same_format(&from->format, &to->format))
		code = CL_IMAGE_FORMAT_MISMATCH;
	if (code == CL_SUCCESS)
		code = image_check_region(from, from_origin, region);
	if (code == CL_SUCCESS)
		code = image_check_region(to, to_origin, region);
	if (code == CL_SUCCESS && from == to && regions_overlap(from_origin, to_origin, region))
		code = CL_MEM_COPY_OVERLAP;
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_COPY_IMAGE, count, events,
				     event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = copy_images(command.handler, from, to, from_origin, to_origin, region);
	return command_submit(&command, r, false, NULL);
}

static cl_int copy_bytes(cl_command_queue queue_handle, cl_mem image, cl_mem buffer,
			 const size_t *origin, const size_t *region, size_t offset, bool to_image,
			 cl_uint count, const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = to_image ? buffer_check(queue, buffer) : image_check(queue, image);
	if (code == CL_SUCCESS)
		code = to_image ? image_check(queue, image) : buffer_check(queue, buffer);
	if (code == CL_SUCCESS)
		code = image_check_region(image, origin, region);
	if (code == CL_SUCCESS &&
	    !is_inside(offset, region[0] * region[1] * region[2] * image->pixel_bytes,
		       buffer->bytes))
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue,
				     to_image ? CL_COMMAND_COPY_BUFFER_TO_IMAGE
					      : CL_COMMAND_COPY_IMAGE_TO_BUFFER,
				     count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = copy_with_bytes(command.handler, image, origin, region, buffer->sycl,
					offset, to_image);
	return command_submit(&command, r, false, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from,
							   cl_mem to, const size_t *origin,
							   const size_t *region, size_t offset,
							   cl_uint count, const cl_event *events,
							   cl_event *event_out)
{
	return copy_bytes(queue, from, to, origin, region, offset, false, count, events, event_out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(
	cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin,
	const size_t *region, cl_uint count, const cl_event *events, cl_event *event_out)
{
	return copy_bytes(queue, to, from, origin, region, offset, true, count, events, event_out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue_handle, cl_mem image,
						   const void *colour, const size_t *origin,
						   const size_t *region, cl_uint count,
						   const cl_event *events, cl_event *event_out)
{
	cl_command_queue queue = FIND_QUEUE(queue_handle);
	struct command command;
	char pixel[16] = {0};
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	cl_int code = image_check(queue, image);
	if (code == CL_SUCCESS && !colour)
		code = CL_INVALID_VALUE;
	if (code == CL_SUCCESS)
		code = image_check_region(image, origin, region);
	if (code != CL_SUCCESS)
		return code;
	/* A depth is one number. */
	memcpy(pixel, colour, image->format.image_channel_order == CL_DEPTH ? 4 : sizeof(pixel));
	if (!image->image)
		return view_fill(queue, image, pixel, origin, region, count, events, event_out);
	code = command_begin(&command, queue, CL_COMMAND_FILL_IMAGE, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	const struct sycl_image_region part = image_region_of(NULL, origin, region, NULL);
	sycl_result r = sycl_handler_fill_image(command.handler, image->image, pixel, &part);
	return command_submit(&command, r, false, NULL);
}
