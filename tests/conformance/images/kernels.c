/* Kernels that read and write images, in the portable form: conversions, orientation, arguments. */
#include "images/support.h"

#include "image_pixel.h"
#include "status.h"

#include <math.h>
#include <stdio.h>

TestSuite(image_kernels, .timeout = 120);

/*
 * For each type there is a kernel that writes an image from a buffer and one that reads it into
 * one, in 1 to 3 dimensions. A source is compiled for each number of dimensions. A kernel may only
 * request its own number.
 */
#define KERNELS(type, n, places)                                                                   \
	"SYCL_KERNEL void write_" #type "_" #n "(SYCL_IMAGE_WRITE_" #n                             \
	"D(image), SYCL_GLOBAL(const " #type ") from) {\n"                                         \
	"  ulong at = 4 * sycl_global_linear_id();\n"                                              \
	"  sycl_image_write_" #type "_" #n "d(image, " places ", sycl_" #type                      \
	"4(from[at], from[at + 1], from[at + 2], from[at + 3]));\n}\n"                             \
	"SYCL_KERNEL void read_" #type "_" #n "(SYCL_IMAGE_READ_" #n                               \
	"D(image), SYCL_GLOBAL(" #type ") to) {\n"                                                 \
	"  ulong at = 4 * sycl_global_linear_id();\n"                                              \
	"  " #type "4 v = sycl_image_read_" #type "_" #n "d(image, " places ");\n"                 \
	"  to[at] = v.x; to[at + 1] = v.y; to[at + 2] = v.z; to[at + 3] = v.w;\n}\n"
#define ONE       "sycl_global_id(0)"
#define TWO       "sycl_global_id(0), SECOND"
#define THREE     "sycl_global_id(0), SECOND, THIRD"
#define ALL(type) KERNELS(type, 1, ONE) KERNELS(type, 2, TWO) KERNELS(type, 3, THREE)

static const char source[] =
	"#if SYCL_DIMENSIONS > 1\n#define SECOND sycl_global_id(1)\n#else\n#define SECOND 0\n#endif\n"
	"#if SYCL_DIMENSIONS > 2\n#define THIRD sycl_global_id(2)\n#else\n#define THIRD 0\n#endif\n" ALL(
		float) ALL(int) ALL(uint);

static const uint64_t sizes[3][3] = {{24}, {4, 6}, {2, 3, 4}};
#define PIXELS 24u

static const char *images_kernels_list_type_of(uint32_t format)
{
	switch (image_format_find(format)->channel) {
	case IMAGE_CHANNEL_SINT:
		return "int";
	case IMAGE_CHANNEL_UINT:
		return "uint";
	default:
		return "float";
	}
}

static void images_kernels_list_use_kernel(struct images *images, const char *verb, uint32_t format,
					   uint32_t dimensions)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%s_%s_%u", verb, images_kernels_list_type_of(format),
		       dimensions);
	images_use(images, name);
}

/* Makes the values to write: in the range of the format, and beyond it. */
static void make_values(uint32_t format, uint32_t values[PIXELS * 4])
{
	static const float floats[] = {0.0f,   1.0f,    0.5f,    -0.25f,      1.5f,   0.2f,
				       0.333f, 0.9999f, 0.1234f, 0.00001525f, 0.749f, 0.875f,
				       0.01f,  0.99f,   100.0f,  -3.0f};
	static const int32_t ints[] = {0,      1,     -1,        127,      128,    -128,
				       -129,   255,   32767,     32768,    -32768, 40000,
				       -70000, 65535, INT32_MAX, INT32_MIN};

	for (uint32_t i = 0; i < PIXELS * 4; i++) {
		if (image_format_is_float(format))
			memcpy(&values[i], &floats[(i * 7 + format) % 16], 4);
		else
			values[i] = (uint32_t)ints[(i * 5 + format) % 16];
	}
}

