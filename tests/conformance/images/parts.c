/* Parts of images: written, read, copied to images and buffers, and what is refused. On every
 * backend. The expected bytes are made by plain loops. */
#include "images/support.h"

#include "status.h"

TestSuite(image_parts, .timeout = 120);

enum { PITCH_MORE = 8 };

/* Columns, rows, slices or layers; 1 where the image has none. */
static void parts_extent(const struct backend_image *image, uint64_t extent[3])
{
	for (uint32_t i = 0; i < 3; i++)
		extent[i] = i < image->dimensions ? image->size[image->dimensions - 1 - i] : 1;
}

struct part {
	uint64_t from[3], to[3], size[3]; /* pixels */
};

static struct backend_rect rect_of(const struct backend_image *image, const struct part *part,
				   uint64_t row_pitch, uint64_t slice_pitch)
{
	struct backend_rect rect = {
		.width_bytes = part->size[0] * image_pixel_bytes(image->format),
		.rows = part->size[1],
		.slices = part->size[2],
		.source_row_pitch = row_pitch,
		.destination_row_pitch = row_pitch,
		.source_slice_pitch = slice_pitch,
		.destination_slice_pitch = slice_pitch,
	};

	memcpy(rect.source_origin, part->from, sizeof(rect.source_origin));
	memcpy(rect.destination_origin, part->to, sizeof(rect.destination_origin));
	return rect;
}

static uint8_t *pixel_in(uint8_t *bytes, const struct backend_image *image, const uint64_t at[3],
			 uint64_t column, uint64_t row, uint64_t slice)
{
	uint64_t extent[3];

	parts_extent(image, extent);
	return bytes + (((at[2] + slice) * extent[1] + at[1] + row) * extent[0] + at[0] + column) *
			       image_pixel_bytes(image->format);
}

static void wait_for(struct images *images, const struct backend_command *command)
{
	fixture_wait(&images->fixture, 0, fixture_submit(&images->fixture, 0, command));
}

static uint64_t part_bytes(const struct backend_image *image, const struct part *part)
{
	return part->size[0] * part->size[1] * part->size[2] * image_pixel_bytes(image->format);
}

/* WRITE or READ of a part, with pitches that leave gaps on the host. */
static void move_part(struct images *images, enum backend_command_kind kind,
		      struct backend_memory *memory, const struct backend_image *image,
		      const struct part *part, uint8_t *host, uint64_t row_pitch)
{
	const struct backend_rect rect =
		rect_of(image, part, row_pitch, row_pitch * (part->size[1] + 1));
	const struct backend_command command = {.kind = kind,
						.transfer = {.memory = memory,
							     .size_bytes = part_bytes(image, part),
							     .host = host,
							     .rect = &rect}};

	wait_for(images, &command);
}

static void check_part(struct images *images, const struct backend_image *image,
		       const struct part *part)
{
	const uint64_t bytes = images_bytes(image), pixel = image_pixel_bytes(image->format),
		       row = part->size[0] * pixel + PITCH_MORE * pixel,
		       host_bytes = row * (part->size[1] + 1) * part->size[2];
	struct backend_memory *memory = images_make(images, image);
	uint8_t *all = images_noise(bytes, 1), *host = images_noise(host_bytes, 2),
		*read = calloc(1, bytes), *back = calloc(1, host_bytes);

	images_write(images, memory, image, all);
	move_part(images, BACKEND_COMMAND_WRITE, memory, image, part, host, row);
	for (uint64_t s = 0; s < part->size[2]; s++)
		for (uint64_t r = 0; r < part->size[1]; r++)
			memcpy(pixel_in(all, image, part->to, 0, r, s),
			       host + s * row * (part->size[1] + 1) + r * row,
			       part->size[0] * pixel);
	images_read(images, memory, image, read);
	cr_assert_arr_eq(read, all, bytes, "written");
	struct part same = *part;
	memcpy(same.from, part->to, sizeof(same.from));
	move_part(images, BACKEND_COMMAND_READ, memory, image, &same, back, row);
	for (uint64_t s = 0; s < part->size[2]; s++)
		for (uint64_t r = 0; r < part->size[1]; r++) {
			uint64_t at = s * row * (part->size[1] + 1) + r * row;
			cr_assert_arr_eq(back + at, host + at, part->size[0] * pixel);
			cr_assert_eq(back[at + part->size[0] * pixel], 0, "a gap was written");
		}
	images->fixture.ops->memory_free(memory);
	free(all);
	free(host);
	free(read);
	free(back);
}

