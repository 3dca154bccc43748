/* Textures and surfaces of an array. They are made when an argument first needs one, and kept as
 * long as the array. */
#include "cuda/memory/array.h"

#include "cuda/memory/memory.h"
#include "image_format.h"
#include "image_sample.h"
#include "status.h"

#include <errno.h>

static CUaddress_mode cuda_native_addressing(const struct backend_sampler *sampler)
{
	static const CUaddress_mode modes[] = {
		[IMAGE_ADDRESSING_MIRRORED_REPEAT] = CU_TR_ADDRESS_MODE_MIRROR,
		[IMAGE_ADDRESSING_REPEAT] = CU_TR_ADDRESS_MODE_WRAP,
		[IMAGE_ADDRESSING_CLAMP_TO_EDGE] = CU_TR_ADDRESS_MODE_CLAMP,
		[IMAGE_ADDRESSING_CLAMP] = CU_TR_ADDRESS_MODE_BORDER,
	};
	const struct image_sampler meant = {(enum image_addressing)sampler->addressing,
					    sampler->normalised, sampler->linear};

	return modes[image_addressing_effective(&meant)];
}

static CUDA_RESOURCE_DESC array_resource(const struct cuda_array *array)
{
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};

	resource.res.array.hArray = array->array;
	return resource;
}

static int make_texture(struct backend_device *device, struct cuda_array *array,
			const struct backend_sampler *sampler, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	const CUDA_RESOURCE_DESC resource = array_resource(array);
	const CUaddress_mode mode = cuda_native_addressing(sampler),
			     none = CU_TR_ADDRESS_MODE_CLAMP;
	const uint32_t dimensions = array->image.dimensions - array->image.is_layered;
	CUtexObject *made = &array->textures[cuda_texture_index(sampler)];
	bool is_float = image_format_is_float(array->image.format);

	if (*made)
		return 0;
	/*
	 * The border's colour is 0, 0, 0, 0. A dimension that the image does not have is one pixel
	 * wide and read at 0, the edge of its pixel. A linear filter mixes that pixel with the
	 * pixel before it, which must not be the border.
	 */
	const CUDA_TEXTURE_DESC texture = {
		.addressMode = {mode, dimensions > 1 ? mode : none, dimensions > 2 ? mode : none},
		.filterMode = sampler->linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
		.flags = (is_float ? 0u : CU_TRSF_READ_AS_INTEGER) |
			 (sampler->normalised ? CU_TRSF_NORMALIZED_COORDINATES : 0u),
	};
	CUresult result = cuda->cuTexObjectCreate(made, &resource, &texture, NULL);
	return result == CUDA_SUCCESS
		       ? 0
		       : cuda_fault(device, cuda, result, fault_out, "cannot make a texture");
}

static int make_surface(struct backend_device *device, struct cuda_array *array,
			struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	const CUDA_RESOURCE_DESC resource = array_resource(array);

	if (array->surface)
		return 0;
	CUresult result = cuda->cuSurfObjectCreate(&array->surface, &resource);
	return result == CUDA_SUCCESS
		       ? 0
		       : cuda_fault(device, cuda, result, fault_out, "cannot make a surface");
}

int cuda_texture_settle(struct backend_lane *lane, const struct backend_argument *argument,
			struct backend_fault *fault_out)
{
	struct backend_memory *memory = argument->image.memory;
	const struct backend_sampler *sampler = &argument->image.sampler;

	if (!memory || !memory->array || memory->device != lane->device)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_ARGUMENT,
					"an image of another kind, or device");
	if (!argument->image.sampled) {
		int error =
			make_texture(lane->device, memory->array, &cuda_pixel_sampler, fault_out);
		return error < 0 ? error : make_surface(lane->device, memory->array, fault_out);
	}
	if (sampler->addressing < BACKEND_ADDRESSING_MIRRORED_REPEAT ||
	    sampler->addressing > BACKEND_ADDRESSING_NONE)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"there is no addressing mode %d", (int)sampler->addressing);
	if (sampler->linear && !image_format_is_float(memory->array->image.format))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_KERNEL_ARGUMENT,
					"linear filtering cannot mix pixels of integers");
	return make_texture(lane->device, memory->array, sampler, fault_out);
}
