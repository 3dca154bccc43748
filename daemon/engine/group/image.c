/* Images in command groups: as requirements, as arguments of kernels, and copied (C20, E14, G4,
 * G5). */
#include "access_mode.h"
#include "image_format.h"
#include "image_sample.h"
#include "group/check.h"
#include "session/session.h"

#include <inttypes.h>
#include <string.h>

int group_check_image_whole(const struct buffer *buffer, const struct task_requirement *requirement,
			    struct backend_fault *fault)
{
	if (buffer->image.dimensions == 0 ||
	    (requirement->order_size_bytes == 0 && requirement->offset_bytes == 0 &&
	     requirement->size_bytes == buffer->size_bytes))
		return 0;
	return fault_set(fault, STATUS_ACCESSOR, "an image is used as a whole, not in parts");
}

int group_check_no_image(const struct buffer *buffer, struct backend_fault *fault)
{
	if (buffer->image.dimensions == 0)
		return 0;
	return fault_set(fault, STATUS_INVALID,
			 "an image's storage is opaque: this is for buffers");
}

/* The largest size of the device in dimension `d`. Sizes are counted from the last dimension, the
 * width. */
static uint64_t group_image_size_limit(const struct backend_device_facts *facts,
				       const struct backend_image *image, uint32_t d)
{
	const uint64_t *sizes = facts->image_sizes + (image->dimensions == 3 ? 2 : 0);
	if (image->is_layered)
		return facts->image_layered_sizes[d + 1 == image->dimensions ? 2 : d];
	return sizes[d];
}

/* True if the device has images of this kind and format. */
static bool device_has_format(const struct backend_device_facts *facts, uint32_t format,
			      enum image_kind kind)
{
	if (format < IMAGE_FORMAT_GENERAL)
		return kind < IMAGE_KIND_1D_VIEW && facts->image_formats & 1u << format;
	for (uint32_t i = 0; i < facts->general_image_format_count; i++) {
		uint32_t entry = facts->general_image_formats[i];
		if (IMAGE_ENTRY_FORMAT(entry) == format)
			return IMAGE_ENTRY_KINDS(entry) >> kind & 1;
	}
	return false;
}

static int check_format(const struct backend_device_facts *facts, const struct backend_image *image,
			enum image_kind kind, struct backend_fault *fault)
{
	if (!(facts->features & BACKEND_FEATURE_IMAGE) ||
	    !device_has_format(facts, image->format, kind))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device %s has no such images of the format %u, %s",
				 facts->name, image->format,
				 image_format_find(image->format)->name);
	return 0;
}

int group_check_view_device(const struct queue *queue, const struct backend_image *image,
			    struct backend_fault *fault)
{
	const struct backend_device_facts *facts = queue->facts;
	bool is_2d = image->dimensions == 2;
	int r = check_format(facts, image, is_2d ? IMAGE_KIND_2D_VIEW : IMAGE_KIND_1D_VIEW, fault);
	uint64_t width = image->size[image->dimensions - 1];
	if (r == 0 && (width > (is_2d ? facts->image_sizes[0] : facts->image_sizes[5]) ||
		       (is_2d && image->size[0] > facts->image_sizes[1])))
		r = fault_set(fault, STATUS_INVALID, "the view is larger than the device %s allows",
			      facts->name);
	return r;
}

int group_check_image_device(const struct queue *queue, const struct backend_image *image,
			     struct backend_fault *fault)
{
	const struct backend_device_facts *facts = queue->facts;
	enum image_kind kind = image->is_layered ? (image->dimensions == 2 ? IMAGE_KIND_1D_LAYERED
									   : IMAGE_KIND_2D_LAYERED)
						 : (enum image_kind)(image->dimensions - 1);
	int r = check_format(facts, image, kind, fault);
	if (r != 0)
		return r;
	if (image->is_layered && facts->image_layered_sizes[2] == 0)
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device %s has no layered images", facts->name);
	for (uint32_t d = 0; d < image->dimensions; d++) {
		uint64_t size = image->size[image->dimensions - 1 - d];
		if (size > group_image_size_limit(facts, image, d))
			return fault_set(
				fault, STATUS_INVALID,
				"an image has a size of %" PRIu64 "; the device %s allows %" PRIu64,
				size, facts->name, group_image_size_limit(facts, image, d));
	}
	return 0;
}

static int check_sampler(const Sycl__V1__SamplerArgument *message, uint32_t index,
			 struct backend_sampler *sampler_out, struct backend_fault *fault)
{
	if (!message || message->addressing < IMAGE_ADDRESSING_MIRRORED_REPEAT ||
	    message->addressing > IMAGE_ADDRESSING_NONE)
		return fault_set(fault, STATUS_INVALID,
				 "argument %u has no sampler, or an unknown one", index);
	*sampler_out =
		(struct backend_sampler){.addressing = (enum backend_addressing)message->addressing,
					 .normalised = message->normalised,
					 .linear = message->linear};
	return 0;
}

/* Checks the kernel's declaration, if known, against the accessor's mode. */
static int check_mode(const struct backend_argument_facts *facts,
		      const Sycl__V1__ImageArgument *message, uint32_t mode, uint32_t index,
		      struct backend_fault *fault)
{
	bool declared = facts->kind == BACKEND_ARGUMENT_IMAGE;
	if (message->sampled && access_mode_writes(mode))
		return fault_set(fault, STATUS_ACCESSOR,
				 "argument %u is a sampled image, which is read only", index);
	if (!message->sampled && mode != ACCESS_MODE_READ && mode != ACCESS_MODE_WRITE &&
	    mode != ACCESS_MODE_WRITE_NO_INIT)
		return 0; /* several accessors of the group on one image: their union */
	if (declared && facts->is_const && !(mode & ACCESS_READ_BIT))
		return fault_set(
			fault, STATUS_KERNEL_ARGUMENT,
			"argument %u is an image that the kernel reads, with an accessor for writing",
			index);
	if (declared && !facts->is_const && !access_mode_writes(mode))
		return fault_set(
			fault, STATUS_KERNEL_ARGUMENT,
			"argument %u is an image that the kernel writes, with an accessor for reading",
			index);
	return 0;
}

