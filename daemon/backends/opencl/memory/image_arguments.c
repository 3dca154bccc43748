#include "opencl/memory/image_arguments.h"

#include "image_format.h"
#include "opencl/driver/fault.h"
#include "opencl/memory/image.h"
#include "opencl/memory/sampler.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool type_has_prefix(const struct backend_argument_facts *argument,
			    enum backend_argument_kind kind, const char *prefix)
{
	return argument->kind == kind && strncmp(argument->name, prefix, strlen(prefix)) == 0;
}

uint32_t opencl_arguments_merge(struct backend_argument_facts *arguments, uint32_t count,
				struct opencl_place *places)
{
	uint32_t merged = 0;

	for (uint32_t i = 0; i < count; i++) {
		bool is_pair = i + 1 < count && arguments[i].kind == BACKEND_ARGUMENT_IMAGE &&
			       type_has_prefix(&arguments[i + 1], BACKEND_ARGUMENT_SAMPLER,
					       OPENCL_SAMPLER_OF);
		bool has_step = is_pair && i + 2 < count &&
				type_has_prefix(&arguments[i + 2], BACKEND_ARGUMENT_VALUE,
						OPENCL_LAYER_STEP_OF);
		places[merged] =
			(struct opencl_place){.index = i, .is_pair = is_pair, .has_step = has_step};
		arguments[merged] = arguments[i];
		i += is_pair + has_step;
		merged++;
	}
	return merged;
}

static int refuse_argument(struct backend_fault *fault_out, uint32_t index, const char *why)
{
	opencl_fault_words(fault_out, STATUS_KERNEL_ARGUMENT, "argument %u %s", index, why);
	return -EINVAL;
}

/* True if the type is "image2d_t", "image2d_array_t" and so on, as the image has it. */
static bool argument_is_of_type(const struct backend_image *image, bool is_view,
				const char *type_name)
{
	const uint32_t code = (uint32_t)image->format - IMAGE_FORMAT_GENERAL;
	bool is_depth = (uint32_t)image->format >= IMAGE_FORMAT_GENERAL &&
			code / IMAGE_TYPES == IMAGE_ORDER_DEPTH;
	char wanted[32];

	(void)snprintf(wanted, sizeof(wanted), "image%ud_%s%s%st",
		       image->dimensions - image->is_layered,
		       is_view && image->dimensions == 1 ? "buffer_" : "",
		       image->is_layered ? "array_" : "", is_depth ? "depth_" : "");
	return strcmp(type_name, wanted) == 0;
}

/* Checks an argument, because drivers do not: PoCL reads as many dimensions as its kernel's type
 * has, whatever the image. */
static int check_image_argument(const struct backend_kernel *kernel, uint32_t index,
				const struct backend_argument *argument,
				struct backend_fault *fault_out)
{
	const struct backend_argument_facts *facts = &kernel->arguments[index];
	const struct backend_memory *memory = argument->image.memory;
	bool is_pair = kernel->places[index].is_pair;

	const struct backend_image_view *view = argument->image.view;
	if (!memory || (memory->image.dimensions == 0) != (view != NULL))
		return refuse_argument(fault_out, index, "is an image; a buffer was given");
	const struct backend_image *image = view ? &view->image : &memory->image;
	if (!argument_is_of_type(image, view != NULL, facts->type_name))
		return refuse_argument(
			fault_out, index,
			"is an image of another number of dimensions, or has layers or none");
	if (argument->image.sampled && !is_pair)
		return refuse_argument(
			fault_out, index,
			"is an image without a sampler, which is an argument of its own");
	if (!argument->image.sampled && is_pair)
		return refuse_argument(fault_out, index,
				       "is a sampled image; no sampler was given");
	if (!facts->is_const && !argument->image.writes)
		return refuse_argument(
			fault_out, index,
			"is an image that the kernel writes, with an accessor for reading");
	if (argument->image.sampled && argument->image.sampler.linear &&
	    !image_format_is_float(image->format))
		return refuse_argument(
			fault_out, index,
			"is an image of integers, which linear filtering cannot mix");
	return 0;
}

static float layer_step(const struct backend_device *device,
			const struct backend_argument *argument)
{
	const struct backend_image *image = &argument->image.memory->image;

	return device->scales_layers && image->is_layered && argument->image.sampler.normalised
		       ? 1.0f / (float)image->size[0]
		       : 1.0f;
}

int opencl_image_argument_set(struct backend_kernel *kernel, cl_kernel to, uint32_t index,
			      const struct backend_argument *argument,
			      struct backend_fault *fault_out)
{
	struct backend_device *device = kernel->program->device;
	cl_uint at = kernel->places[index].index;
	bool has_image = argument->kind == BACKEND_ARGUMENT_IMAGE;
	cl_int code = CL_SUCCESS;

	int error = has_image ? check_image_argument(kernel, index, argument, fault_out) : 0;
	if (error < 0)
		return error;
	if (has_image) {
		cl_mem image = argument->image.memory->buffer;
		if (argument->image.view) {
			error = opencl_image_view(device, argument->image.memory,
						  argument->image.view, &image, fault_out);
			if (error < 0)
				return error;
			kernel->temporaries[index] = image; /* the launch holds it */
		}
		code = device->cl->SetKernelArg(to, at++, sizeof(cl_mem), (void *)&image);
	}
	if (code == CL_SUCCESS && (!has_image || argument->image.sampled)) {
		cl_sampler sampler = NULL;
		error = opencl_sampler_get(device, &argument->image.sampler, &sampler, fault_out);
		if (error < 0)
			return error;
		code = device->cl->SetKernelArg(to, at++, sizeof(cl_sampler), (void *)&sampler);
	}
	if (code == CL_SUCCESS && kernel->places[index].has_step) {
		const float step = layer_step(device, argument);
		code = device->cl->SetKernelArg(to, at, sizeof(step), &step);
	}
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "set an image");
}
