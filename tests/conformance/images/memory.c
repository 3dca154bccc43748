/* Image memory: what can be made, what is moved, and what is refused. On every backend. */
#include "images/support.h"

#include "status.h"

#include <errno.h>

TestSuite(image_memory, .timeout = 120);

static const uint64_t sizes[3][3] = {{37}, {19, 23}, {5, 7, 11}};

static void images_memory_round_trip(struct images *images, enum backend_image_format format,
				     uint32_t dimensions)
{
	struct backend_image image = images_describe(format, dimensions, sizes[dimensions - 1]);
	struct backend_memory *memory = images_make(images, &image);
	uint64_t bytes = images_bytes(&image);
	uint8_t *written = images_noise(bytes, format * 8 + dimensions), *read = calloc(1, bytes);

	images_write(images, memory, &image, written);
	images_read(images, memory, &image, read);
	cr_assert_arr_eq(read, written, bytes, "format %u of %u dimensions", format, dimensions);
	images->fixture.ops->memory_free(memory);
	free(written);
	free(read);
}

Test(image_memory, G4_C20_all_eleven_formats_hold_their_pixels_in_1_to_3_dimensions)
{
	struct images images;

	images_open(&images, NULL, NULL);
	cr_assert_eq(images.fixture.facts->image_formats, 0xffeu);
	for (uint32_t format = 1; format <= IMAGE_FORMAT_COUNT; format++)
		for (uint32_t dimensions = 1; dimensions <= 3; dimensions++)
			images_memory_round_trip(&images, (enum backend_image_format)format,
						 dimensions);
	images_close(&images);
}

Test(image_memory, A15_the_device_says_how_large_its_images_may_be)
{
	struct images images;

	images_open(&images, NULL, NULL);
	for (int i = 0; i < 6; i++)
		cr_assert_gt(images.fixture.facts->image_sizes[i], 0);
	cr_assert_gt(images.fixture.facts->max_read_image_args, 0);
	cr_assert_gt(images.fixture.facts->max_write_image_args, 0);
	cr_assert_gt(images.fixture.facts->max_samplers, 0);
	cr_assert(images.fixture.facts->image_support);
	cr_assert(images.fixture.facts->aspects & 1u << 9);
	images_close(&images);
}

static void expect_image_refused(struct images *images, struct backend_image image, int error,
				 int32_t status)
{
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	cr_assert_eq(
		images->fixture.ops->image_create(images->fixture.device, &image, &memory, &fault),
		error, "%s", fault.text);
	cr_assert_eq(fault.status, status, "%d: %s", fault.status, fault.text);
	cr_assert_neq(fault.text[0], '\0');
	cr_assert_null(memory);
}

Test(image_memory, G4_C16_what_is_no_image_is_refused)
{
	const uint64_t good[3] = {4, 4, 4}, empty[3] = {4, 0, 4}, last_empty[3] = {4, 4, 0};
	struct images images;

	images_open(&images, NULL, NULL);
	expect_image_refused(&images, images_describe(0, 2, good), -EINVAL, STATUS_INVALID);
	expect_image_refused(&images, images_describe(12, 2, good), -EINVAL, STATUS_INVALID);
	expect_image_refused(&images, images_describe(1, 2, empty), -EINVAL, STATUS_INVALID);
	expect_image_refused(&images, images_describe(1, 3, last_empty), -EINVAL, STATUS_INVALID);
	struct backend_image image = images_describe(1, 3, good);
	image.dimensions = 0;
	expect_image_refused(&images, image, -EINVAL, STATUS_INVALID);
	image.dimensions = 4;
	expect_image_refused(&images, image, -EINVAL, STATUS_INVALID);
	images_close(&images);
}

Test(image_memory, larger_than_the_device_allows_is_refused)
{
	struct images images;

	images_open(&images, NULL, NULL);
	const uint64_t *limits = images.fixture.facts->image_sizes;
	const uint64_t wide[] = {1, limits[0] + 1}, high[] = {limits[1] + 1, 1};
	const uint64_t wide_3[] = {1, 1, limits[2] + 1}, high_3[] = {1, limits[3] + 1, 1},
		       deep[] = {limits[4] + 1, 1, 1};
	expect_image_refused(&images, images_describe(1, 2, wide), -EINVAL, STATUS_INVALID);
	expect_image_refused(&images, images_describe(1, 2, high), -EINVAL, STATUS_INVALID);
	expect_image_refused(&images, images_describe(1, 3, wide_3), -EINVAL, STATUS_INVALID);
	expect_image_refused(&images, images_describe(1, 3, high_3), -EINVAL, STATUS_INVALID);
	expect_image_refused(&images, images_describe(1, 3, deep), -EINVAL, STATUS_INVALID);
	images_close(&images);
}

