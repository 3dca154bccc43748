/* Kernels that read, write and sample layers, in the portable form. The host computes the same
 * pixels for comparison. */
#include "images/support.h"

#include "image_pixel.h"
#include "image_sample.h"
#include "status.h"

#include <math.h>
#include <stdio.h>

TestSuite(image_layers_kernels, .timeout = 240);

enum { LAYERS = 5 };

/* Layers of one dimension and of two. */
static const uint64_t sizes[2][3] = {{LAYERS, 24}, {LAYERS, 4, 6}};
#define PIXELS (LAYERS * 24u)

static struct backend_image layers_kernels_layered(enum backend_image_format format, uint32_t of)
{
	struct backend_image image = images_describe(format, of + 1, sizes[of - 1]);

	image.is_layered = true;
	return image;
}

/* A work-item for each pixel reads it and writes it into the other image, with the layers in
 * reverse. */
#define TURN(type, n, columns, places)                                                             \
	"SYCL_KERNEL void turn_" #type "_" #n "(SYCL_IMAGE_READ_" #n                               \
	"D_LAYERED(from), SYCL_IMAGE_WRITE_" #n                                                    \
	"D_LAYERED(to)) {\n  ulong id = sycl_global_id(0), layer = id / 24, at = id % 24;\n"       \
	"  uint layers = sycl_image_range_" #n                                                     \
	"d_layered(from, 0), columns = sycl_image_range_" #n "d_layered(from, " #n ");\n"          \
	"  if (layers == 5 && columns == " columns ")\n"                                           \
	"    sycl_image_write_" #type "_" #n "d_layered(to, layers - 1 - layer, " places           \
	", sycl_image_read_" #type "_" #n "d_layered(from, layer, " places "));\n}\n"
#define TURN_BOTH(type) TURN(type, 1, "24", "at") TURN(type, 2, "6", "at / 6, at % 6")

/* The coordinates of a place follow each other, with the layer's number among them as a float. */
#define SAMPLE(type, n, places)                                                                    \
	"SYCL_KERNEL void sample_" #type "_" #n "(SYCL_IMAGE_SAMPLED_" #n                          \
	"D_LAYERED(image), SYCL_GLOBAL(const float) at, SYCL_GLOBAL(" #type ") to) {\n"            \
	"  ulong i = sycl_global_id(0) * (" #n " + 1);\n"                                          \
	"  " #type "4 v = sycl_image_sample_" #type "_" #n "d_layered(image, (int)at[i], " places  \
	");\n"                                                                                     \
	"  i = sycl_global_id(0) * 4;\n  to[i] = v.x; to[i + 1] = v.y; to[i + 2] = v.z; to[i + 3] = v.w;\n}\n"
#define SAMPLE_BOTH(type) SAMPLE(type, 1, "at[i + 1]") SAMPLE(type, 2, "at[i + 1], at[i + 2]")

static const char source[] = TURN_BOTH(float) TURN_BOTH(int) TURN_BOTH(uint) SAMPLE_BOTH(float)
	SAMPLE_BOTH(int) SAMPLE_BOTH(uint);

static const char *layers_kernels_type_of(uint32_t format)
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

static void layers_kernels_use_kernel(struct images *images, const char *verb, uint32_t format,
				      uint32_t of)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%s_%s_%u", verb, layers_kernels_type_of(format), of);
	images_use(images, name);
}

/* Floats are numbers from 0 to 1, because noise might be NaN. */
static uint8_t *pixels_of(const struct backend_image *image)
{
	const uint64_t bytes = images_bytes(image);
	uint8_t *pixels = images_noise(bytes, image->format);

	for (uint64_t i = 0; image->format == BACKEND_IMAGE_R32G32B32A32_SFLOAT && i < bytes / 4;
	     i++) {
		float value = (float)pixels[4 * i] / 255.0f;
		memcpy(pixels + 4 * i, &value, 4);
	}
	for (uint64_t i = 0; image->format == BACKEND_IMAGE_R16G16B16A16_SFLOAT && i < bytes / 2;
	     i++)
		pixels[2 * i + 1] = (uint8_t)(0x30 + pixels[2 * i + 1] % 12);
	return pixels;
}

static void turn_layer(struct images *images, enum backend_image_format format, uint32_t of)
{
	const struct backend_image image = layers_kernels_layered(format, of);
	const uint64_t bytes = images_bytes(&image), layer = bytes / LAYERS, items[] = {PIXELS};
	uint8_t *pixels = pixels_of(&image), *got = calloc(1, bytes);
	struct backend_memory *from = images_make(images, &image),
			      *to = images_make(images, &image);
	const struct backend_argument arguments[] = {images_argument(from, false),
						     images_argument(to, true)};

	cr_assert_not_null(got);
	layers_kernels_use_kernel(images, "turn", format, of);
	images_write(images, from, &image, pixels);
	images_launch(images, 1, items, arguments, 2);
	images_read(images, to, &image, got);
	for (uint32_t i = 0; i < LAYERS; i++)
		cr_assert_eq(memcmp(got + i * layer, pixels + (LAYERS - 1 - i) * layer, layer), 0,
			     "format %d, layer %u of %u dimensions", format, i, of);
	images->fixture.ops->memory_free(from);
	images->fixture.ops->memory_free(to);
	free(pixels);
	free(got);
}

