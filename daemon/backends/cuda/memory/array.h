/*
 * Images are arrays of the driver: opaque memory that textures read and surfaces write. Sizes are
 * in SYCL's order and reversed here; pixels keep the format's own order of channels. A texture has
 * no swizzle, so a kernel reads b8g8r8a8 by a texture as b, g, r, a. The portable prelude corrects
 * that order. A kernel in PTX or CUDA C++ must correct it itself.
 *
 * S2: `clamp` gives the border colour in kernels, so it is the driver's BORDER, and clamp_to_edge
 * is the driver's CLAMP. That differs from 000's table, which the library's mapping query gives.
 * G6: repeat and mirrored_repeat with coordinates that are not normalised are BORDER, and so is
 * `none`.
 */
#ifndef SYCL_BACKENDS_CUDA_ARRAY_H
#define SYCL_BACKENDS_CUDA_ARRAY_H

#include "cuda/memory/memory.h"

/* Five addressing modes, two filters, two kinds of coordinates. */
#define CUDA_TEXTURES 20u

struct cuda_array {
	struct backend_image image;
	CUarray array;
	CUsurfObject surface;                /* 0: not made yet */
	CUtexObject textures[CUDA_TEXTURES]; /* by cuda_texture_index; 0: not made yet */
};

/* memory/sampler.c: the sampler for reads of single pixels: nearest, not normalised. */
extern const struct backend_sampler cuda_pixel_sampler;
uint32_t cuda_texture_index(const struct backend_sampler *sampler);

/* May wait for all work on the device. The reaper calls it in a quiet moment. */
void cuda_array_destroy(const struct cuda_library *library, struct cuda_array *array);

/* The width, height or depth; `none` if the image has no such dimension. The depth of a layered
 * image is the number of layers, also if a layer has no height. */
uint64_t cuda_array_extent(const struct backend_image *image, uint32_t native, uint64_t none);

/* memory/array_commands.c. True for a WRITE, READ or COPY in which a side is an image. */
bool cuda_array_is_meant(const struct backend_command *command);
int cuda_array_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct cuda_finish **finish_out, struct backend_fault *fault_out);

/* memory/texture.c: makes the textures and surfaces that an IMAGE argument may need. Call it for
 * each such argument of a launch before cuda_kernel_prepare. Device thread. */
int cuda_texture_settle(struct backend_lane *lane, const struct backend_argument *argument,
			struct backend_fault *fault_out);

#endif