int group_check_image_argument(struct group_scratch *scratch, const struct queue *queue,
			       const struct task_request *request,
			       const Sycl__V1__Argument *message,
			       const struct backend_argument_facts *facts, uint32_t index,
			       struct task_argument *argument, struct backend_fault *fault)
{
	const Sycl__V1__ImageArgument *image = message->image;
	if (image->requirement >= request->requirement_count)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u is requirement %u of %u", index, image->requirement,
				 request->requirement_count);
	const struct buffer *buffer = scratch->buffers[image->requirement];
	uint32_t mode = scratch->requirements[image->requirement].mode;
	if ((buffer->image.dimensions == 0) != (image->view != NULL))
		return fault_set(
			fault, STATUS_KERNEL_ARGUMENT,
			"argument %u is an image; a buffer was given, or a view of an image",
			index);
	int r = image->view ? group_check_image_view(scratch, queue, image, index, argument, fault)
			    : group_check_image_device(queue, &buffer->image, fault);
	uint32_t format =
		r == 0 && argument->view ? argument->view->image.format : buffer->image.format;
	if (r == 0)
		r = check_mode(facts, image, mode, index, fault);
	if (r == 0 && image->sampled)
		r = check_sampler(message->sampler, index, &argument->sampler, fault);
	if (r == 0 && image->sampled && argument->sampler.linear && !image_format_is_float(format))
		r = fault_set(
			fault, STATUS_KERNEL_ARGUMENT,
			"argument %u is an image of integers, which linear filtering cannot mix",
			index);
	if (r != 0)
		return r;
	argument->kind = BACKEND_ARGUMENT_IMAGE;
	argument->requirement = image->requirement;
	argument->sampled = image->sampled;
	argument->writes = !image->sampled && access_mode_writes(mode);
	return 0;
}

int group_check_sampler_argument(const Sycl__V1__Argument *message, uint32_t index,
				 struct task_argument *argument, struct backend_fault *fault)
{
	int r = message->is_sampler
			? check_sampler(message->sampler, index, &argument->sampler, fault)
			: fault_set(fault, STATUS_KERNEL_ARGUMENT, "argument %u is not set", index);
	if (r == 0)
		argument->kind = BACKEND_ARGUMENT_SAMPLER;
	return r;
}

bool group_image_fits_word(const struct backend_argument_facts *facts,
			   const struct task_argument *argument)
{
	return argument->kind == BACKEND_ARGUMENT_IMAGE && facts->kind == BACKEND_ARGUMENT_VALUE &&
	       facts->size_bytes == sizeof(uint64_t);
}

static const struct buffer *image_end(const struct group_scratch *scratch,
				      const struct task_request *request,
				      const Sycl__V1__MemoryEnd *end)
{
	if (!end || end->place_case != SYCL__V1__MEMORY_END__PLACE_REQUIREMENT ||
	    end->requirement >= request->requirement_count)
		return NULL;
	const struct buffer *buffer = scratch->buffers[end->requirement];
	return buffer->image.dimensions > 0 ? buffer : NULL;
}

bool group_copies_image(const struct group_scratch *scratch, const struct task_request *request,
			const Sycl__V1__Copy *copy)
{
	return image_end(scratch, request, copy->source) ||
	       image_end(scratch, request, copy->destination);
}

static bool group_image_is_alike(const struct backend_image *a, const struct backend_image *b)
{
	return a->format == b->format && a->dimensions == b->dimensions &&
	       a->is_layered == b->is_layered && memcmp(a->size, b->size, sizeof(a->size)) == 0;
}

int group_check_image_copy(struct session *session, const struct queue *queue,
			   const Sycl__V1__Copy *copy, struct task_request *request,
			   struct backend_fault *fault)
{
	const struct group_scratch *scratch = &session->engine->scratch;
	const struct buffer *source = image_end(scratch, request, copy->source);
	const struct buffer *destination = image_end(scratch, request, copy->destination);
	if (copy->image)
		return group_check_image_box(session, queue, copy, source, destination, request,
					     fault);
	if (!source || !destination || source == destination ||
	    !group_image_is_alike(&source->image, &destination->image) || copy->box ||
	    copy->source->offset_bytes || copy->destination->offset_bytes ||
	    copy->size_bytes != source->size_bytes)
		return fault_set(fault, STATUS_INVALID,
				 "an image is copied as a whole, to another one that is alike");
	if (!(scratch->requirements[copy->source->requirement].mode & ACCESS_READ_BIT) ||
	    !access_mode_writes(scratch->requirements[copy->destination->requirement].mode))
		return fault_set(fault, STATUS_ACCESSOR,
				 "the access modes do not allow to copy the image");
	int r = group_check_image_device(queue, &source->image, fault);
	if (r != 0)
		return r;
	request->action = TASK_COPY;
	request->what = "copy image";
	request->copy.source = (int32_t)copy->source->requirement;
	request->copy.destination = (int32_t)copy->destination->requirement;
	request->copy.size_bytes = copy->size_bytes;
	return 0;
}
