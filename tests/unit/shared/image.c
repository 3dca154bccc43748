/* Formats, pixels and samplers of images against values computed by hand. */
#include "image_pixel.h"
#include "image_sample.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

TestSuite(shared_image, .timeout = 10);

enum {
	UNORM8 = 1,
	UNORM16 = 2,
	SINT8 = 3,
	SINT16 = 4,
	SINT32 = 5,
	UINT8 = 6,
	UINT16 = 7,
	UINT32 = 8,
	HALF = 9,
	FLOAT = 10,
	BGRA = 11
};

Test(shared_image, G4_the_eleven_formats_and_no_others)
{
	static const uint32_t bytes[] = {0, 4, 8, 4, 8, 16, 4, 8, 16, 8, 16, 4, 0};
	static const char *const names[] = {
		"r8g8b8a8_unorm",      "r16g16b16a16_unorm", "r8g8b8a8_sint",
		"r16g16b16a16_sint",   "r32b32g32a32_sint",  "r8g8b8a8_uint",
		"r16g16b16a16_uint",   "r32b32g32a32_uint",  "r16b16g16a16_sfloat",
		"r32g32b32a32_sfloat", "b8g8r8a8_unorm"};

	for (uint32_t format = 0; format < 13; format++)
		cr_assert_eq(image_pixel_bytes(format), bytes[format]);
	for (uint32_t format = 1; format <= 11; format++)
		cr_assert_str_eq(image_format_find(format)->name, names[format - 1]);
	cr_assert_null(image_format_find(0));
	cr_assert_null(image_format_find(12));
	cr_assert_null(image_format_find(UINT32_MAX));
}