Test(image_layers_kernels, R8_kernels_read_and_write_layers_of_all_formats)
{
	struct images images;

	images_open(&images, source, "turn_float_1");
	for (uint32_t format = 1; format <= IMAGE_FORMAT_COUNT; format++)
		for (uint32_t of = 1; of <= 2; of++)
			turn_layer(&images, (enum backend_image_format)format, of);
	images_close(&images);
}

#define POINTS 60u

/* Parts of the size, away from the border of two pixels, where rounding decides. */
static const float places[] = {0.03f, 0.11f,  0.29f,  0.47f,  0.57f,  0.71f, 0.93f,
			       0.97f, -0.03f, -0.33f, -0.97f, -1.21f, 1.03f, 1.33f,
			       1.89f, 2.11f,  3.47f,  -2.55f, -7.87f, 9.13f};
#define PLACES (sizeof(places) / sizeof(*places))
/* These include numbers that no layer has. */
static const float numbers[] = {0, 3, 1, 4, 2, -1, 5, 77, -300};
#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

static void layers_kernels_make_points(const struct backend_image *image, bool normalised,
				       float *at)
{
	for (uint32_t i = 0; i < POINTS; i++, at += image->dimensions) {
		at[0] = numbers[i % NUMBERS];
		for (uint32_t d = 1; d < image->dimensions; d++) {
			float part = places[(i * (d + 1) + 3 * d + i / PLACES) % PLACES];
			at[d] = normalised ? part : part * (float)image->size[d];
		}
	}
}

/* The same bits as the host's. Floats may differ a little: weights may have 8 bits. */
static bool is_right(const struct image_view *view, const struct backend_sampler *given,
		     const float *at, const uint32_t got[4])
{
	const struct image_sampler sampler = {(enum image_addressing)given->addressing,
					      given->normalised, given->linear};
	float wanted[4], read[4], allowed = given->linear ? 2.0f / 256.0f + 1e-4f : 1e-6f;
	uint32_t words[4] = {0};
	bool right = true;

	if (!image_format_is_float(view->format)) {
		if (image_format_find(view->format)->channel == IMAGE_CHANNEL_SINT)
			cr_assert_eq(image_sample_int(view, &sampler, at, (int32_t *)words), 0);
		else
			cr_assert_eq(image_sample_uint(view, &sampler, at, words), 0);
		return memcmp(got, words, sizeof(words)) == 0;
	}
	cr_assert_eq(image_sample_float(view, &sampler, at, wanted), 0);
	memcpy(read, got, sizeof(read));
	for (int c = 0; c < 4; c++)
		right &= fabsf(read[c] - wanted[c]) <= allowed;
	return right;
}

static uint32_t layers_launch_sample(struct images *images, enum backend_image_format format,
				     uint32_t of, struct backend_sampler sampler)
{
	const struct backend_ops *ops = images->fixture.ops;
	const struct backend_image image = layers_kernels_layered(format, of);
	const uint64_t points[] = {POINTS};
	uint8_t *pixels = pixels_of(&image);
	struct image_view view = {
		.format = format, .dimensions = of + 1, .is_layered = true, .bytes = pixels};
	float at[POINTS * 3];
	uint32_t got[POINTS * 4] = {0}, wrong = 0;

	memcpy(view.size, image.size, sizeof(view.size));
	layers_kernels_make_points(&image, sampler.normalised, at);
	layers_kernels_use_kernel(images, "sample", format, of);
	struct backend_memory *memory = images_make(images, &image);
	struct backend_memory *in = fixture_memory(&images->fixture, sizeof(at), NULL);
	struct backend_memory *out = fixture_memory(&images->fixture, sizeof(got), NULL);
	images_write(images, memory, &image, pixels);
	fixture_write(&images->fixture, in, 0, at, sizeof(at));
	const struct backend_argument arguments[] = {images_sampled(memory, sampler),
						     global_argument(in), global_argument(out)};
	images_launch(images, 1, points, arguments, 3);
	fixture_read(&images->fixture, out, 0, got, sizeof(got));
	for (uint32_t i = 0; i < POINTS; i++) {
		if (is_right(&view, &sampler, &at[i * (of + 1)], &got[i * 4]))
			continue;
		if (wrong++ == 0)
			cr_log_error(
				"format %d, layers of %u dimensions, addressing %d, normalised %d, linear %d: point %u",
				format, of, sampler.addressing, sampler.normalised, sampler.linear,
				i);
	}
	ops->memory_free(memory);
	ops->memory_free(in);
	ops->memory_free(out);
	free(pixels);
	return wrong;
}

