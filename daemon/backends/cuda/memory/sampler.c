/* The texture of an image that a sampler stands for. */
#include "cuda/memory/array.h"

const struct backend_sampler cuda_pixel_sampler = {.addressing = BACKEND_ADDRESSING_NONE};

uint32_t cuda_texture_index(const struct backend_sampler *sampler)
{
	return ((uint32_t)sampler->addressing - 1) * 4 + sampler->normalised * 2u + sampler->linear;
}
