/*
 * The results of samplers on a device (G5, G6, S2), compared with shared/image_sample.c. There is
 * every addressing mode, filter and kind of coordinate, in 1 to 3 dimensions, inside of the image
 * and outside of it.
 */
#include "images/support.h"

#include "image_sample.h"

#include <math.h>
#include <stdio.h>

TestSuite(image_sample, .timeout = 240);

#define SAMPLE(type, n, places)                                                                    \
	"SYCL_KERNEL void sample_" #type "_" #n "(SYCL_IMAGE_SAMPLED_" #n                          \
	"D(image), SYCL_GLOBAL(const float) at, "                                                  \
	"SYCL_GLOBAL(" #type ") to) {\n  ulong i = sycl_global_id(0);\n"                           \
	"  " #type "4 v = sycl_image_sample_" #type "_" #n "d(image, " places ");\n"               \
	"  to[4 * i] = v.x; to[4 * i + 1] = v.y; to[4 * i + 2] = v.z; to[4 * i + 3] = v.w;\n}\n"
#define ONE   "at[i]"
#define TWO   "at[2 * i], at[2 * i + 1]"
#define THREE "at[3 * i], at[3 * i + 1], at[3 * i + 2]"

static const char source[] = SAMPLE(float, 1, ONE) SAMPLE(float, 2, TWO) SAMPLE(float, 3, THREE)
	SAMPLE(int, 1, ONE) SAMPLE(int, 2, TWO) SAMPLE(int, 3, THREE) SAMPLE(uint, 1, ONE)
		SAMPLE(uint, 2, TWO) SAMPLE(uint, 3, THREE);

static const uint64_t sizes[3][3] = {{8}, {5, 8}, {3, 5, 4}};

#define POINTS 60u

/* Parts of the size, away from the border of two pixels, where rounding decides. */
static const float places[] = {0.03f, 0.11f,  0.29f,  0.47f,  0.57f,  0.71f, 0.93f,
			       0.97f, -0.03f, -0.33f, -0.97f, -1.21f, 1.03f, 1.33f,
			       1.89f, 2.11f,  3.47f,  -2.55f, -7.87f, 9.13f};
#define PLACES (sizeof(places) / sizeof(*places))

struct case_of {
	uint32_t format, dimensions;
	struct backend_sampler sampler;
};

static void sample_make_points(const struct case_of *one, float *at)
{
	const uint64_t *size = sizes[one->dimensions - 1];

	for (uint32_t i = 0; i < POINTS; i++)
		for (uint32_t d = 0; d < one->dimensions; d++) {
			float part = places[(i * (d + 1) + 3 * d + i / PLACES) % PLACES];
			at[i * one->dimensions + d] =
				one->sampler.normalised ? part : part * (float)size[d];
		}
}

/* Weights may have 8 bits, so a mix may differ by that part; the value of a pixel may differ by
 * rounding. */
static float allowed(const struct case_of *one)
{
	return one->sampler.linear ? 1.0f / 256.0f * (float)one->dimensions + 1e-4f : 1e-6f;
}

static void say_case(const struct case_of *one, const float *at)
{
	cr_log_error(
		"format %u, %u dimensions, addressing %d, normalised %d, linear %d, at %g, %g, %g:",
		one->format, one->dimensions, one->sampler.addressing, one->sampler.normalised,
		one->sampler.linear, (double)at[0], one->dimensions > 1 ? (double)at[1] : 0,
		one->dimensions > 2 ? (double)at[2] : 0);
}

/* Returns true if the value is the host's; otherwise prints it. */
static bool check_point(const struct case_of *one, const struct image_view *view, const float *at,
			const uint32_t *got)
{
	const struct image_sampler sampler = {(enum image_addressing)one->sampler.addressing,
					      one->sampler.normalised, one->sampler.linear};
	float wanted[4], read[4];
	uint32_t words[4];

	if (!image_format_is_float(one->format)) {
		int error = image_format_find(one->format)->channel == IMAGE_CHANNEL_SINT
				    ? image_sample_int(view, &sampler, at, (int32_t *)words)
				    : image_sample_uint(view, &sampler, at, words);
		cr_assert_eq(error, 0);
		if (memcmp(got, words, sizeof(words)) == 0)
			return true;
		say_case(one, at);
		for (int c = 0; c < 4; c++)
			cr_log_error("  channel %d: %#x, not %#x", c, got[c], words[c]);
		return false;
	}
	cr_assert_eq(image_sample_float(view, &sampler, at, wanted), 0);
	memcpy(read, got, sizeof(read));
	for (int c = 0; c < 4; c++) {
		if (fabsf(read[c] - wanted[c]) <= allowed(one))
			continue;
		say_case(one, at);
		cr_log_error("  channel %d: %g, not %g", c, (double)read[c], (double)wanted[c]);
		return false;
	}
	return true;
}