static void store_all(uint32_t format, const uint32_t *values, uint8_t *bytes)
{
	uint32_t pixel = image_pixel_bytes(format);

	for (uint32_t i = 0; i < PIXELS; i++) {
		float floats[4];
		int32_t ints[4];
		memcpy(floats, &values[i * 4], sizeof(floats));
		memcpy(ints, &values[i * 4], sizeof(ints));
		if (image_format_is_float(format))
			cr_assert_eq(image_pixel_write_float(format, bytes + i * pixel, floats), 0);
		else if (strcmp(images_kernels_list_type_of(format), "int") == 0)
			cr_assert_eq(image_pixel_write_int(format, bytes + i * pixel, ints), 0);
		else
			cr_assert_eq(
				image_pixel_write_uint(format, bytes + i * pixel, &values[i * 4]),
				0);
	}
}

static void check_read(uint32_t format, const uint8_t *bytes, const uint32_t *got)
{
	uint32_t pixel = image_pixel_bytes(format);

	for (uint32_t i = 0; i < PIXELS; i++) {
		uint32_t wanted[4] = {0};
		float floats[4], read[4];
		memcpy(read, &got[i * 4], sizeof(read));
		if (image_format_is_float(format)) {
			cr_assert_eq(image_pixel_read_float(format, bytes + i * pixel, floats), 0);
			for (int c = 0; c < 4; c++)
				cr_assert_lt(fabsf(floats[c] - read[c]), 1e-6f,
					     "format %u, pixel %u: %g, not %g", format, i,
					     (double)read[c], (double)floats[c]);
			continue;
		}
		if (strcmp(images_kernels_list_type_of(format), "int") == 0)
			cr_assert_eq(
				image_pixel_read_int(format, bytes + i * pixel, (int32_t *)wanted),
				0);
		else
			cr_assert_eq(image_pixel_read_uint(format, bytes + i * pixel, wanted), 0);
		cr_assert_arr_eq(&got[i * 4], wanted, sizeof(wanted), "format %u, pixel %u", format,
				 i);
	}
}

/* Through the kernel and back: the stored bytes, and the values that are read, are those of the
 * table. */
static void convert(struct images *images, uint32_t format, uint32_t dimensions)
{
	const struct backend_ops *ops = images->fixture.ops;
	const uint64_t *size = sizes[dimensions - 1];
	struct backend_image image =
		images_describe((enum backend_image_format)format, dimensions, size);
	uint32_t values[PIXELS * 4], got[PIXELS * 4] = {0};
	uint8_t wanted[PIXELS * 16], stored[PIXELS * 16] = {0};

	make_values(format, values);
	store_all(format, values, wanted);
	struct backend_memory *memory = images_make(images, &image);
	struct backend_memory *buffer = fixture_memory(&images->fixture, sizeof(values), NULL);
	fixture_write(&images->fixture, buffer, 0, values, sizeof(values));
	images_kernels_list_use_kernel(images, "write", format, dimensions);
	const struct backend_argument write[] = {images_argument(memory, true),
						 global_argument(buffer)};
	images_launch(images, dimensions, size, write, 2);
	images_read(images, memory, &image, stored);
	for (uint64_t i = 0; i < images_bytes(&image); i++)
		cr_assert_eq(stored[i], wanted[i],
			     "format %u of %u dimensions, byte %lu: %u, not %u", format, dimensions,
			     (unsigned long)i, stored[i], wanted[i]);
	images_kernels_list_use_kernel(images, "read", format, dimensions);
	const struct backend_argument read[] = {images_argument(memory, false),
						global_argument(buffer)};
	images_launch(images, dimensions, size, read, 2);
	fixture_read(&images->fixture, buffer, 0, got, sizeof(got));
	check_read(format, stored, got);
	ops->memory_free(memory);
	ops->memory_free(buffer);
}

static void convert_all(uint32_t dimensions)
{
	struct images images;

	images_open(&images, source, "write_float_1");
	for (uint32_t format = 1; format <= IMAGE_FORMAT_COUNT; format++)
		convert(&images, format, dimensions);
	images_close(&images);
}

