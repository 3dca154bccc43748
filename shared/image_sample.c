#include "image_sample.h"

#include "image_pixel.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define OUTSIDE (-1)

/*
 * The one or two pixels of a dimension that a coordinate means, and the weight of the second pixel.
 */
struct taps {
	int64_t index[2]; /* OUTSIDE: the border */
	float second;
};

enum image_addressing image_addressing_effective(const struct image_sampler *sampler)
{
	bool wraps = sampler->addressing == IMAGE_ADDRESSING_REPEAT ||
		     sampler->addressing == IMAGE_ADDRESSING_MIRRORED_REPEAT;

	if (sampler->addressing == IMAGE_ADDRESSING_NONE || (wraps && !sampler->normalised))
		return IMAGE_ADDRESSING_CLAMP;
	return sampler->addressing;
}

/* The coordinate in pixels from the beginning. The modes that wrap first move it into the image. */
static float sample_coordinate_in_pixels(enum image_addressing addressing, bool normalised,
					 float coordinate, float size)
{
	if (addressing == IMAGE_ADDRESSING_REPEAT)
		return (coordinate - floorf(coordinate)) * size;
	if (addressing == IMAGE_ADDRESSING_MIRRORED_REPEAT)
		return fabsf(coordinate - 2.0f * rintf(0.5f * coordinate)) * size;
	return normalised ? coordinate * size : coordinate;
}

static int64_t apply_addressing(enum image_addressing addressing, float whole, int64_t size)
{
	/*
	 * A NaN compares false with everything, and is treated like a number that is too large. No
	 * coordinate is too large for an integer here.
	 */
	bool below = whole < 0.0f, inside = whole >= 0.0f && whole < (float)size;

	if (inside)
		return (int64_t)whole;
	switch (addressing) {
	case IMAGE_ADDRESSING_REPEAT: /* at most one step outside */
		return below ? size - 1 : 0;
	case IMAGE_ADDRESSING_MIRRORED_REPEAT:
	case IMAGE_ADDRESSING_CLAMP_TO_EDGE:
		return below ? 0 : size - 1;
	default:
		return OUTSIDE;
	}
}

static struct taps sample_find_taps(const struct image_sampler *sampler, float coordinate,
				    uint64_t size)
{
	enum image_addressing addressing = image_addressing_effective(sampler);
	float at = sample_coordinate_in_pixels(addressing, sampler->normalised, coordinate,
					       (float)size);
	struct taps taps = {.second = 0.0f};

	if (isnan(at)) {
		taps.index[0] = taps.index[1] = OUTSIDE;
		return taps;
	}
	if (!sampler->linear) {
		/* The coordinate may have been rounded up to the end of the last pixel. This is not
		 * one step outside. */
		if (addressing == IMAGE_ADDRESSING_REPEAT && at >= (float)size)
			at = 0.0f;
		taps.index[0] = apply_addressing(addressing, floorf(at), (int64_t)size);
		return taps;
	}
	float whole = floorf(at - 0.5f);
	taps.index[0] = apply_addressing(addressing, whole, (int64_t)size);
	taps.index[1] = apply_addressing(addressing, whole + 1.0f, (int64_t)size);
	taps.second = isfinite(at) ? at - 0.5f - whole : 0.0f;
	return taps;
}

const void *image_pixel_at(const struct image_view *view, const uint64_t *index)
{
	uint64_t linear = 0;

	for (uint32_t d = 0; d < view->dimensions; d++)
		linear = linear * view->size[d] + index[d];
	return (const uint8_t *)view->bytes + linear * image_pixel_bytes(view->format);
}

/* The pixel of one corner: if bit d of `corner` is set, the second pixel of dimension d is used.
 * NULL: the border. */
static const void *corner_pixel(const struct image_view *view, const struct taps taps[3],
				uint32_t corner)
{
	uint64_t index[3] = {0};

	for (uint32_t d = 0; d < view->dimensions; d++) {
		int64_t at = taps[d].index[corner >> d & 1u];
		if (at == OUTSIDE)
			return NULL;
		index[d] = (uint64_t)at;
	}
	return image_pixel_at(view, index);
}

static float corner_weight(const struct image_view *view, const struct taps taps[3],
			   uint32_t corner)
{
	float weight = 1.0f;

	for (uint32_t d = 0; d < view->dimensions; d++)
		weight *= corner >> d & 1u ? taps[d].second : 1.0f - taps[d].second;
	return weight;
}

/* NaN means the first layer. */
static struct taps sample_find_layer(float number, uint64_t layers)
{
	float last = (float)(layers - 1), whole = rintf(number);
	int64_t layer = !(whole > 0.0f) ? 0 : whole < last ? (int64_t)whole : (int64_t)layers - 1;

	return (struct taps){.index = {layer, layer}, .second = 0.0f};
}

static void sample_find_all_taps(const struct image_view *view, const struct image_sampler *sampler,
				 const float *coordinate, struct taps taps_out[3])
{
	for (uint32_t d = 0; d < view->dimensions; d++)
		taps_out[d] = d == 0 && view->is_layered
				      ? sample_find_layer(coordinate[d], view->size[d])
				      : sample_find_taps(sampler, coordinate[d], view->size[d]);
}

int image_sample_float(const struct image_view *view, const struct image_sampler *sampler,
		       const float *coordinate, float value_out[4])
{
	uint32_t corners = sampler->linear ? 1u << view->dimensions : 1u;
	float sum[4] = {0};
	struct taps taps[3];

	if (!image_format_is_float(view->format))
		return -EINVAL;
	sample_find_all_taps(view, sampler, coordinate, taps);
	for (uint32_t corner = 0; corner < corners; corner++) {
		const void *pixel = corner_pixel(view, taps, corner);
		float weight = corner_weight(view, taps, corner), value[4] = {0};
		/* A pixel of weight 0 adds nothing, even if it is NaN. */
		if (!pixel || weight == 0.0f)
			continue;
		(void)image_pixel_read_float(view->format, pixel, value);
		for (int i = 0; i < 4; i++)
			sum[i] += weight * value[i];
	}
	memcpy(value_out, sum, sizeof(sum));
	return 0;
}

static int sample_nearest_pixel(const struct image_view *view, const struct image_sampler *sampler,
				const float *coordinate, const void **pixel_out)
{
	struct taps taps[3];

	if (sampler->linear)
		return -EINVAL;
	sample_find_all_taps(view, sampler, coordinate, taps);
	*pixel_out = corner_pixel(view, taps, 0);
	return 0;
}

int image_sample_int(const struct image_view *view, const struct image_sampler *sampler,
		     const float *coordinate, int32_t value_out[4])
{
	static const uint8_t border[IMAGE_PIXEL_BYTES_MAX];
	const void *pixel = NULL;
	int error = sample_nearest_pixel(view, sampler, coordinate, &pixel);

	return error < 0 ? error
			 : image_pixel_read_int(view->format, pixel ? pixel : border, value_out);
}

int image_sample_uint(const struct image_view *view, const struct image_sampler *sampler,
		      const float *coordinate, uint32_t value_out[4])
{
	static const uint8_t border[IMAGE_PIXEL_BYTES_MAX];
	const void *pixel = NULL;
	int error = sample_nearest_pixel(view, sampler, coordinate, &pixel);

	return error < 0 ? error
			 : image_pixel_read_uint(view->format, pixel ? pixel : border, value_out);
}
