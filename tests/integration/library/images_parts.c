/* Parts of images through the public functions, on every engine. */
#include "library/portable.h"

#include <string.h>

TestSuite(images_parts, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { ROWS = 6, COLUMNS = 10, PIXELS = ROWS * COLUMNS, GAP = 3 };

static sycl_image image_with(const uint32_t *pixels)
{
	sycl_image image = NULL;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UINT,
			       sycl_range2(ROWS, COLUMNS), (void *)(uintptr_t)pixels,
			       SYCL_HOST_CONST, &image));
	return image;
}

static void count_up(uint32_t *pixels, uint32_t count, uint32_t from)
{
	for (uint32_t i = 0; i < count; i++)
		pixels[i] = from + i;
}

static sycl_image_region part_of(uint64_t column, uint64_t row, uint64_t columns, uint64_t rows)
{
	sycl_image_region part = SYCL_IMAGE_REGION_INIT;
	part.source_origin[0] = part.destination_origin[0] = column;
	part.source_origin[1] = part.destination_origin[1] = row;
	part.size[0] = columns;
	part.size[1] = rows;
	return part;
}

static sycl_handler handler_begun(void)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	return handler;
}

static void handler_done(sycl_handler handler)
{
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(queue));
}

static void read_image(sycl_image image, uint32_t *pixels)
{
	sycl_image_region all = part_of(0, 0, COLUMNS, ROWS);
	sycl_handler handler = handler_begun();
	MUST(sycl_handler_copy_image_to_host(handler, image, pixels, &all));
	handler_done(handler);
}

Test(images_parts, R10_a_part_comes_from_the_host_and_goes_there_with_pitches)
{
	static uint32_t pixels[PIXELS], part[4 * (3 + GAP)], seen[PIXELS], back[4 * (3 + GAP)];
	count_up(pixels, PIXELS, 1000);
	count_up(part, 4 * (3 + GAP), 1);
	sycl_image image = image_with(pixels);
	sycl_image_region region = part_of(5, 1, 3, 4);
	region.row_pitch_bytes = (3 + GAP) * sizeof(uint32_t);
	sycl_handler handler = handler_begun();
	MUST(sycl_handler_copy_image_from_host(handler, part, image, &region));
	handler_done(handler);
	read_image(image, seen);
	for (uint32_t i = 0; i < PIXELS; i++) {
		uint32_t column = i % COLUMNS, row = i / COLUMNS;
		bool inside = column >= 5 && column < 8 && row >= 1 && row < 5;
		cr_assert(eq(u32, seen[i],
			     inside ? part[(row - 1) * (3 + GAP) + column - 5] : pixels[i]),
			  "pixel %u", i);
	}
	handler = handler_begun();
	MUST(sycl_handler_copy_image_to_host(handler, image, back, &region));
	handler_done(handler);
	for (uint32_t i = 0; i < 4 * (3 + GAP); i++)
		cr_assert(eq(u32, back[i], i % (3 + GAP) < 3 ? part[i] : 0));
	MUST(sycl_image_release(image));
}

Test(images_parts, R10_a_part_goes_to_another_image_and_to_a_buffer_and_back)
{
	static uint32_t one[PIXELS], two[PIXELS], seen[PIXELS], words[64];
	count_up(one, PIXELS, 1000);
	count_up(two, PIXELS, 2000);
	sycl_image from = image_with(one), to = image_with(two);
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	sycl_image_region part = part_of(2, 1, 4, 2);
	part.destination_origin[0] = 6;
	part.destination_origin[1] = 4;
	sycl_handler handler = handler_begun();
	MUST(sycl_handler_copy_image_region(handler, from, to, &part));
	handler_done(handler);
	read_image(to, seen);
	for (uint32_t i = 0; i < PIXELS; i++) {
		uint32_t column = i % COLUMNS, row = i / COLUMNS;
		bool inside = column >= 6 && row >= 4;
		cr_assert(
			eq(u32, seen[i], inside ? one[(row - 3) * COLUMNS + column - 4] : two[i]));
	}
	handler = handler_begun();
	MUST(sycl_handler_copy_image_to_buffer(handler, to, buffer, 16, &part));
	handler_done(handler);
	part.destination_origin[0] = part.destination_origin[1] = 0;
	handler = handler_begun();
	MUST(sycl_handler_copy_buffer_to_image(handler, buffer, 16, from, &part));
	handler_done(handler);
	read_image(from, seen);
	for (uint32_t i = 0; i < PIXELS; i++) {
		uint32_t column = i % COLUMNS, row = i / COLUMNS;
		cr_assert(
			eq(u32, seen[i],
			   column < 4 && row < 2 ? two[(row + 1) * COLUMNS + column + 2] : one[i]));
	}
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_image_release(from));
	MUST(sycl_image_release(to));
}

