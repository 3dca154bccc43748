/* Layered images through the public functions, on every engine: what can be made, what is refused,
 * and host accesses. */
#include "library/portable.h"

#include <string.h>

TestSuite(image_layers, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum {
	LAYERS = 3,
	ROWS = 4,
	COLUMNS = 5,
	LAYER_BYTES = ROWS * COLUMNS * 4,
	IMAGE_BYTES = LAYERS * LAYER_BYTES
};

static struct sycl_image_options options_of(sycl_image_format format, sycl_range range)
{
	struct sycl_image_options options = SYCL_IMAGE_OPTIONS_INIT;
	options.format = format;
	options.range = range;
	options.layered = 1;
	return options;
}

static void expect_creation_refused(const struct sycl_image_options *options, sycl_result code)
{
	sycl_image none = NULL;
	REFUSED(sycl_image_create_with(platform, options, &none), code);
	cr_assert(eq(ptr, none, NULL));
}

Test(image_layers, R8_what_is_no_layered_image_is_refused)
{
	const sycl_range wrong[] = {sycl_range1(4),       sycl_range2(0, 4),
				    sycl_range3(2, 0, 4), sycl_range3((1u << 20) + 1, 1, 1),
				    {4, 0, {1, 1, 1}},    {2, 1, {1, 1, 1}}};
	struct sycl_image_options options;
	uint8_t host[IMAGE_BYTES] = {0};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		options = options_of(SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, wrong[i]);
		expect_creation_refused(&options, SYCL_ERROR_INVALID);
	}
	const struct sycl_image_options good =
		options_of(SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, sycl_range3(LAYERS, ROWS, COLUMNS));
	options = good;
	options.layered = 2;
	expect_creation_refused(&options, SYCL_ERROR_INVALID);
	options = good;
	options.struct_bytes--;
	expect_creation_refused(&options, SYCL_ERROR_INVALID);
	options = good;
	options.format = (sycl_image_format)12;
	expect_creation_refused(&options, SYCL_ERROR_INVALID);
	options = good;
	options.host = host;
	expect_creation_refused(&options, SYCL_ERROR_INVALID);
	options = good;
	options.kind = SYCL_HOST_BORROWED;
	expect_creation_refused(&options, SYCL_ERROR_INVALID);
	expect_creation_refused(NULL, SYCL_ERROR_INVALID);
	REFUSED(sycl_image_create_with(platform, &good, NULL), SYCL_ERROR_INVALID);
	options = options_of(SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT,
			     sycl_range3(1 << 20, 1 << 20, 1 << 20));
	expect_creation_refused(&options, SYCL_ERROR_QUOTA);
}

Test(image_layers, R8_an_image_tells_its_layers_and_counts_all_of_them)
{
	const struct sycl_image_options options = options_of(SYCL_IMAGE_FORMAT_R16B16G16A16_SFLOAT,
							     sycl_range3(LAYERS, ROWS, COLUMNS));
	sycl_image image = NULL;
	sycl_range range;
	uint64_t bytes = 0;
	uint32_t layers = 0;
	MUST(sycl_image_create_with(platform, &options, &image));
	MUST(sycl_image_get_layers(image, &layers));
	MUST(sycl_image_get_range(image, &range));
	MUST(sycl_image_get_size(image, &bytes));
	cr_assert(eq(u32, layers, LAYERS));
	cr_assert(range.dimensions == 3 && range.size[0] == LAYERS && range.size[1] == ROWS &&
		  range.size[2] == COLUMNS);
	cr_assert(eq(u64, bytes, IMAGE_BYTES * 2));
	REFUSED(sycl_image_get_layers(image, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_image_release(image));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM,
			       sycl_range3(LAYERS, ROWS, COLUMNS), NULL, SYCL_HOST_NONE, &image));
	MUST(sycl_image_get_layers(image, &layers));
	cr_assert(eq(u32, layers, 0));
	MUST(sycl_image_release(image));
}