static const struct {
	bool is_layered;
	uint32_t dimensions;
	uint64_t size[3];
	struct part part;
} cases[] = {
	{false, 1, {37}, {{5, 0, 0}, {3, 0, 0}, {7, 1, 1}}},
	{false, 2, {19, 23}, {{2, 3, 0}, {1, 4, 0}, {5, 6, 1}}},
	{false, 3, {5, 7, 11}, {{1, 2, 3}, {4, 3, 1}, {5, 3, 2}}},
	{true, 2, {6, 13}, {{1, 2, 0}, {4, 1, 0}, {5, 3, 1}}},
	{true, 3, {4, 6, 9}, {{1, 1, 1}, {3, 2, 2}, {4, 3, 2}}},
};
enum { CASES = sizeof(cases) / sizeof(*cases) };

static struct backend_image image_of_case(uint32_t i)
{
	struct backend_image image = images_describe(BACKEND_IMAGE_R16G16B16A16_UINT,
						     cases[i].dimensions, cases[i].size);

	image.is_layered = cases[i].is_layered;
	return image;
}

Test(image_parts, R10_a_part_is_written_and_read_and_the_rest_stays)
{
	struct images images;

	images_open(&images, NULL, NULL);
	for (uint32_t i = 0; i < CASES; i++) {
		const struct backend_image image = image_of_case(i);
		check_part(&images, &image, &cases[i].part);
	}
	images_close(&images);
}

/* NVIDIA's OpenCL refuses to copy between an array of images of one dimension and a buffer. */
static bool is_refused_by_driver(const struct backend_image *image)
{
	const char *name = getenv("SYCLD_TEST_OPENCL_PLATFORM");

	return name && strstr(name, "NVIDIA") && image->is_layered && image->dimensions == 2;
}

static struct backend_command copy_command(struct backend_memory *source,
					   struct backend_memory *destination, uint64_t offset,
					   const struct backend_rect *rect)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_COPY,
		.copy = {.source = source,
			 .destination = destination,
			 .destination_offset_bytes = offset,
			 .size_bytes = rect->width_bytes * rect->rows * rect->slices,
			 .rect = rect}};
}

static struct backend_rect packed_rect(const struct backend_image *image, const struct part *part)
{
	return rect_of(image, part, part->size[0] * image_pixel_bytes(image->format),
		       part->size[0] * part->size[1] * image_pixel_bytes(image->format));
}

static void copy_part(struct images *images, const struct backend_image *image,
		      struct backend_memory *source, struct backend_memory *destination,
		      const struct part *part)
{
	const struct backend_rect rect = packed_rect(image, part);
	const struct backend_command command = copy_command(source, destination, 0, &rect);

	wait_for(images, &command);
}