Test(images_parts, R10_a_part_is_filled_with_a_pixel)
{
	static uint32_t pixels[PIXELS], seen[PIXELS];
	const uint32_t colour[4] = {1, 2, 3, 4};
	count_up(pixels, PIXELS, 1000);
	sycl_image image = image_with(pixels);
	sycl_image_region part = part_of(3, 2, 5, 3);
	sycl_handler handler = handler_begun();
	MUST(sycl_handler_fill_image(handler, image, colour, &part));
	handler_done(handler);
	read_image(image, seen);
	for (uint32_t i = 0; i < PIXELS; i++) {
		uint32_t column = i % COLUMNS, row = i / COLUMNS;
		bool inside = column >= 3 && column < 8 && row >= 2 && row < 5;
		cr_assert(eq(u32, seen[i], inside ? 0x04030201 : pixels[i]));
	}
	MUST(sycl_image_release(image));
}

Test(images_parts, R11_a_late_copy_reads_what_an_earlier_one_brings)
{
	static uint32_t one[PIXELS], between[PIXELS], seen[PIXELS];
	count_up(one, PIXELS, 1000);
	sycl_image from = image_with(one), to = image_with(between);
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, between, sizeof(between), SYCL_HOST_CONST, &buffer));
	sycl_image_region all = part_of(0, 0, COLUMNS, ROWS);
	sycl_event first = NULL;
	sycl_handler handler = handler_begun();
	MUST(sycl_handler_copy_image_to_host(handler, from, between, &all));
	MUST(sycl_handler_submit(handler, &first));
	handler = handler_begun();
	MUST(sycl_handler_depends_on(handler, first));
	MUST(sycl_handler_copy_image_from_host(handler, between, to, &all));
	MUST(sycl_handler_read_late(handler));
	MUST(sycl_handler_submit(handler, NULL));
	handler = handler_begun();
	MUST(sycl_handler_depends_on(handler, first));
	MUST(sycl_handler_copy_from_host(handler, between, buffer, 0, sizeof(between)));
	MUST(sycl_handler_read_late(handler));
	handler_done(handler);
	read_image(to, seen);
	cr_assert(eq(int, memcmp(seen, one, sizeof(one)), 0));
	memset(seen, 0, sizeof(seen));
	handler = handler_begun();
	MUST(sycl_handler_copy_to_host(handler, buffer, 0, seen, sizeof(seen)));
	handler_done(handler);
	cr_assert(eq(int, memcmp(seen, one, sizeof(one)), 0));
	handler = handler_begun();
	REFUSED(sycl_handler_read_late(handler), SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_event_release(first));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_image_release(from));
	MUST(sycl_image_release(to));
}

Test(images_parts, R10_parts_that_cannot_be_are_refused)
{
	static uint32_t pixels[PIXELS];
	sycl_image image = image_with(pixels), other = NULL;
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, pixels, sizeof(pixels), SYCL_HOST_CONST, &buffer));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_SINT,
			       sycl_range2(ROWS, COLUMNS), NULL, SYCL_HOST_NONE, &other));
	sycl_handler handler = handler_begun();
	sycl_image_region part = part_of(8, 0, 3, 1);
	REFUSED(sycl_handler_copy_image_from_host(handler, pixels, image, &part),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_image_to_host(handler, image, pixels, &part), SYCL_ERROR_INVALID);
	part = part_of(0, 0, 0, 1);
	REFUSED(sycl_handler_fill_image(handler, image, pixels, &part), SYCL_ERROR_INVALID);
	part = part_of(0, 0, 4, 2);
	REFUSED(sycl_handler_copy_image_region(handler, image, image, &part), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_image_region(handler, image, other, &part), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_image_to_buffer(handler, image, buffer, sizeof(pixels) - 4,
						  &part),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_fill_image(handler, image, NULL, &part), SYCL_ERROR_INVALID);
	part.row_pitch_bytes = 15;
	REFUSED(sycl_handler_copy_image_from_host(handler, pixels, image, &part),
		SYCL_ERROR_INVALID);
	part.row_pitch_bytes = 64;
	REFUSED(sycl_handler_copy_buffer_to_image(handler, buffer, 0, image, &part),
		SYCL_ERROR_INVALID);
	part.struct_bytes = 4;
	REFUSED(sycl_handler_copy_image_region(handler, image, other, &part), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_image_region(handler, image, other, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_image_release(image));
	MUST(sycl_image_release(other));
}

Test(images_parts, R10_a_view_outside_of_its_buffer_is_refused)
{
	static uint32_t words[64];
	sycl_buffer buffer = NULL;
	sycl_image_view view = SYCL_IMAGE_VIEW_INIT;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	sycl_handler handler = handler_begun();
	view.format = sycl_image_format_of(SYCL_IMAGE_ORDER_R, SYCL_IMAGE_TYPE_UINT32);
	view.width = 65;
	REFUSED(sycl_handler_set_image_view(handler, 0, buffer, SYCL_ACCESS_READ, &view),
		SYCL_ERROR_INVALID);
	view.width = 64;
	view.offset_bytes = UINT64_MAX;
	REFUSED(sycl_handler_set_image_view(handler, 0, buffer, SYCL_ACCESS_READ, &view),
		SYCL_ERROR_INVALID);
	view.offset_bytes = 0;
	view.format = (sycl_image_format)77;
	REFUSED(sycl_handler_set_image_view(handler, 0, buffer, SYCL_ACCESS_READ, &view),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_image_view(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT, &view),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_image_view(handler, 0, buffer, SYCL_ACCESS_READ, NULL),
		SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_buffer_release(buffer));
}