Test(shared_image, C16_C17_sizes)
{
	const uint64_t good[3] = {3, 5, 7}, zero[3] = {3, 0, 7},
		       large[3] = {1, IMAGE_SIZE_MAX + 1, 1};
	const uint64_t most[3] = {IMAGE_SIZE_MAX, IMAGE_SIZE_MAX, IMAGE_SIZE_MAX},
		       huge[3] = {UINT64_MAX, 1, 1};
	uint64_t bytes = 42;

	cr_assert_eq(image_bytes(HALF, false, 3, good, &bytes), 0);
	cr_assert_eq(bytes, 3 * 5 * 7 * 8);
	cr_assert_eq(image_bytes(UNORM8, false, 1, good, &bytes), 0);
	cr_assert_eq(bytes, 3 * 4);
	bytes = 42;
	cr_assert_eq(image_bytes(HALF, false, 2, zero, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(HALF, false, 2, large, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(HALF, false, 1, huge, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(HALF, false, 0, good, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(HALF, false, 4, good, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(12, false, 2, good, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(FLOAT, false, 3, most, &bytes), -EOVERFLOW);
	cr_assert_eq(bytes, 42);
	/* 2^60 pixels of 4 bytes are 2^62. */
	cr_assert_eq(image_bytes(UNORM8, false, 3, most, &bytes), 0);
	cr_assert_eq(bytes, 1ull << 62);
}

Test(shared_image, R8_all_layers_count)
{
	const uint64_t size[3] = {3, 5, 7},
		       most[3] = {IMAGE_SIZE_MAX, IMAGE_SIZE_MAX, IMAGE_SIZE_MAX};
	uint64_t bytes = 42;

	cr_assert_eq(image_bytes(HALF, true, 1, size, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(HALF, true, 0, size, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(HALF, true, 4, size, &bytes), -EINVAL);
	cr_assert_eq(image_bytes(FLOAT, true, 3, most, &bytes), -EOVERFLOW);
	cr_assert_eq(bytes, 42);
	cr_assert_eq(image_bytes(HALF, true, 2, size, &bytes), 0);
	cr_assert_eq(bytes, 3 * 5 * 8);
	cr_assert_eq(image_bytes(HALF, true, 3, size, &bytes), 0);
	cr_assert_eq(bytes, 3 * 5 * 7 * 8);
}

/* Rounded to the nearest step, and a tie to the even one; NaN becomes 0. */
Test(shared_image, C20_unorm_is_limited_and_rounded)
{
	static const struct {
		float value;
		uint8_t narrow;
		uint16_t wide;
	} table[] = {
		{0.0f, 0, 0},          {1.0f, 255, 65535},    {0.5f, 128, 32768},
		{-0.1f, 0, 0},         {1.1f, 255, 65535},    {0.2f, 51, 13107},
		{0.1f, 26, 6554},      {1e30f, 255, 65535},   {-1e30f, 0, 0},
		{1.49f / 255, 1, 383}, {1.51f / 255, 2, 388}, {INFINITY, 255, 65535},
		{-INFINITY, 0, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const float pixel[4] = {table[i].value, 0, 0, 1};
		uint8_t narrow[4] = {9, 9, 9, 9};
		uint16_t wide[4];
		cr_assert_eq(image_pixel_write_float(UNORM8, narrow, pixel), 0);
		cr_assert_eq(image_pixel_write_float(UNORM16, wide, pixel), 0);
		cr_assert_eq(narrow[0], table[i].narrow, "%zu: %u", i, narrow[0]);
		cr_assert_eq(wide[0], table[i].wide, "%zu: %u", i, wide[0]);
		cr_assert_eq(narrow[1], 0);
		cr_assert_eq(narrow[3], 255);
	}
	const float none[4] = {NAN, NAN, 0, 0};
	uint8_t narrow[4];
	cr_assert_eq(image_pixel_write_float(UNORM8, narrow, none), 0);
	cr_assert_eq(narrow[0], 0);
}

/* A step that is read and written stays the same step. */
Test(shared_image, C20_every_step_of_unorm_comes_back)
{
	for (uint32_t step = 0; step < 65536; step++) {
		const uint16_t stored[4] = {(uint16_t)step, (uint16_t)(65535 - step), 0, 65535};
		uint16_t again[4];
		float value[4];
		cr_assert_eq(image_pixel_read_float(UNORM16, stored, value), 0);
		cr_assert(value[0] >= 0 && value[0] <= 1);
		cr_assert_eq(image_pixel_write_float(UNORM16, again, value), 0);
		cr_assert_arr_eq(again, stored, sizeof(stored));
	}
}

Test(shared_image, S1_channels_lie_in_the_order_of_the_format)
{
	const uint8_t stored[4] = {51, 102, 153, 255};
	float value[4];

	cr_assert_eq(image_pixel_read_float(UNORM8, stored, value), 0);
	cr_assert(fabsf(value[0] - 0.2f) < 1e-6f && fabsf(value[2] - 0.6f) < 1e-6f);
	cr_assert_eq(image_pixel_read_float(BGRA, stored, value), 0);
	cr_assert(fabsf(value[0] - 0.6f) < 1e-6f && fabsf(value[1] - 0.4f) < 1e-6f &&
		  fabsf(value[2] - 0.2f) < 1e-6f && value[3] == 1.0f);
	uint8_t again[4];
	cr_assert_eq(image_pixel_write_float(BGRA, again, value), 0);
	cr_assert_arr_eq(again, stored, sizeof(stored));
}

Test(shared_image, C20_integers_are_limited)
{
	const int32_t value[4] = {INT32_MAX, INT32_MIN, -5, 300};
	const uint32_t large[4] = {UINT32_MAX, 256, 65536, 7};
	int32_t read[4];
	uint32_t read_unsigned[4];
	uint8_t stored[16];

	cr_assert_eq(image_pixel_write_int(SINT8, stored, value), 0);
	cr_assert_eq(image_pixel_read_int(SINT8, stored, read), 0);
	cr_assert(read[0] == 127 && read[1] == -128 && read[2] == -5 && read[3] == 127);
	cr_assert_eq(image_pixel_write_int(SINT16, stored, value), 0);
	cr_assert_eq(image_pixel_read_int(SINT16, stored, read), 0);
	cr_assert(read[0] == 32767 && read[1] == -32768 && read[2] == -5 && read[3] == 300);
	cr_assert_eq(image_pixel_write_int(SINT32, stored, value), 0);
	cr_assert_eq(image_pixel_read_int(SINT32, stored, read), 0);
	cr_assert_arr_eq(read, value, sizeof(value));
	cr_assert_eq(image_pixel_write_uint(UINT8, stored, large), 0);
	cr_assert_eq(image_pixel_read_uint(UINT8, stored, read_unsigned), 0);
	cr_assert(read_unsigned[0] == 255 && read_unsigned[1] == 255 && read_unsigned[2] == 255 &&
		  read_unsigned[3] == 7);
	cr_assert_eq(image_pixel_write_uint(UINT16, stored, large), 0);
	cr_assert_eq(image_pixel_read_uint(UINT16, stored, read_unsigned), 0);
	cr_assert(read_unsigned[0] == 65535 && read_unsigned[1] == 256 &&
		  read_unsigned[2] == 65535);
	cr_assert_eq(image_pixel_write_uint(UINT32, stored, large), 0);
	cr_assert_eq(image_pixel_read_uint(UINT32, stored, read_unsigned), 0);
	cr_assert_arr_eq(read_unsigned, large, sizeof(large));
}

Test(shared_image, G4_a_pixel_of_another_type_is_refused)
{
	uint8_t stored[16] = {0};
	float floats[4] = {0};
	int32_t ints[4] = {0};
	uint32_t unsigneds[4] = {0};

	for (uint32_t format = 0; format < 13; format++) {
		bool is_float = format == UNORM8 || format == UNORM16 || format == HALF ||
				format == FLOAT || format == BGRA;
		bool is_int = format >= SINT8 && format <= SINT32,
		     is_uint = format >= UINT8 && format <= UINT32;
		cr_assert_eq(image_format_is_float(format), is_float);
		cr_assert_eq(image_pixel_read_float(format, stored, floats),
			     is_float ? 0 : -EINVAL);
		cr_assert_eq(image_pixel_write_float(format, stored, floats),
			     is_float ? 0 : -EINVAL);
		cr_assert_eq(image_pixel_read_int(format, stored, ints), is_int ? 0 : -EINVAL);
		cr_assert_eq(image_pixel_write_int(format, stored, ints), is_int ? 0 : -EINVAL);
		cr_assert_eq(image_pixel_read_uint(format, stored, unsigneds),
			     is_uint ? 0 : -EINVAL);
		cr_assert_eq(image_pixel_write_uint(format, stored, unsigneds),
			     is_uint ? 0 : -EINVAL);
	}
}

Test(shared_image, C20_half_precision)
{
	static const struct {
		float value;
		uint16_t half;
	} table[] = {
		{0.0f, 0},
		{-0.0f, 0x8000},
		{1.0f, 0x3c00},
		{-2.0f, 0xc000},
		{65504.0f, 0x7bff},
		{65519.0f, 0x7bff},
		{65520.0f, 0x7c00},
		{1e30f, 0x7c00},
		{-INFINITY, 0xfc00},
		{0x1p-14f, 0x0400},
		{0x1p-24f, 0x0001},
		{0x1p-25f, 0},
		{0x1.8p-25f, 0x0001},
		{0x1.8p-24f, 0x0002},
		{1.0f + 0x1p-11f, 0x3c00},
		{1.0f + 0x1.8p-10f, 0x3c02},
		{1.0f + 0x1.1p-11f, 0x3c01},
		{0x1.ff8p-15f, 0x03ff},
		{0x1.ffcp-15f, 0x0400},
		{2047.5f, 0x6800},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		cr_assert_eq(image_float_to_half(table[i].value), table[i].half, "%a: %x",
			     (double)table[i].value, image_float_to_half(table[i].value));
	cr_assert(isnan(image_half_to_float(image_float_to_half(NAN))));
	/* Every half is a float, and converts back to itself. */
	for (uint32_t half = 0; half < 65536; half++) {
		float value = image_half_to_float((uint16_t)half);
		if (isnan(value))
			cr_assert((half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0);
		else
			cr_assert_eq(image_float_to_half(value), half);
	}
	cr_assert(image_half_to_float(0x3555) == 0x1.554p-2f);
	cr_assert(image_half_to_float(0x0001) == 0x1p-24f);
	cr_assert(isinf(image_half_to_float(0x7c00)));
}

/* 10, 20, 30, 40 in r; alpha 1. */
static const float row[4][4] = {{10, 0, 0, 1}, {20, 0, 0, 1}, {30, 0, 0, 1}, {40, 0, 0, 1}};

static float sample_row(enum image_addressing addressing, bool normalised, bool linear, float at,
			float *alpha_out)
{
	const struct image_view view = {
		.format = FLOAT, .dimensions = 1, .size = {4}, .bytes = row};
	const struct image_sampler sampler = {addressing, normalised, linear};
	float value[4];

	cr_assert_eq(image_sample_float(&view, &sampler, &at, value), 0);
	*alpha_out = value[3];
	return value[0];
}

Test(shared_image, G5_G6_S2_a_row_by_every_mode)
{
	enum { MIRROR = 1, REPEAT = 2, EDGE = 3, CLAMP = 4, NONE = 5 };
	static const struct {
		int addressing, normalised, linear;
		float at, r, a;
	} table[] = {
		/* nearest: the pixel that holds the coordinate */
		{EDGE, 0, 0, 0.0f, 10, 1},
		{EDGE, 0, 0, 1.99f, 20, 1},
		{EDGE, 0, 0, -9, 10, 1},
		{EDGE, 0, 0, 1e30f, 40, 1},
		{CLAMP, 0, 0, 3.99f, 40, 1},
		{CLAMP, 0, 0, 4.0f, 0, 0},
		{CLAMP, 0, 0, -0.01f, 0, 0},
		{NONE, 0, 0, 4.0f, 0, 0},
		{NONE, 0, 0, 2.5f, 30, 1},
		{CLAMP, 1, 0, 0.26f, 20, 1},
		{CLAMP, 1, 0, 1.0f, 0, 0},
		{EDGE, 1, 0, 1.0f, 40, 1},
		{REPEAT, 1, 0, 1.0f, 10, 1},
		{REPEAT, 1, 0, -0.1f, 40, 1},
		{REPEAT, 1, 0, 2.3f, 20, 1},
		{MIRROR, 1, 0, 1.1f, 40, 1},
		{MIRROR, 1, 0, -0.1f, 10, 1},
		{MIRROR, 1, 0, 2.3f, 20, 1},
		{MIRROR, 1, 0, -1.3f, 30, 1},
		/* G6: without normalised coordinates the two that wrap behave like the border */
		{REPEAT, 0, 0, 5.0f, 0, 0},
		{MIRROR, 0, 0, -1.0f, 0, 0},
		{REPEAT, 0, 0, 1.5f, 20, 1},
		/* linear: a mix of the neighbours of x - 0.5 */
		{EDGE, 0, 1, 1.0f, 15, 1},
		{EDGE, 0, 1, 1.25f, 17.5f, 1},
		{EDGE, 0, 1, 0.1f, 10, 1},
		{EDGE, 0, 1, 9, 40, 1},
		{CLAMP, 0, 1, 0.25f, 7.5f, 0.75f},
		{CLAMP, 0, 1, 4.0f, 20, 0.5f},
		{CLAMP, 0, 1, 4.6f, 0, 0},
		{CLAMP, 1, 1, 0.25f, 15, 1},
		{REPEAT, 1, 1, 1.0f, 25, 1},
		{REPEAT, 1, 1, 0.0625f, 17.5f, 1},
		{MIRROR, 1, 1, 1.0f, 40, 1},
		{MIRROR, 1, 1, -0.25f, 15, 1},
		{NONE, 0, 1, 0.0f, 5, 0.5f},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		float alpha = 0;
		float r = sample_row((enum image_addressing)table[i].addressing,
				     table[i].normalised, table[i].linear, table[i].at, &alpha);
		cr_assert(fabsf(r - table[i].r) < 1e-3f && fabsf(alpha - table[i].a) < 1e-4f,
			  "%zu: %g, %g", i, (double)r, (double)alpha);
	}
}

Test(shared_image, G5_G6_S2_what_is_no_number_lies_outside)
{
	for (int mode = 1; mode <= 5; mode++) {
		float alpha = 1;
		cr_assert_eq(sample_row((enum image_addressing)mode, true, false, NAN, &alpha), 0);
		cr_assert_eq(alpha, 0);
		(void)sample_row((enum image_addressing)mode, true, true, INFINITY, &alpha);
		(void)sample_row((enum image_addressing)mode, false, true, -1e30f, &alpha);
	}
}

/* A layer's number is neither normalised, repeated nor interpolated, whatever the sampler does with
 * the other coordinate. */
Test(shared_image, R8_a_sampler_stays_in_the_nearest_layer)
{
	static const float layers[3][2][4] = {{{1, 0, 0, 1}, {3, 0, 0, 1}},
					      {{10, 0, 0, 1}, {30, 0, 0, 1}},
					      {{100, 0, 0, 1}, {300, 0, 0, 1}}};
	static const struct {
		float layer, middle;
	} table[] = {{0, 2},      {1, 20},   {2, 200},   {3, 200},    {1e30f, 200}, {-1, 2},
		     {-1e30f, 2}, {0.4f, 2}, {0.6f, 20}, {1.5f, 200}, {NAN, 2}};
	const struct image_view view = {.format = FLOAT,
					.dimensions = 2,
					.is_layered = true,
					.size = {3, 2},
					.bytes = layers};
	for (uint32_t mode = IMAGE_ADDRESSING_MIRRORED_REPEAT; mode <= IMAGE_ADDRESSING_NONE;
	     mode++)
		for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
			for (int normalised = 0; normalised <= 1; normalised++) {
				const struct image_sampler sampler = {(enum image_addressing)mode,
								      normalised, true};
				const float at[2] = {table[i].layer, normalised ? 0.5f : 1.0f};
				float value[4];
				cr_assert_eq(image_sample_float(&view, &sampler, at, value), 0);
				cr_assert_float_eq(value[0], table[i].middle, 1e-4f,
						   "mode %u, layer %g: %g", mode,
						   (double)table[i].layer, (double)value[0]);
			}
}

/* The first coordinate is along the row. In the middle of 2 x 2 pixels the value is the mean of
 * all. */
Test(shared_image, G5_E3_coordinates_are_in_the_order_of_the_dimensions)
{
	static const uint8_t pixels[2][2][2][4] = {
		{{{0, 0, 0, 0}, {1, 0, 0, 0}}, {{0, 2, 0, 0}, {1, 2, 0, 0}}},
		{{{0, 0, 4, 0}, {1, 0, 4, 0}}, {{0, 2, 4, 0}, {1, 2, 4, 8}}},
	};
	const struct image_view view = {
		.format = UINT8, .dimensions = 3, .size = {2, 2, 2}, .bytes = pixels};
	const struct image_sampler sampler = {IMAGE_ADDRESSING_CLAMP, false, false};
	const float at[3] = {1.5f, 0.5f, 0.5f}, last[3] = {0.5f, 0.5f, 1.5f};
	uint32_t value[4];

	cr_assert_eq(image_sample_uint(&view, &sampler, at, value), 0);
	cr_assert(value[0] == 0 && value[1] == 0 && value[2] == 4);
	cr_assert_eq(image_sample_uint(&view, &sampler, last, value), 0);
	cr_assert(value[0] == 1 && value[1] == 0 && value[2] == 0);
	const struct image_view floats = {
		.format = UNORM8, .dimensions = 3, .size = {2, 2, 2}, .bytes = pixels};
	const struct image_sampler linear = {IMAGE_ADDRESSING_CLAMP, true, true};
	const float middle[3] = {0.5f, 0.5f, 0.5f};
	float mean[4];
	cr_assert_eq(image_sample_float(&floats, &linear, middle, mean), 0);
	cr_assert(fabsf(mean[0] - 0.5f / 255) < 1e-6f && fabsf(mean[1] - 1.0f / 255) < 1e-6f &&
		  fabsf(mean[2] - 2.0f / 255) < 1e-6f && fabsf(mean[3] - 1.0f / 255) < 1e-6f);
}

Test(shared_image, G5_integers_are_not_mixed)
{
	static const uint8_t pixels[2][4] = {{0xff, 1, 2, 3}, {4, 5, 6, 7}};
	struct image_view view = {.format = SINT8, .dimensions = 1, .size = {2}, .bytes = pixels};
	const struct image_sampler nearest = {IMAGE_ADDRESSING_CLAMP, false, false};
	const struct image_sampler linear = {IMAGE_ADDRESSING_CLAMP, false, true};
	const float at = 0.5f, outside = 2.5f;
	int32_t value[4];
	uint32_t bits[4];
	float none[4];

	cr_assert_eq(image_sample_int(&view, &nearest, &at, value), 0);
	cr_assert(value[0] == -1 && value[3] == 3);
	cr_assert_eq(image_sample_int(&view, &nearest, &outside, value), 0);
	cr_assert(value[0] == 0 && value[3] == 0);
	cr_assert_eq(image_sample_int(&view, &linear, &at, value), -EINVAL);
	cr_assert_eq(image_sample_uint(&view, &nearest, &at, bits), -EINVAL);
	cr_assert_eq(image_sample_float(&view, &nearest, &at, none), -EINVAL);
	view.format = UINT8;
	cr_assert_eq(image_sample_uint(&view, &linear, &at, bits), -EINVAL);
	cr_assert_eq(image_sample_uint(&view, &nearest, &at, bits), 0);
	cr_assert_eq(bits[0], 255);
}
