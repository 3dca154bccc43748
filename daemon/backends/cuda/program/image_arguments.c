/* Images as a kernel's parameters. */
#include "cuda/memory/array.h"

#include "cuda/program/arguments.h"
#include "cuda/program/launch.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct cuda_image_form cuda_image_form(const char *type_text)
{
	static const char *const uses[] = {[CUDA_IMAGE_READ] = "READ",
					   [CUDA_IMAGE_WRITE] = "WRITE",
					   [CUDA_IMAGE_SAMPLED] = "SAMPLED"};

	for (uint32_t use = CUDA_IMAGE_READ; use <= CUDA_IMAGE_SAMPLED; use++) {
		for (uint32_t i = 0; i < 5; i++) {
			const bool is_layered = i >= 3;
			const uint32_t plain = i % 3 + 1;
			char text[40];
			(void)snprintf(text, sizeof(text), "SYCL_IMAGE_%s_%uD%s", uses[use], plain,
				       is_layered ? "_LAYERED" : "");
			if (strcmp(type_text, text) == 0)
				return (struct cuda_image_form){(enum cuda_image_use)use,
								plain + is_layered, is_layered};
		}
	}
	return (struct cuda_image_form){.use = CUDA_IMAGE_NONE};
}

static int refuse_image_argument(struct backend_fault *fault_out, uint32_t index, const char *why)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_ARGUMENT, "argument %u %s", index,
				why);
}

/* Checks an argument of a portable kernel, which states how it uses the image. */
static int check_portable(const struct cuda_image_form *form, uint32_t index,
			  const struct backend_argument *argument, struct backend_fault *fault_out)
{
	const struct backend_image *image = &argument->image.memory->array->image;

	if (form->is_layered != image->is_layered)
		return refuse_image_argument(
			fault_out, index,
			form->is_layered ? "is a layered image; another one was given"
					 : "is an image without layers; a layered one was given");
	if (form->dimensions != image->dimensions)
		return refuse_image_argument(fault_out, index,
					     "is an image of another number of dimensions");
	if (form->use == CUDA_IMAGE_SAMPLED && !argument->image.sampled)
		return refuse_image_argument(fault_out, index,
					     "is a sampled image; no sampler was given");
	if (form->use != CUDA_IMAGE_SAMPLED && argument->image.sampled)
		return refuse_image_argument(fault_out, index, "is an image without a sampler");
	if (form->use == CUDA_IMAGE_WRITE && !argument->image.writes)
		return refuse_image_argument(
			fault_out, index,
			"is an image that the kernel writes, with an accessor for reading");
	return 0;
}

static void put_portable(const struct cuda_image_form *form,
			 const struct backend_argument *argument, void *to)
{
	const struct cuda_array *array = argument->image.memory->array;
	const struct backend_sampler *sampler =
		argument->image.sampled ? &argument->image.sampler : &cuda_pixel_sampler;
	struct cuda_image_argument put = {.format = (uint32_t)array->image.format};

	put.object = form->use == CUDA_IMAGE_WRITE ? array->surface
						   : array->textures[cuda_texture_index(sampler)];
	for (uint32_t d = 0; d < 3; d++)
		put.size[d] = d < array->image.dimensions ? (uint32_t)array->image.size[d] : 1;
	memcpy(to, &put, sizeof(put));
}

int cuda_image_argument_put(const struct cuda_parameter *parameter, uint32_t index,
			    const struct backend_argument *argument, void *to,
			    struct backend_fault *fault_out)
{
	const struct backend_memory *memory = argument->image.memory;

	if (!memory || !memory->array)
		return refuse_image_argument(fault_out, index, "is an image; a buffer was given");
	if (parameter->kind == BACKEND_ARGUMENT_IMAGE) {
		if (parameter->size_bytes != sizeof(struct cuda_image_argument))
			return refuse_image_argument(fault_out, index,
						     "is an image of another prelude");
		int error = check_portable(&parameter->image, index, argument, fault_out);
		if (error == 0)
			put_portable(&parameter->image, argument, to);
		return error;
	}
	/* PTX and CUDA C++: the object itself, a word of 64 bits: a texture with a sampler, a
	 * surface without. */
	if ((parameter->kind != BACKEND_ARGUMENT_VALUE &&
	     parameter->kind != BACKEND_ARGUMENT_UNKNOWN) ||
	    parameter->size_bytes != sizeof(uint64_t))
		return refuse_image_argument(fault_out, index, "is no image; one was given");
	/* It is not known whether the kernel reads or writes a surface. */
	if (!argument->image.sampled && !argument->image.writes)
		return refuse_image_argument(
			fault_out, index,
			"is a surface, which the kernel may write: the accessor must be for writing");
	uint64_t object =
		argument->image.sampled
			? memory->array->textures[cuda_texture_index(&argument->image.sampler)]
			: memory->array->surface;
	memcpy(to, &object, sizeof(object));
	return 0;
}
