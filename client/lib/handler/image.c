/* Images and samplers in command groups. */
#include "handler/image.h"

#include "access_mode.h"
#include "image_format.h"

#include <stddef.h>
#include <string.h>

static sycl_result set_image(struct handler *handler, uint32_t index, struct buffer *image,
			     uint32_t mode, struct handler_argument argument)
{
	if (index >= KERNEL_ARGUMENTS_MAX)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: a kernel has at most %u arguments", index,
				 KERNEL_ARGUMENTS_MAX);
	sycl_result result = image_check_device(image, handler->queue->device);
	if (!result)
		result = handler_add_requirement(handler, image, mode, 0, image->size_bytes,
						 &argument.requirement);
	argument.kind = HANDLER_ARGUMENT_IMAGE;
	return result ? result : handler_set_argument(handler, index, argument);
}

SYCL_API sycl_result sycl_handler_set_image(sycl_handler handle, uint32_t index,
					    sycl_image image_handle, sycl_access_mode mode)
{
	PIN(handler, handler, handle);
	PIN(image, image, image_handle);
	if (mode != SYCL_ACCESS_READ && mode != SYCL_ACCESS_WRITE &&
	    mode != SYCL_ACCESS_WRITE_NO_INIT &&
	    (mode != SYCL_ACCESS_READ_WRITE ||
	     handler->queue->device->facts->max_read_write_image_args == 0))
		return error_set(SYCL_ERROR_INVALID,
				 "mode %d: a kernel reads an image or writes it, not both",
				 (int)mode);
	return set_image(handler, index, &image->buffer, (uint32_t)mode,
			 (struct handler_argument){.size_bytes = 0});
}

static sycl_result view_check(const struct buffer *buffer, const struct sycl_image_view *view,
			      struct handler_view *view_out)
{
	if (!view || view->struct_bytes != sizeof(*view) ||
	    !image_format_find((uint32_t)view->format))
		return error_set(SYCL_ERROR_INVALID,
				 "view: NULL, or struct_bytes or format is wrong; start from "
				 "SYCL_IMAGE_VIEW_INIT");
	uint32_t pixel = image_pixel_bytes((uint32_t)view->format);
	uint64_t row = 0, end = 0, rows = view->rows ? view->rows : 1;
	bool fits = view->width > 0 && !__builtin_mul_overflow(view->width, pixel, &row);
	uint64_t pitch = view->row_pitch_bytes ? view->row_pitch_bytes : row;
	if (!fits || pitch < row || pitch % pixel != 0 ||
	    __builtin_mul_overflow(rows - 1, pitch, &end) ||
	    __builtin_add_overflow(end, row, &end) ||
	    __builtin_add_overflow(end, view->offset_bytes, &end) || end > buffer->size_bytes)
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"the view is empty, its pitch is too small or no multiple "
					"of a pixel, or it lies outside of the buffer");
	*view_out = (struct handler_view){.format = (uint32_t)view->format,
					  .dimensions = view->rows ? 2 : 1,
					  .offset_bytes = view->offset_bytes,
					  .row_pitch = pitch};
	view_out->size[0] = view->rows ? view->rows : view->width;
	view_out->size[1] = view->rows ? view->width : 0;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_image_view(sycl_handler handle, uint32_t index,
						 sycl_buffer buffer_handle, sycl_access_mode mode,
						 const struct sycl_image_view *view)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	struct handler_view made;
	struct handler_argument argument = {.kind = HANDLER_ARGUMENT_IMAGE};
	if (mode != SYCL_ACCESS_READ && mode != SYCL_ACCESS_WRITE && mode != SYCL_ACCESS_READ_WRITE)
		return error_set(SYCL_ERROR_INVALID, "mode %d: a view is read, written, or both",
				 (int)mode);
	sycl_result result = view_check(buffer, view, &made);
	if (!result)
		result = image_check_view(made.format, made.dimensions, handler->queue->device);
	if (!result)
		result = handler_list_room(&handler->values, handler->inline_values, 1,
					   sizeof(made));
	if (!result)
		result = handler_add_requirement(handler, buffer, (uint32_t)mode, 0,
						 buffer->size_bytes, &argument.requirement);
	if (result)
		return result;
	argument.view_end = handler->values.count + (uint32_t)sizeof(made);
	result = handler_set_argument(handler, index, argument);
	if (result)
		return result;
	memcpy((uint8_t *)handler->values.items + handler->values.count, &made, sizeof(made));
	handler->values.count = argument.view_end;
	return SYCL_SUCCESS;
}

static void view_of(const struct handler *handler, const struct handler_argument *argument,
		    struct handler_view *view_out)
{
	memcpy(view_out,
	       (const uint8_t *)handler->values.items + argument->view_end - sizeof(*view_out),
	       sizeof(*view_out));
}

void handler_put_view(const struct handler *handler, const struct handler_argument *from,
		      Sycl__V1__ImageArgument *image, struct view_message *message)
{
	const struct buffer *buffer = handler_requirement_at(handler, from->requirement)->buffer;
	struct handler_view made;
	view_of(handler, from, &made);
	sycl__v1__image_view__init(&message->view);
	memcpy(message->size, made.size, sizeof(message->size));
	message->view.format = made.format;
	message->view.n_size = made.dimensions;
	message->view.size = message->size;
	message->view.offset_bytes = made.offset_bytes + (buffer->root ? buffer->origin_bytes : 0);
	message->view.row_pitch = made.row_pitch;
	image->view = &message->view;
}

