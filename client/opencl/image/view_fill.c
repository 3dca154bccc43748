/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills of an image of a buffer. The device fills an image of the same format, so that the colour
 * is converted as it converts any. Its pixels are then copied as bytes.
 */
#include "image/image.h"

enum { WIDTH_MOST = 4096 }; /* of that image, whose rows follow each other in a row of the view */

struct view_fill {
	cl_command_queue queue;
	cl_mem view;
	sycl_image pixels;
	size_t width, rows; /* of `pixels` */
	sycl_event last;    /* what the next command depends on; NULL: nothing */
};

static sycl_result make_pixels(struct view_fill *fill, size_t count)
{
	struct sycl_image_options options = SYCL_IMAGE_OPTIONS_INIT;
	fill->width = count < WIDTH_MOST ? count : WIDTH_MOST;
	fill->rows = (count + fill->width - 1) / fill->width;
	options.kind = SYCL_HOST_NONE;
	options.format = fill->view->sycl_format;
	options.range = (sycl_range){2, 0, {fill->rows, fill->width, 1}};
	return sycl_image_create_with(fill->view->context->platform->sycl, &options, &fill->pixels);
}

/* Sends a command behind the last one, in whose place it then is. */
static cl_int send_next(struct view_fill *fill, struct command *command, sycl_result r)
{
	sycl_event event = NULL;
	if (r == SYCL_SUCCESS && fill->last)
		r = sycl_handler_depends_on(command->handler, fill->last);
	cl_int code = command_submit(command, r, false, &event);
	if (fill->last)
		(void)sycl_event_release(fill->last);
	fill->last = event;
	return code;
}

/* Copies a part of the pixels, which begins in the first column, to the buffer. */
static cl_int copy_pixels(struct view_fill *fill, size_t width, size_t rows, size_t offset)
{
	const size_t zero[3] = {0, 0, 0}, size[3] = {width, rows, 1};
	const struct sycl_image_region part = image_region_of(zero, NULL, size, NULL);
	struct command command;
	cl_int code = width == 0 || rows == 0 ? CL_SUCCESS
					      : command_begin(&command, fill->queue,
							      CL_COMMAND_FILL_IMAGE, 0, NULL, NULL);
	if (code != CL_SUCCESS || width == 0 || rows == 0)
		return code;
	return send_next(fill, &command,
			 sycl_handler_copy_image_to_buffer(command.handler, fill->pixels,
							   fill->view->sycl, offset, &part));
}

static cl_int fill_row(struct view_fill *fill, size_t offset, size_t count)
{
	const size_t whole = count / fill->width, rest = count % fill->width;
	cl_int code = copy_pixels(fill, fill->width, whole, offset);
	return code == CL_SUCCESS
		       ? copy_pixels(fill, rest, rest ? 1 : 0,
				     offset + whole * fill->width * fill->view->pixel_bytes)
		       : code;
}

static cl_int fill_rows(struct view_fill *fill, struct command *first, const void *colour,
			const size_t *origin, const size_t *region)
{
	const size_t zero[3] = {0, 0, 0}, size[3] = {fill->width, fill->rows, 1};
	const struct sycl_image_region all = image_region_of(NULL, zero, size, NULL);
	cl_int code = send_next(
		fill, first, sycl_handler_fill_image(first->handler, fill->pixels, colour, &all));
	for (size_t row = 0; row < region[1] && code == CL_SUCCESS; row++)
		code = fill_row(fill, image_offset(fill->view, origin[0], origin[1] + row, 0),
				region[0]);
	return code;
}

cl_int view_fill(cl_command_queue queue, cl_mem view, const void *colour, const size_t *origin,
		 const size_t *region, cl_uint count, const cl_event *events, cl_event *event_out)
{
	struct view_fill fill = {.queue = queue, .view = view};
	struct command command;
	if (!image_context_has(view->context, view->sycl_format, CL_MEM_OBJECT_IMAGE2D))
		return CL_INVALID_OPERATION;
	cl_int code = command_begin(&command, queue, CL_COMMAND_FILL_IMAGE, count, events, NULL);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = make_pixels(&fill, region[0]);
	if (r != SYCL_SUCCESS) {
		command_drop(&command);
		return r == SYCL_ERROR_QUOTA ? CL_MEM_OBJECT_ALLOCATION_FAILURE : code_of(r);
	}
	code = fill_rows(&fill, &command, colour, origin, region);
	if (code == CL_SUCCESS)
		code = command_begin(&command, queue, CL_COMMAND_FILL_IMAGE, 0, NULL, event_out);
	if (code == CL_SUCCESS) {
		r = fill.last ? sycl_handler_depends_on(command.handler, fill.last) : SYCL_SUCCESS;
		code = command_submit(&command, r, false, NULL);
	}
	if (fill.last)
		(void)sycl_event_release(fill.last);
	(void)sycl_image_release(fill.pixels);
	return code;
}
