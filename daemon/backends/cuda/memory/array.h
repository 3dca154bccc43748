/*
 * Images are arrays of the driver's: opaque memory that textures read and surfaces write. Sizes are
 * in SYCL's order and reversed here; pixels keep the format's own order of channels, so what a
 * kernel reads of b8g8r8a8 by a texture comes as b, g, r, a: the portable prelude puts it right, a
 * kernel in PTX or CUDA C++ does so itself (a texture has no swizzle).
 *
 * S2: `clamp` gives the border colour in kernels, so it is the driver's BORDER, and clamp_to_edge
 * its CLAMP. That differs from 000's table, which the library's mapping query gives. G6: repeat and
 * mirrored_repeat with coordinates that are not normalised are BORDER, and so is `none`.
 */
#ifndef SYCL_BACKENDS_CUDA_ARRAY_H
#define SYCL_BACKENDS_CUDA_ARRAY_H

#include "cuda/device/internal.h"

/* Five addressing modes, two filters, two kinds of coordinates. */
#define CUDA_TEXTURES 20u

struct cuda_array {
	struct backend_image image;
	CUarray array;
	CUsurfObject surface;                /* 0: not made yet */
	CUtexObject textures[CUDA_TEXTURES]; /* by cuda_texture_index; 0: not made yet */
};

/* What a parameter of the portable prelude is: "SYCL_IMAGE_READ_2D", "SYCL_IMAGE_READ_2D_LAYERED".
 */
enum cuda_image_use {
	CUDA_IMAGE_NONE = 0,
	CUDA_IMAGE_READ = 1,
	CUDA_IMAGE_WRITE = 2,
	CUDA_IMAGE_SAMPLED = 3
};

struct cuda_image_form {
	enum cuda_image_use use;
	uint32_t dimensions; /* of the image: with the one that counts layers */
	bool is_layered;
};

/* NONE: the type's text is another one. */
struct cuda_image_form cuda_image_form(const char *type_text);

/* The prelude's struct sycl_image_: what a kernel gets. */
struct cuda_image_argument {
	uint64_t object;  /* a texture or a surface */
	uint32_t format;  /* enum backend_image_format */
	uint32_t size[3]; /* SYCL's order; 1 where there is no such dimension */
};

/* cuda_image_arguments.c. What is used to read single pixels: nearest, not normalised. */
extern const struct backend_sampler cuda_pixel_sampler;
uint32_t cuda_texture_index(const struct backend_sampler *sampler);

/* May wait for what runs on the device, as far as is known: the reaper's, in a quiet moment. */
void cuda_array_destroy(const struct cuda_library *library, struct cuda_array *array);

/* WRITE, READ or COPY of which a side is an image. */
bool cuda_array_is_meant(const struct backend_command *command);
int cuda_array_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct cuda_finish **finish_out, struct backend_fault *fault_out);

/*
 * cuda_texture.c: what an IMAGE argument may need is there when this returns. Device thread; for
 * each such argument of a launch before cuda_kernel_prepare.
 */
int cuda_texture_settle(struct backend_lane *lane, const struct backend_argument *argument,
			struct backend_fault *fault_out);

/* cuda_image_arguments.c. Pure: after cuda_texture_settle. */
struct cuda_parameter;
int cuda_image_argument_put(const struct cuda_parameter *parameter, uint32_t index,
			    const struct backend_argument *argument, void *to,
			    struct backend_fault *fault_out);

/*
 * cuda_image_facts.c: what the device's facts say of images, and the feature; nothing where the
 * driver lacks a function.
 */
void cuda_image_facts_fill(const struct cuda_library *library, CUdevice device,
			   struct backend_device_facts *facts);

#endif