Test(image_layers_kernels, R8_every_sampler_stays_in_its_layer)
{
	static const enum backend_image_format formats[] = {
		BACKEND_IMAGE_R32G32B32A32_SFLOAT, BACKEND_IMAGE_B8G8R8A8_UNORM,
		BACKEND_IMAGE_R16G16B16A16_SINT, BACKEND_IMAGE_R8G8B8A8_UINT};
	struct images images;
	uint32_t wrong = 0;

	images_open(&images, source, "sample_float_1");
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t of = 1; of <= 2; of++)
			for (uint32_t mode = BACKEND_ADDRESSING_MIRRORED_REPEAT;
			     mode <= BACKEND_ADDRESSING_NONE; mode++)
				for (uint32_t bits = 0;
				     bits < (image_format_is_float(formats[i]) ? 4u : 2u); bits++)
					wrong += layers_launch_sample(
						&images, formats[i], of,
						(struct backend_sampler){
							(enum backend_addressing)mode,
							(bits & 1) != 0, (bits & 2) != 0});
	images_close(&images);
	cr_assert_eq(wrong, 0, "%u points are wrong; the first ones are above", wrong);
}

/* Drivers do not check this. */
Test(image_layers_kernels, R8_a_kernel_of_layers_gets_them_and_no_other_image)
{
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};
	struct images images;
	const struct backend_image planes = layers_kernels_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 2);
	const struct backend_image rows = layers_kernels_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 1);
	const struct backend_image volume =
		images_describe(BACKEND_IMAGE_R8G8B8A8_UNORM, 3, sizes[1]);

	images_open(&images, source, "turn_float_2");
	struct backend_memory *good = images_make(&images, &planes);
	struct backend_memory *const wrong[] = {images_make(&images, &rows),
						images_make(&images, &volume)};
	struct backend_memory *to = fixture_memory(&images.fixture, 64, NULL);
	for (int i = 0; i < 2; i++) {
		const struct backend_argument read[] = {images_argument(wrong[i], false),
							images_argument(good, true)};
		const struct backend_argument written[] = {images_argument(good, false),
							   images_argument(wrong[i], true)};
		images_launch_fails(&images, read, 2, STATUS_KERNEL_ARGUMENT);
		images_launch_fails(&images, written, 2, STATUS_KERNEL_ARGUMENT);
	}
	images_use(&images, "sample_float_2");
	const struct backend_argument other[] = {images_sampled(wrong[1], sampler),
						 global_argument(to), global_argument(to)};
	const struct backend_argument without[] = {images_argument(good, false),
						   global_argument(to), global_argument(to)};
	images_launch_fails(&images, other, 3, STATUS_KERNEL_ARGUMENT);
	images_launch_fails(&images, without, 3, STATUS_KERNEL_ARGUMENT);
	images.fixture.ops->memory_free(good);
	images.fixture.ops->memory_free(wrong[0]);
	images.fixture.ops->memory_free(wrong[1]);
	images.fixture.ops->memory_free(to);
	images_close(&images);
}

static const char handed_on[] =
	"static float4 mix_two(SYCL_IMAGE_SAMPLED_1D_LAYERED(image), int layer, float i) {\n"
	"  return sycl_image_sample_float_1d_layered(image, layer, i);\n}\n"
	"SYCL_KERNEL void middle(SYCL_IMAGE_SAMPLED_1D_LAYERED(image), SYCL_GLOBAL(float) to) {\n"
	"  int layer = (int)sycl_global_id(0);\n"
	"  to[layer] = mix_two(SYCL_SAMPLED_LAYERED(image), layer, 0.5f).x;\n}\n";

/* Two pixels of a layer, and the middle between them. */
Test(image_layers_kernels, R8_a_sampled_layer_is_handed_on_to_a_function)
{
	const uint64_t size[] = {3, 2}, layers[] = {3};
	const float pixels[24] = {[0] = 1, [4] = 3, [8] = 10, [12] = 30, [16] = 100, [20] = 300};
	const struct backend_sampler sampler = {
		.addressing = BACKEND_ADDRESSING_CLAMP_TO_EDGE, .normalised = true, .linear = true};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R32G32B32A32_SFLOAT, 2, size);
	float got[3] = {0};

	image.is_layered = true;
	images_open(&images, handed_on, "middle");
	struct backend_memory *memory = images_make(&images, &image);
	struct backend_memory *to = fixture_memory(&images.fixture, sizeof(got), NULL);
	const struct backend_argument arguments[] = {images_sampled(memory, sampler),
						     global_argument(to)};
	images_write(&images, memory, &image, pixels);
	images_launch(&images, 1, layers, arguments, 2);
	fixture_read(&images.fixture, to, 0, got, sizeof(got));
	cr_assert_float_eq(got[0], 2, 0.02f);
	cr_assert_float_eq(got[1], 20, 0.2f);
	cr_assert_float_eq(got[2], 200, 2);
	images.fixture.ops->memory_free(memory);
	images.fixture.ops->memory_free(to);
	images_close(&images);
}