static struct handler_argument argument_with_sampler(const struct image_sampler *sampler)
{
	return (struct handler_argument){
		.has_sampler = true,
		.addressing = (uint8_t)sampler->addressing,
		.normalised = sampler->normalised,
		.linear = sampler->linear,
	};
}

SYCL_API sycl_result sycl_handler_set_sampled_image(sycl_handler handle, uint32_t index,
						    sycl_image image_handle,
						    const sycl_sampler *sampler)
{
	PIN(handler, handler, handle);
	PIN(image, image, image_handle);
	struct image_sampler meant;
	sycl_result result = sampler_check(sampler, &meant);
	if (!result)
		result = image_check_filter(&image->buffer, &meant);
	return result ? result
		      : set_image(handler, index, &image->buffer, ACCESS_MODE_READ,
				  argument_with_sampler(&meant));
}

SYCL_API sycl_result sycl_handler_set_sampler(sycl_handler handle, uint32_t index,
					      const sycl_sampler *sampler)
{
	PIN(handler, handler, handle);
	struct image_sampler meant;
	sycl_result result = sampler_check(sampler, &meant);
	if (result)
		return result;
	struct handler_argument argument = argument_with_sampler(&meant);
	argument.kind = HANDLER_ARGUMENT_SAMPLER;
	return handler_set_argument(handler, index, argument);
}

SYCL_API sycl_result sycl_handler_copy_image(sycl_handler handle, sycl_image source_handle,
					     sycl_image destination_handle)
{
	PIN(handler, handler, handle);
	PIN(image, source, source_handle);
	PIN(image, destination, destination_handle);
	struct buffer *from = &source->buffer, *to = &destination->buffer;
	sycl_result result = handler_check_no_action(handler);
	if (!result && (from == to || from->image_format != to->image_format ||
			from->image_layered != to->image_layered ||
			memcmp(&from->range, &to->range, sizeof(from->range)) != 0))
		result =
			error_set(SYCL_ERROR_INVALID,
				  "an image is copied to another one of the same format and range");
	if (!result && from->object.connection != to->object.connection)
		result = error_set(SYCL_ERROR_INVALID,
				   "the two images belong to different connections");
	if (!result)
		result = image_check_device(from, handler->queue->device);
	if (!result)
		result = handler_add_requirement(handler, from, ACCESS_MODE_READ, 0,
						 from->size_bytes, &handler->source);
	if (!result)
		result = handler_add_requirement(handler, to, ACCESS_MODE_WRITE_NO_INIT, 0,
						 to->size_bytes, &handler->destination);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_COPY;
	handler->is_empty = false;
	handler->box = (struct copy_box){.width_bytes = from->size_bytes, .rows = 1, .slices = 1};
	handler->box.source = handler->box.destination = copy_box_tight(&handler->box);
	handler->source_offset_bytes = handler->destination_offset_bytes = 0;
	return SYCL_SUCCESS;
}

/* A kernel in PTX or CUDA C++ takes the image as a word, which only the service can make. */
bool handler_image_fits(const struct handler_argument *given, const struct kernel_argument *wanted)
{
	return given->kind == HANDLER_ARGUMENT_IMAGE &&
	       wanted->kind == SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_VALUE &&
	       wanted->size_bytes == sizeof(uint64_t);
}

sycl_result handler_check_image(const struct handler *handler, uint32_t index)
{
	const struct handler_argument *given = handler_argument_at(handler, index);
	bool is_image = given->kind == HANDLER_ARGUMENT_IMAGE;
	if (!is_image)
		return SYCL_SUCCESS;
	const struct handler_requirement *requirement =
		handler_requirement_at(handler, given->requirement);
	if (given->has_sampler && access_mode_writes(requirement->mode))
		return error_set(SYCL_ERROR_INVALID,
				 "argument %u: the group writes the image that it samples", index);
	/* The group may be submitted to another queue than the one it was begun on. */
	if (given->view_end) {
		struct handler_view view;
		view_of(handler, given, &view);
		return image_check_view(view.format, view.dimensions, handler->queue->device);
	}
	return image_check_device(requirement->buffer, handler->queue->device);
}

void handler_put_image(const struct handler_argument *from, Sycl__V1__Argument *to,
		       Sycl__V1__ImageArgument *image, Sycl__V1__SamplerArgument *sampler)
{
	if (from->kind == HANDLER_ARGUMENT_IMAGE) {
		sycl__v1__image_argument__init(image);
		image->requirement = from->requirement;
		image->sampled = from->has_sampler;
		to->value_case = SYCL__V1__ARGUMENT__VALUE_IMAGE;
		to->image = image;
	} else {
		to->value_case = SYCL__V1__ARGUMENT__VALUE_IS_SAMPLER;
		to->is_sampler = true;
	}
	if (!from->has_sampler)
		return;
	sycl__v1__sampler_argument__init(sampler);
	sampler->addressing = from->addressing;
	sampler->normalised = from->normalised;
	sampler->linear = from->linear;
	to->sampler = sampler;
}