/* Returns true if all points are right. The first two wrong ones are printed. */
static bool check_points(const struct case_of *one, const struct image_view *view, const float *at,
			 const uint32_t *got)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < POINTS && wrong < 2; i++)
		wrong += !check_point(one, view, &at[i * one->dimensions], &got[i * 4]);
	return wrong == 0;
}

static bool sample_run_case(struct images *images, const struct case_of *one)
{
	static const char *const types[] = {[IMAGE_CHANNEL_UNORM] = "float",
					    [IMAGE_CHANNEL_FLOAT] = "float",
					    [IMAGE_CHANNEL_SINT] = "int",
					    [IMAGE_CHANNEL_UINT] = "uint"};
	const struct backend_ops *ops = images->fixture.ops;
	struct backend_image image = images_describe((enum backend_image_format)one->format,
						     one->dimensions, sizes[one->dimensions - 1]);
	const uint64_t bytes = images_bytes(&image), points[] = {POINTS};
	uint8_t *pixels = images_noise(bytes, one->format);
	struct image_view view = {
		.format = one->format, .dimensions = one->dimensions, .bytes = pixels};
	float at[POINTS * 3];
	uint32_t got[POINTS * 4] = {0};
	char name[32];

	/* Numbers from 0 to 1, because noise might be NaN. */
	for (uint64_t i = 0; one->format == BACKEND_IMAGE_R32G32B32A32_SFLOAT && i < bytes / 4;
	     i++) {
		float value = (float)pixels[4 * i] / 255.0f;
		memcpy(pixels + 4 * i, &value, 4);
	}
	for (uint64_t i = 0; one->format == BACKEND_IMAGE_R16G16B16A16_SFLOAT && i < bytes / 2; i++)
		pixels[2 * i + 1] = (uint8_t)(0x30 + pixels[2 * i + 1] % 12);
	memcpy(view.size, image.size, sizeof(view.size));
	sample_make_points(one, at);
	(void)snprintf(name, sizeof(name), "sample_%s_%u",
		       types[image_format_find(one->format)->channel], one->dimensions);
	images_use(images, name);
	struct backend_memory *memory = images_make(images, &image);
	struct backend_memory *in = fixture_memory(&images->fixture, sizeof(at), NULL);
	struct backend_memory *out = fixture_memory(&images->fixture, sizeof(got), NULL);
	images_write(images, memory, &image, pixels);
	fixture_write(&images->fixture, in, 0, at, sizeof(at));
	const struct backend_argument arguments[] = {images_sampled(memory, one->sampler),
						     global_argument(in), global_argument(out)};
	images_launch(images, 1, points, arguments, 3);
	fixture_read(&images->fixture, out, 0, got, sizeof(got));
	bool right = check_points(one, &view, at, got);
	ops->memory_free(memory);
	ops->memory_free(in);
	ops->memory_free(out);
	free(pixels);
	return right;
}

static void sample_all(uint32_t format)
{
	struct images images;
	uint32_t wrong = 0;

	images_open(&images, source, "sample_float_1");
	for (uint32_t dimensions = 1; dimensions <= 3; dimensions++)
		for (uint32_t mode = BACKEND_ADDRESSING_MIRRORED_REPEAT;
		     mode <= BACKEND_ADDRESSING_NONE; mode++)
			for (uint32_t bits = 0; bits < (image_format_is_float(format) ? 4u : 2u);
			     bits++) {
				const struct case_of one = {
					.format = format,
					.dimensions = dimensions,
					.sampler = {.addressing = (enum backend_addressing)mode,
						    .normalised = (bits & 1) != 0,
						    .linear = (bits & 2) != 0},
				};
				wrong += !sample_run_case(&images, &one);
			}
	images_close(&images);
	cr_assert_eq(wrong, 0, "%u samplers are wrong, each with its first points above", wrong);
}

Test(image_sample, G5_G6_S2_float_pixels_with_every_sampler)
{
	sample_all(BACKEND_IMAGE_R32G32B32A32_SFLOAT);
}

Test(image_sample, G5_G6_S2_unorm_pixels_with_every_sampler)
{
	sample_all(BACKEND_IMAGE_R8G8B8A8_UNORM);
}

Test(image_sample, G5_S1_pixels_that_are_stored_in_another_order)
{
	sample_all(BACKEND_IMAGE_B8G8R8A8_UNORM);
}

Test(image_sample, G5_half_pixels_with_every_sampler)
{
	sample_all(BACKEND_IMAGE_R16G16B16A16_SFLOAT);
}

Test(image_sample, G5_signed_pixels_with_every_sampler)
{
	sample_all(BACKEND_IMAGE_R16G16B16A16_SINT);
}

Test(image_sample, G5_unsigned_pixels_with_every_sampler)
{
	sample_all(BACKEND_IMAGE_R32B32G32A32_UINT);
}
