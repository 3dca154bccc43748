/* Samplers are plain values; what the backends' specifications call them (G5, G6, S2). */
#include "memory/image.h"

/* enum cudaTextureAddressMode and cudaTextureFilterMode, of 000's tables. */
enum {
	CUDA_WRAP = 0,
	CUDA_CLAMP = 1,
	CUDA_MIRROR = 2,
	CUDA_BORDER = 3,
	CUDA_POINT = 0,
	CUDA_LINEAR = 1
};
/* CL_ADDRESS_* and CL_FILTER_*. */
enum {
	OPENCL_CLAMP_TO_EDGE = 0x1131,
	OPENCL_CLAMP = 0x1132,
	OPENCL_REPEAT = 0x1133,
	OPENCL_MIRRORED_REPEAT = 0x1134,
	OPENCL_NEAREST = 0x1140,
	OPENCL_LINEAR = 0x1141,
};

sycl_result sampler_check(const sycl_sampler *sampler, struct image_sampler *sampler_out)
{
	if (!sampler)
		return error_set(SYCL_ERROR_INVALID, "the sampler is NULL");
	if (sampler->addressing < SYCL_ADDRESSING_MIRRORED_REPEAT ||
	    sampler->addressing > SYCL_ADDRESSING_NONE ||
	    sampler->normalization > SYCL_COORDINATE_NORMALIZED ||
	    sampler->filtering > SYCL_FILTERING_LINEAR || sampler->reserved != 0)
		return error_set(
			SYCL_ERROR_INVALID,
			"there is no sampler of addressing %u, normalization %u, filtering %u",
			sampler->addressing, sampler->normalization, sampler->filtering);
	*sampler_out = (struct image_sampler){
		.addressing = (enum image_addressing)sampler->addressing,
		.normalised = sampler->normalization == SYCL_COORDINATE_NORMALIZED,
		.linear = sampler->filtering == SYCL_FILTERING_LINEAR,
	};
	return SYCL_SUCCESS;
}

sycl_result image_check_filter(const struct buffer *image, const struct image_sampler *sampler)
{
	if (sampler->linear && !image_format_is_float(image->image_format))
		return error_set(
			SYCL_ERROR_INVALID,
			"linear filtering is not possible for %s, whose pixels are integers",
			image_format_find(image->image_format)->name);
	return SYCL_SUCCESS;
}

static uint32_t cuda_addressing(const struct image_sampler *sampler)
{
	static const uint32_t modes[] = {
		[IMAGE_ADDRESSING_MIRRORED_REPEAT] = CUDA_MIRROR,
		[IMAGE_ADDRESSING_REPEAT] = CUDA_WRAP,
		[IMAGE_ADDRESSING_CLAMP_TO_EDGE] = CUDA_CLAMP,
		[IMAGE_ADDRESSING_CLAMP] = CUDA_CLAMP,
		[IMAGE_ADDRESSING_NONE] = CUDA_BORDER,
	};
	bool wraps = sampler->addressing == IMAGE_ADDRESSING_MIRRORED_REPEAT ||
		     sampler->addressing == IMAGE_ADDRESSING_REPEAT;
	return wraps && !sampler->normalised ? CUDA_BORDER : modes[sampler->addressing];
}

static uint32_t opencl_addressing(const struct image_sampler *sampler)
{
	static const uint32_t modes[] = {
		[IMAGE_ADDRESSING_MIRRORED_REPEAT] = OPENCL_MIRRORED_REPEAT,
		[IMAGE_ADDRESSING_REPEAT] = OPENCL_REPEAT,
		[IMAGE_ADDRESSING_CLAMP_TO_EDGE] = OPENCL_CLAMP_TO_EDGE,
		[IMAGE_ADDRESSING_CLAMP] = OPENCL_CLAMP,
	};
	return modes[image_addressing_effective(sampler)];
}

SYCL_API sycl_result sycl_sampler_get_mapping(const sycl_sampler *sampler, sycl_backend backend,
					      sycl_sampler_mapping *mapping)
{
	struct image_sampler meant;
	sycl_result result = sampler_check(sampler, &meant);
	if (result)
		return result;
	if (!mapping || mapping->struct_bytes != sizeof(*mapping))
		return error_set(
			SYCL_ERROR_INVALID,
			"mapping: NULL, or struct_bytes is wrong; start from SYCL_SAMPLER_MAPPING_INIT");
	if (backend != SYCL_BACKEND_KIND_CUDA && backend != SYCL_BACKEND_KIND_OPENCL)
		return error_set(SYCL_ERROR_INVALID, "backend %d has no samplers of its own",
				 (int)backend);
	bool cuda = backend == SYCL_BACKEND_KIND_CUDA;
	mapping->addressing = cuda ? cuda_addressing(&meant) : opencl_addressing(&meant);
	if (cuda)
		mapping->filtering = meant.linear ? CUDA_LINEAR : CUDA_POINT;
	else
		mapping->filtering = meant.linear ? OPENCL_LINEAR : OPENCL_NEAREST;
	mapping->normalized_coords = meant.normalised;
	return SYCL_SUCCESS;
}