Test(image_layers, R8_more_layers_than_the_device_has_are_refused_at_the_call)
{
	sycl_device device = portable_device(platform, 0);
	uint64_t limits[3] = {0};
	sycl_handler handler = NULL;
	for (uint32_t i = 0; i < 3; i++) {
		MUST(sycl_device_get_info(
			device, (sycl_device_info)(SYCL_DEVICE_INFO_IMAGE_LAYERED_MAX_WIDTH + i),
			sizeof(limits[i]), &limits[i], NULL));
		cr_assert(gt(u64, limits[i], 0));
	}
	MUST(sycl_device_release(device));
	MUST(sycl_handler_begin(queue, &handler));
	const sycl_range ranges[] = {
		sycl_range3(2, 1, limits[0] + 1), sycl_range3(2, limits[1] + 1, 1),
		sycl_range3(limits[2] + 1, 1, 1), sycl_range2(limits[2] + 1, 1)};
	for (uint32_t i = 0; i < 4; i++) {
		const struct sycl_image_options options =
			options_of(SYCL_IMAGE_FORMAT_R8G8B8A8_UINT, ranges[i]);
		sycl_image image = NULL;
		MUST(sycl_image_create_with(platform, &options, &image));
		REFUSED(sycl_handler_set_image(handler, 0, image, SYCL_ACCESS_READ),
			SYCL_ERROR_INVALID);
		MUST(sycl_image_release(image));
	}
	MUST(sycl_handler_discard(handler));
}

/* Layers are copied by the device and back, and into the host memory of the image. */
Test(image_layers, R8_all_layers_are_copied_and_written_back)
{
	uint8_t first[IMAGE_BYTES], last[IMAGE_BYTES] = {0};
	struct sycl_image_options options =
		options_of(SYCL_IMAGE_FORMAT_R8G8B8A8_UINT, sycl_range3(LAYERS, ROWS, COLUMNS));
	sycl_image from = NULL, to = NULL, volume = NULL;
	sycl_handler handler = NULL;
	for (int i = 0; i < IMAGE_BYTES; i++)
		first[i] = (uint8_t)(i * 7 + 1);
	options.host = first;
	options.kind = SYCL_HOST_CONST;
	MUST(sycl_image_create_with(platform, &options, &from));
	options.host = last;
	options.kind = SYCL_HOST_BORROWED;
	MUST(sycl_image_create_with(platform, &options, &to));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UINT,
			       sycl_range3(LAYERS, ROWS, COLUMNS), NULL, SYCL_HOST_NONE, &volume));
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_copy_image(handler, from, volume), SYCL_ERROR_INVALID);
	MUST(sycl_handler_copy_image(handler, from, to));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_image_release(to));
	cr_assert(eq(int, memcmp(first, last, sizeof(first)), 0));
	MUST(sycl_image_release(from));
	MUST(sycl_image_release(volume));
}

/* Layers of two pixels: 10, 20; 30, 40; 50, 60. */
Test(image_layers, R8_the_host_reads_writes_and_samples_one_layer)
{
	struct sycl_image_options options =
		options_of(SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT, sycl_range2(LAYERS, 2));
	const sycl_sampler sampler = sycl_sampler_create(
		SYCL_ADDRESSING_REPEAT, SYCL_COORDINATE_NORMALIZED, SYCL_FILTERING_LINEAR);
	static const struct {
		float at[2], value;
	} points[] = {{{0, 0.5f}, 15},  {{1, 0.5f}, 35},  {{2, 0.25f}, 50},
		      {{2, 1.25f}, 50}, {{7, 0.25f}, 50}, {{-1, 0.75f}, 20}};
	const uint64_t outside[] = {LAYERS, 0};
	sycl_image image = NULL;
	sycl_host_image accessor = NULL;
	float value[4] = {0};
	MUST(sycl_image_create_with(platform, &options, &image));
	MUST(sycl_host_image_create(image, SYCL_ACCESS_READ_WRITE, &accessor));
	for (uint64_t i = 0; i < LAYERS * 2; i++) {
		const uint64_t index[] = {i / 2, i % 2};
		const float written[4] = {10 + 10 * (float)i, 0, 0, 1};
		MUST(sycl_host_image_write_float(accessor, index, written));
		MUST(sycl_host_image_read_float(accessor, index, value));
		cr_assert(value[0] == written[0]);
	}
	REFUSED(sycl_host_image_read_float(accessor, outside, value), SYCL_ERROR_INVALID);
	for (uint32_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
		MUST(sycl_host_image_sample_float(accessor, &sampler, points[i].at, value));
		cr_assert(value[0] == points[i].value, "point %u: %g", i, (double)value[0]);
	}
	MUST(sycl_host_image_release(accessor));
	MUST(sycl_image_release(image));
}