/* More than a backend stages at once, in rows and in slices; registered and not. */
static void large(struct images *images, uint32_t dimensions, const uint64_t *size, bool registered)
{
	const struct backend_ops *ops = images->fixture.ops;
	struct backend_image image =
		images_describe(BACKEND_IMAGE_R32G32B32A32_SFLOAT, dimensions, size);
	uint64_t bytes = images_bytes(&image), room = (bytes + 4095) & ~(uint64_t)4095;
	struct backend_memory *memory = images_make(images, &image);
	uint8_t *written = images_noise(bytes, (uint32_t)size[0]),
		*read = aligned_alloc(4096, room);
	struct backend_fault fault = {0};
	struct backend_host *host = NULL;

	cr_assert_not_null(read);
	memset(read, 0, room);
	if (registered)
		cr_assert_eq(ops->host_register(images->fixture.device, read, room, &host, &fault),
			     0, "%s", fault.text);
	images_write(images, memory, &image, written);
	images_read(images, memory, &image, read);
	cr_assert_eq(memcmp(read, written, bytes), 0);
	if (registered) { /* and from there */
		memset(written, 0, bytes);
		images_write(images, memory, &image, read);
		images_read(images, memory, &image, written);
		cr_assert_eq(memcmp(read, written, bytes), 0);
		ops->host_unregister(host);
	}
	ops->memory_free(memory);
	free(written);
	free(read);
}

Test(image_memory, C20_large_images_arrive_whole)
{
	const uint64_t flat[] = {611, 503}, deep[] = {7, 211, 173}, slabs[] = {3, 601, 300};
	struct images images;

	images_open(&images, NULL, NULL);
	bool registers = images.fixture.facts->features & BACKEND_FEATURE_HOST_REGISTER;
	for (int registered = 0; registered <= registers; registered++) {
		large(&images, 2, flat, registered);
		large(&images, 3, deep, registered);
		large(&images, 3, slabs, registered);
	}
	images_close(&images);
}

static struct backend_command copy_command(struct backend_memory *from, struct backend_memory *to,
					   uint64_t bytes)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_COPY,
		.copy = {.source = from, .destination = to, .size_bytes = bytes}};
}

Test(image_memory, C20_an_image_is_copied_to_one_that_is_alike_and_to_no_other)
{
	const uint64_t size[] = {3, 13, 9}, turned[] = {9, 13, 3};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R16G16B16A16_UINT, 3, size);
	struct backend_image other = images_describe(BACKEND_IMAGE_R16G16B16A16_SINT, 3, size);
	struct backend_image shape = images_describe(BACKEND_IMAGE_R16G16B16A16_UINT, 3, turned);
	uint64_t bytes = images_bytes(&image);
	uint8_t *written = images_noise(bytes, 5), *read = calloc(1, bytes);

	images_open(&images, NULL, NULL);
	struct backend_memory *from = images_make(&images, &image),
			      *to = images_make(&images, &image);
	struct backend_memory *of_other = images_make(&images, &other),
			      *of_shape = images_make(&images, &shape);
	struct backend_memory *buffer = fixture_memory(&images.fixture, bytes, NULL);
	images_write(&images, from, &image, written);
	struct backend_command command = copy_command(from, to, bytes);
	fixture_wait(&images.fixture, 0, fixture_submit(&images.fixture, 0, &command));
	images_read(&images, to, &image, read);
	cr_assert_arr_eq(read, written, bytes);
	struct backend_memory *const wrong[] = {of_other, of_shape, buffer, from};
	for (int i = 0; i < 4; i++) {
		command = copy_command(from, wrong[i], bytes);
		cr_assert_eq(fixture_submit_fails(&images.fixture, 0, &command).status,
			     STATUS_INVALID);
	}
	command = copy_command(from, to, bytes - 8);
	cr_assert_eq(fixture_submit_fails(&images.fixture, 0, &command).status, STATUS_INVALID);
	struct backend_memory *const all[] = {from, to, of_other, of_shape, buffer};
	for (int i = 0; i < 5; i++)
		images.fixture.ops->memory_free(all[i]);
	images_close(&images);
	free(written);
	free(read);
}

Test(image_memory, C20_an_image_is_moved_as_a_whole)
{
	const uint64_t size[] = {4, 4};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R8G8B8A8_UNORM, 2, size);
	uint8_t bytes[64] = {0};

	images_open(&images, NULL, NULL);
	struct backend_memory *memory = images_make(&images, &image);
	for (int kind = BACKEND_COMMAND_WRITE; kind <= BACKEND_COMMAND_READ; kind++) {
		struct backend_command part = {
			.kind = (enum backend_command_kind)kind,
			.transfer = {.memory = memory, .size_bytes = 32, .host = bytes}};
		cr_assert_eq(fixture_submit_fails(&images.fixture, 0, &part).status,
			     STATUS_INVALID);
		part.transfer.offset_bytes = 32;
		cr_assert_eq(fixture_submit_fails(&images.fixture, 0, &part).status,
			     STATUS_INVALID);
	}
	struct backend_command fill = {
		.kind = BACKEND_COMMAND_FILL,
		.fill = {.memory = memory, .size_bytes = 64, .pattern = bytes, .pattern_bytes = 4}};
	cr_assert_eq(fixture_submit_fails(&images.fixture, 0, &fill).status, STATUS_INVALID);
	images.fixture.ops->memory_free(memory);
	images_close(&images);
}
