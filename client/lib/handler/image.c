/* Images and samplers in command groups. */
#include "handler/image.h"

#include "access_mode.h"

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
	    mode != SYCL_ACCESS_WRITE_NO_INIT)
		return error_set(SYCL_ERROR_INVALID,
				 "mode %d: a kernel reads an image or writes it, not both",
				 (int)mode);
	return set_image(handler, index, &image->buffer, (uint32_t)mode,
			 (struct handler_argument){.size_bytes = 0});
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