Test(image_kernels, C20_G4_S1_pixels_are_converted_in_1_dimension)
{
	convert_all(1);
}

Test(image_kernels, C20_G4_S1_E3_pixels_are_converted_in_2_dimensions)
{
	convert_all(2);
}

Test(image_kernels, C20_G4_S1_E3_pixels_are_converted_in_3_dimensions)
{
	convert_all(3);
}

Test(image_kernels, E3_an_image_tells_its_range_in_the_order_of_its_dimensions)
{
	static const char ranges[] =
		"SYCL_KERNEL void ranges(SYCL_IMAGE_READ_1D(a), SYCL_IMAGE_WRITE_2D(b), SYCL_IMAGE_SAMPLED_3D(c), "
		"SYCL_GLOBAL(uint) to) {\n"
		"  to[0] = sycl_image_range_1d(a, 0);\n"
		"  for (int d = 0; d < 2; d++) to[1 + d] = sycl_image_range_2d(b, d);\n"
		"  for (int d = 0; d < 3; d++) to[3 + d] = sycl_image_range_3d(c, d);\n"
		"}\n";
	const uint64_t one[] = {1}, size_1[] = {9}, size_2[] = {5, 8}, size_3[] = {2, 4, 7};
	const uint32_t wanted[] = {9, 5, 8, 2, 4, 7};
	uint32_t got[6] = {0};
	struct images images;
	struct backend_image a = images_describe(1, 1, size_1), b = images_describe(6, 2, size_2);
	struct backend_image c = images_describe(9, 3, size_3);

	images_open(&images, ranges, "ranges");
	struct backend_memory *memories[] = {images_make(&images, &a), images_make(&images, &b),
					     images_make(&images, &c),
					     fixture_memory(&images.fixture, sizeof(got), NULL)};
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};
	const struct backend_argument arguments[] = {
		images_argument(memories[0], false), images_argument(memories[1], true),
		images_sampled(memories[2], sampler), global_argument(memories[3])};
	images_launch(&images, 1, one, arguments, 4);
	fixture_read(&images.fixture, memories[3], 0, got, sizeof(got));
	cr_assert_arr_eq(got, wanted, sizeof(wanted));
	for (int i = 0; i < 4; i++)
		images.fixture.ops->memory_free(memories[i]);
	images_close(&images);
}

Test(image_kernels, E14_a_sampled_image_is_one_argument_among_others)
{
	static const char mixed[] =
		"float4 twice(SYCL_IMAGE_SAMPLED_1D(inner), float at) { return sycl_image_sample_float_1d(inner, at); "
		"}\n"
		"SYCL_KERNEL void mixed(float add, "
		"SYCL_IMAGE_SAMPLED_1D(a_rather_long_name_for_an_image_that_is_sampled_here), "
		"int scale, SYCL_IMAGE_SAMPLED_1D(b), SYCL_GLOBAL(float) to) {\n"
		"  float4 v = sycl_image_sample_float_1d(a_rather_long_name_for_an_image_that_is_sampled_here, 0.5f);\n"
		"  float4 w = twice(SYCL_SAMPLED(b), 0.5f);\n"
		"  to[0] = v.x * scale + w.x + add;\n}\n";
	const uint64_t one[] = {1}, size[] = {1};
	const float pixel_a[] = {3, 0, 0, 0}, pixel_b[] = {20, 0, 0, 0}, add = 100;
	const int32_t scale = 2;
	float got = 0;
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R32G32B32A32_SFLOAT, 1, size);

	images_open(&images, mixed, "mixed");
	struct backend_kernel_facts facts;
	images.fixture.ops->kernel_facts(images.kernel, &facts);
	cr_assert_eq(facts.argument_count, 5);
	cr_assert_eq(facts.arguments[1].kind, BACKEND_ARGUMENT_IMAGE);
	cr_assert_eq(facts.arguments[2].kind, BACKEND_ARGUMENT_VALUE);
	cr_assert_eq(facts.arguments[4].kind, BACKEND_ARGUMENT_GLOBAL);
	struct backend_memory *a = images_make(&images, &image), *b = images_make(&images, &image);
	struct backend_memory *to = fixture_memory(&images.fixture, sizeof(got), NULL);
	images_write(&images, a, &image, pixel_a);
	images_write(&images, b, &image, pixel_b);
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};
	const struct backend_argument arguments[] = {
		value_argument(&add, sizeof(add)), images_sampled(a, sampler),
		value_argument(&scale, sizeof(scale)), images_sampled(b, sampler),
		global_argument(to)};
	images_launch(&images, 1, one, arguments, 5);
	fixture_read(&images.fixture, to, 0, &got, sizeof(got));
	cr_assert_float_eq(got, 126, 0);
	images.fixture.ops->memory_free(a);
	images.fixture.ops->memory_free(b);
	images.fixture.ops->memory_free(to);
	images_close(&images);
}

