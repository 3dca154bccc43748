/*
 * Sampling of an image in host memory (G5, G6, S2), in float. It serves sampled host accessors and
 * tests of devices. It follows core SYCL: `clamp` gives the border colour, `clamp_to_edge` the
 * nearest pixel of the image. The border colour is 0, 0, 0, 0: every format here has an alpha
 * channel.
 *
 * If SYCL leaves a result undefined, this follows the CUDA specification. `none` is as `clamp`, and
 * so are `repeat` and `mirrored_repeat` with coordinates that are not normalised (G6). A coordinate
 * that is not a number lies outside.
 *
 * Coordinates are in the order of the image's dimensions: the last one is the position in a row. A
 * pixel's middle is at i + 0.5, or (i + 0.5) / size normalised. For a layered image the first
 * coordinate is the layer's number in every sampler. It is never normalised and layers are never
 * mixed. A number that no layer has means the nearest layer (003). Pure: any thread, never blocks.
 */
#ifndef SYCL_SHARED_IMAGE_SAMPLE_H
#define SYCL_SHARED_IMAGE_SAMPLE_H

#include "image_format.h"

/* Numbers equal those of backend.h and of syclclient/image.h. */
enum image_addressing {
	IMAGE_ADDRESSING_MIRRORED_REPEAT = 1,
	IMAGE_ADDRESSING_REPEAT = 2,
	IMAGE_ADDRESSING_CLAMP_TO_EDGE = 3,
	IMAGE_ADDRESSING_CLAMP = 4,
	IMAGE_ADDRESSING_NONE = 5,
};

struct image_sampler {
	enum image_addressing addressing;
	bool normalised, linear;
};

/* The bytes are tightly packed, and the description is good (image_bytes). */
struct image_view {
	uint32_t format, dimensions;
	bool is_layered; /* the first dimension counts layers */
	uint64_t size[3];
	const void *bytes;
};

/* The effective mode: the two above become CLAMP. */
enum image_addressing image_addressing_effective(const struct image_sampler *sampler);

/* The pixel at `index`, of which no coordinate is outside. */
const void *image_pixel_at(const struct image_view *view, const uint64_t *index);

/* -EINVAL: the format's pixels are not of that type, or linear filtering of integers. */
int image_sample_float(const struct image_view *view, const struct image_sampler *sampler,
		       const float *coordinate, float value_out[4]);
int image_sample_int(const struct image_view *view, const struct image_sampler *sampler,
		     const float *coordinate, int32_t value_out[4]);
int image_sample_uint(const struct image_view *view, const struct image_sampler *sampler,
		      const float *coordinate, uint32_t value_out[4]);

#endif
