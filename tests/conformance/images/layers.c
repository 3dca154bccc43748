/* Layered images as memory: what can be made, what is moved, and what is refused. On every
 * backend. */
#include "images/support.h"

#include "status.h"

#include <errno.h>

TestSuite(image_layers, .timeout = 120);

static struct backend_image layers_layered(enum backend_image_format format, uint32_t dimensions,
					   const uint64_t *size)
{
	struct backend_image image = images_describe(format, dimensions, size);

	image.is_layered = true;
	return image;
}

static void layers_round_trip(struct images *images, const struct backend_image *image)
{
	struct backend_memory *memory = images_make(images, image);
	uint64_t bytes = images_bytes(image);
	uint8_t *written = images_noise(bytes, image->format), *read = calloc(1, bytes);

	cr_assert_not_null(read);
	images_write(images, memory, image, written);
	images_read(images, memory, image, read);
	cr_assert_eq(memcmp(read, written, bytes), 0, "format %d, %u dimensions", image->format,
		     image->dimensions);
	images->fixture.ops->memory_free(memory);
	free(written);
	free(read);
}

Test(image_layers, R8_layers_of_all_formats_hold_their_pixels)
{
	const uint64_t rows[] = {19, 23}, planes[] = {5, 7, 11}, one[] = {1, 1, 1};
	struct images images;

	images_open(&images, NULL, NULL);
	for (uint32_t format = 1; format <= IMAGE_FORMAT_COUNT; format++) {
		const struct backend_image of_rows =
			layers_layered((enum backend_image_format)format, 2, rows);
		const struct backend_image of_planes =
			layers_layered((enum backend_image_format)format, 3, planes);
		layers_round_trip(&images, &of_rows);
		layers_round_trip(&images, &of_planes);
	}
	const struct backend_image small = layers_layered(BACKEND_IMAGE_R8G8B8A8_UINT, 3, one);
	layers_round_trip(&images, &small);
	images_close(&images);
}

/* More than a backend stages at once, of many layers and of large ones. */
Test(image_layers, R8_all_layers_of_large_images_arrive)
{
	const uint64_t rows[] = {211, 1511}, planes[] = {29, 211, 103}, slabs[] = {3, 601, 300};
	struct images images;

	images_open(&images, NULL, NULL);
	const struct backend_image all[] = {
		layers_layered(BACKEND_IMAGE_R32G32B32A32_SFLOAT, 2, rows),
		layers_layered(BACKEND_IMAGE_R32G32B32A32_SFLOAT, 3, planes),
		layers_layered(BACKEND_IMAGE_R32G32B32A32_SFLOAT, 3, slabs)};
	for (int i = 0; i < 3; i++)
		layers_round_trip(&images, &all[i]);
	images_close(&images);
}

static void expect_layers_refused(struct images *images, struct backend_image image)
{
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	cr_assert_eq(
		images->fixture.ops->image_create(images->fixture.device, &image, &memory, &fault),
		-EINVAL, "%s", fault.text);
	cr_assert_eq(fault.status, STATUS_INVALID, "%d: %s", fault.status, fault.text);
	cr_assert_null(memory);
}

Test(image_layers, R8_the_device_says_how_many_layers_and_takes_no_more)
{
	struct images images;

	images_open(&images, NULL, NULL);
	const uint64_t *limits = images.fixture.facts->image_layered_sizes;
	for (int i = 0; i < 3; i++)
		cr_assert_gt(limits[i], 0);
	const uint64_t wide[] = {1, limits[0] + 1}, wide_2[] = {1, 1, limits[0] + 1},
		       high[] = {1, limits[1] + 1, 1};
	const uint64_t deep[] = {limits[2] + 1, 1}, deep_2[] = {limits[2] + 1, 1, 1},
		       most[] = {limits[2], 1, 2};
	expect_layers_refused(&images, layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 2, wide));
	expect_layers_refused(&images, layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 3, wide_2));
	expect_layers_refused(&images, layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 3, high));
	expect_layers_refused(&images, layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 2, deep));
	expect_layers_refused(&images, layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 3, deep_2));
	const uint64_t alone[] = {4}, none[] = {0, 4, 4};
	expect_layers_refused(&images, layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 1, alone));
	expect_layers_refused(&images, layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 3, none));
	const struct backend_image full = layers_layered(BACKEND_IMAGE_R8G8B8A8_UNORM, 3, most);
	layers_round_trip(&images, &full);
	images_close(&images);
}

Test(image_layers, R8_layers_are_copied_to_as_many_layers_and_to_nothing_else)
{
	const uint64_t size[] = {3, 13, 9}, rows[] = {39, 9};
	struct images images;
	struct backend_image image = layers_layered(BACKEND_IMAGE_R16G16B16A16_UINT, 3, size);
	struct backend_image volume = images_describe(BACKEND_IMAGE_R16G16B16A16_UINT, 3, size);
	struct backend_image of_rows = layers_layered(BACKEND_IMAGE_R16G16B16A16_UINT, 2, rows);
	uint64_t bytes = images_bytes(&image);
	uint8_t *written = images_noise(bytes, 5), *read = calloc(1, bytes);

	cr_assert_not_null(read);
	images_open(&images, NULL, NULL);
	struct backend_memory *all[] = {images_make(&images, &image), images_make(&images, &image),
					images_make(&images, &volume),
					images_make(&images, &of_rows)};
	images_write(&images, all[0], &image, written);
	for (int i = 1; i < 4; i++) {
		const struct backend_command command = {
			.kind = BACKEND_COMMAND_COPY,
			.copy = {.source = all[0], .destination = all[i], .size_bytes = bytes}};
		if (i == 1)
			fixture_wait(&images.fixture, 0,
				     fixture_submit(&images.fixture, 0, &command));
		else
			cr_assert_eq(fixture_submit_fails(&images.fixture, 0, &command).status,
				     STATUS_INVALID);
	}
	images_read(&images, all[1], &image, read);
	cr_assert_eq(memcmp(read, written, bytes), 0);
	for (int i = 0; i < 4; i++)
		images.fixture.ops->memory_free(all[i]);
	images_close(&images);
	free(written);
	free(read);
}