Test(image_kernels, E14_E22_an_argument_of_another_kind_is_refused)
{
	static const char kinds[] =
		"SYCL_KERNEL void reads(SYCL_IMAGE_READ_2D(a)) { (void)sycl_image_read_float_2d(a, 0, 0); }\n"
		"SYCL_KERNEL void writes(SYCL_IMAGE_WRITE_2D(a)) {\n"
		"  sycl_image_write_float_2d(a, 0, 0, sycl_float4(0, 0, 0, 0)); }\n"
		"SYCL_KERNEL void samples(SYCL_IMAGE_SAMPLED_2D(a)) { (void)sycl_image_sample_float_2d(a, 0, 0); }\n"
		"SYCL_KERNEL void points(SYCL_GLOBAL(float) a) { a[0] = 1; }\n"
		"SYCL_KERNEL void numbers(ulong a) { (void)a; }\n";
	const uint64_t size_2[] = {2, 2}, size_1[] = {4};
	struct images images;
	struct backend_image flat = images_describe(1, 2, size_2),
			     line = images_describe(1, 1, size_1);
	struct backend_image integers = images_describe(3, 2, size_2);
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};
	const struct backend_sampler linear = {.addressing = BACKEND_ADDRESSING_CLAMP,
					       .linear = true};

	images_open(&images, kinds, "reads");
	struct backend_memory *image = images_make(&images, &flat),
			      *other = images_make(&images, &line);
	struct backend_memory *ints = images_make(&images, &integers);
	struct backend_memory *buffer = fixture_memory(&images.fixture, 64, NULL);
	const struct backend_argument as_image = images_argument(image, true),
				      as_read = images_argument(image, false);
	const struct backend_argument as_other = images_argument(other, true),
				      as_sampled = images_sampled(image, sampler);
	const struct backend_argument as_linear = images_sampled(ints, linear),
				      as_buffer = global_argument(buffer);
	const struct backend_argument as_pointer = global_argument(image),
				      not_image = images_argument(buffer, true);
	const struct {
		const char *kernel;
		const struct backend_argument *argument;
	} wrong[] = {
		{"reads", &as_buffer},   {"reads", &as_other},    {"reads", &as_sampled},
		{"reads", &not_image},   {"writes", &as_read},    {"writes", &as_other},
		{"writes", &as_sampled}, {"writes", &as_buffer},  {"samples", &as_image},
		{"samples", &as_linear}, {"samples", &as_buffer}, {"points", &as_image},
		{"points", &as_pointer}, {"points", &as_sampled}, {"numbers", &as_image},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		images_use(&images, wrong[i].kernel);
		images_launch_fails(&images, wrong[i].argument, 1, STATUS_KERNEL_ARGUMENT);
	}
	images_use(&images, "reads");
	const uint64_t one[] = {1};
	images_launch(&images, 1, one, &as_read, 1);
	images_use(&images, "writes");
	images_launch(&images, 1, one, &as_image, 1);
	struct backend_memory *const all[] = {image, other, ints, buffer};
	for (int i = 0; i < 4; i++)
		images.fixture.ops->memory_free(all[i]);
	images_close(&images);
}