Test(image_parts, R10_a_part_is_copied_to_another_image)
{
	struct images images;

	images_open(&images, NULL, NULL);
	for (uint32_t i = 0; i < CASES; i++) {
		const struct backend_image image = image_of_case(i);
		const struct part *part = &cases[i].part;
		uint64_t bytes = images_bytes(&image);
		struct backend_memory *from = images_make(&images, &image),
				      *to = images_make(&images, &image);
		uint8_t *source = images_noise(bytes, 3), *target = images_noise(bytes, 4),
			*read = calloc(1, bytes);
		images_write(&images, from, &image, source);
		images_write(&images, to, &image, target);
		copy_part(&images, &image, from, to, part);
		for (uint64_t s = 0; s < part->size[2]; s++)
			for (uint64_t r = 0; r < part->size[1]; r++)
				memcpy(pixel_in(target, &image, part->to, 0, r, s),
				       pixel_in(source, &image, part->from, 0, r, s),
				       part->size[0] * image_pixel_bytes(image.format));
		images_read(&images, to, &image, read);
		cr_assert_arr_eq(read, target, bytes, "case %u", i);
		images.fixture.ops->memory_free(from);
		images.fixture.ops->memory_free(to);
		free(source);
		free(target);
		free(read);
	}
	images_close(&images);
}

/* Copies the part to a buffer, behind its first bytes. */
static void check_buffer(struct images *images, const struct backend_image *image,
			 const struct part *part)
{
	enum { OFFSET = 256 };
	const struct backend_rect rect = packed_rect(image, part);
	uint64_t bytes = images_bytes(image), all = OFFSET + part_bytes(image, part),
		 row = part->size[0] * image_pixel_bytes(image->format);
	struct backend_memory *from = images_make(images, image),
			      *to = fixture_memory(&images->fixture, all, NULL);
	uint8_t *source = images_noise(bytes, 5), *read = calloc(1, all);
	const struct backend_command command = copy_command(from, to, OFFSET, &rect);

	images_write(images, from, image, source);
	fixture_write(&images->fixture, to, 0, read, all);
	if (is_refused_by_driver(image)) {
		struct backend_fault fault = fixture_submit_fails(&images->fixture, 0, &command);
		cr_assert_not_null(strstr(fault.text, "CL_INVALID_VALUE"), "%s", fault.text);
	} else {
		wait_for(images, &command);
		fixture_read(&images->fixture, to, 0, read, all);
		for (uint64_t s = 0; s < part->size[2]; s++)
			for (uint64_t r = 0; r < part->size[1]; r++)
				cr_assert_arr_eq(read + OFFSET + (s * part->size[1] + r) * row,
						 pixel_in(source, image, part->from, 0, r, s), row);
	}
	images->fixture.ops->memory_free(from);
	images->fixture.ops->memory_free(to);
	free(source);
	free(read);
}

Test(image_parts, R10_a_part_goes_to_a_buffer_tightly_packed)
{
	struct images images;

	images_open(&images, NULL, NULL);
	for (uint32_t i = 0; i < CASES; i++) {
		const struct backend_image image = image_of_case(i);
		check_buffer(&images, &image, &cases[i].part);
	}
	images_close(&images);
}

Test(image_parts, R10_a_part_outside_of_the_image_is_refused)
{
	struct images images;
	static const struct part outside[] = {
		{{0, 0, 0}, {20, 0, 0}, {4, 1, 1}}, {{0, 0, 0}, {0, 18, 0}, {1, 2, 1}},
		{{0, 0, 0}, {0, 0, 1}, {1, 1, 1}},  {{0, 0, 0}, {UINT64_MAX, 0, 0}, {2, 1, 1}},
		{{0, 0, 0}, {0, 0, 0}, {1, 0, 1}},
	};
	static uint8_t host[4096];

	images_open(&images, NULL, NULL);
	const struct backend_image image = image_of_case(1);
	struct backend_memory *memory = images_make(&images, &image);
	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
		const struct backend_rect rect = rect_of(&image, &outside[i], 64, 1024);
		const struct backend_command command = {
			.kind = BACKEND_COMMAND_WRITE,
			.transfer = {.memory = memory,
				     .size_bytes = part_bytes(&image, &outside[i]),
				     .host = host,
				     .rect = &rect}};
		struct backend_fault fault = fixture_submit_fails(&images.fixture, 0, &command);
		cr_assert_eq(fault.status, STATUS_INVALID, "%zu: %s", i, fault.text);
	}
	images.fixture.ops->memory_free(memory);
	images_close(&images);
}
