/* Images through the public functions, on every engine: what can be made, what is refused, host
 * accesses, order, residency. */
#include "library/portable.h"

#include <math.h>
#include <string.h>

TestSuite(images, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { ROWS = 6, COLUMNS = 10, IMAGE_BYTES = ROWS * COLUMNS * 4 };

static sycl_image library_images_make_image(void *host, sycl_host_memory kind)
{
	sycl_image image = NULL;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UINT,
			       sycl_range2(ROWS, COLUMNS), host, kind, &image));
	return image;
}

static void library_images_fill_image(sycl_queue on, sycl_image image, uint32_t value,
				      sycl_access_mode mode, sycl_event *event_out)
{
	sycl_kernel kernel = portable_kernel(on, "fill_image");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_image(handler, 0, image, mode));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_single_task(handler, kernel));
	MUST(sycl_handler_submit(handler, event_out));
	MUST(sycl_kernel_release(kernel));
}

static void copy_by_kernel(sycl_queue on, sycl_image to, sycl_image from)
{
	sycl_kernel kernel = portable_kernel(on, "copy_image");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_image(handler, 0, to, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_image(handler, 1, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_single_task(handler, kernel));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_kernel_release(kernel));
}

static bool bytes_are(const void *bytes, int value)
{
	for (int i = 0; i < IMAGE_BYTES; i++)
		if (((const uint8_t *)bytes)[i] != value)
			return false;
	return true;
}

static bool image_is(sycl_image image, int value)
{
	sycl_host_image accessor = NULL;
	void *pixels = NULL;
	MUST(sycl_host_image_create(image, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_image_get_pointer(accessor, &pixels));
	bool same = bytes_are(pixels, value);
	MUST(sycl_host_image_release(accessor));
	return same;
}

Test(images, C16_G4_what_is_no_image_is_refused)
{
	uint8_t host[IMAGE_BYTES] = {0};
	sycl_image none = NULL;
	const sycl_range good = sycl_range2(ROWS, COLUMNS);
	const sycl_range wrong[] = {sycl_range1(0),
				    sycl_range2(0, 4),
				    sycl_range2(4, 0),
				    sycl_range3(1, 0, 1),
				    sycl_range1((1u << 20) + 1),
				    {0, 0, {1, 1, 1}},
				    {4, 0, {1, 1, 1}},
				    {1, 1, {1, 1, 1}}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		REFUSED(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, wrong[i],
					  NULL, SYCL_HOST_NONE, &none),
			SYCL_ERROR_INVALID);
	for (int format = -1; format < 14; format += format == 0 ? 12 : 1)
		REFUSED(sycl_image_create(platform, (sycl_image_format)format, good, NULL,
					  SYCL_HOST_NONE, &none),
			SYCL_ERROR_INVALID);
	REFUSED(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, good, host,
				  SYCL_HOST_NONE, &none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, good, NULL,
				  SYCL_HOST_BORROWED, &none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, good, host,
				  SYCL_HOST_OWNED, &none),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, good, NULL,
				  SYCL_HOST_NONE, NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT,
				  sycl_range3(1 << 20, 1 << 20, 1 << 20), NULL, SYCL_HOST_NONE,
				  &none),
		SYCL_ERROR_QUOTA);
	cr_assert(eq(ptr, none, NULL));
}

Test(images, G4_A15_the_device_tells_what_images_it_has)
{
	sycl_device device = portable_device(platform, 0);
	uint32_t formats[16] = {0}, count = 0, has = 0, number = 0;
	MUST(sycl_device_get_image_formats(device, 0, NULL, &count));
	cr_assert(eq(u32, count, 11));
	MUST(sycl_device_get_image_formats(device, 16, formats, NULL));
	for (uint32_t i = 0; i < 11; i++)
		cr_assert(eq(u32, formats[i], i + 1));
	formats[2] = 99;
	MUST(sycl_device_get_image_formats(device, 2, formats, &count));
	cr_assert(eq(u32, formats[2], 99));
	REFUSED(sycl_device_get_image_formats(device, 1, NULL, &count), SYCL_ERROR_INVALID);
	REFUSED(sycl_device_get_image_formats(device, 0, NULL, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_device_has(device, SYCL_ASPECT_IMAGE, &has));
	cr_assert(eq(u32, has, 1));
	for (int info = SYCL_DEVICE_INFO_IMAGE_SUPPORT; info <= SYCL_DEVICE_INFO_MAX_SAMPLERS;
	     info++) {
		uint64_t value = 0;
		MUST(sycl_device_get_info(device, (sycl_device_info)info, sizeof(value), &value,
					  NULL));
		cr_assert(gt(u64, value, 0), "info %d", info);
	}
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_IMAGE_SUPPORT, sizeof(number), &number,
				  NULL));
	cr_assert(eq(u32, number, 1));
	MUST(sycl_device_release(device));
}

Test(images, C20_an_image_tells_what_it_is)
{
	sycl_image image = NULL;
	sycl_image_format format = SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM;
	sycl_range range;
	uint64_t bytes = 0;
	uint32_t references = 0;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R16B16G16A16_SFLOAT,
			       sycl_range3(3, 5, 7), NULL, SYCL_HOST_NONE, &image));
	MUST(sycl_image_get_format(image, &format));
	MUST(sycl_image_get_range(image, &range));
	MUST(sycl_image_get_size(image, &bytes));
	cr_assert(eq(int, format, SYCL_IMAGE_FORMAT_R16B16G16A16_SFLOAT));
	cr_assert(eq(u32, range.dimensions, 3));
	cr_assert(range.size[0] == 3 && range.size[1] == 5 && range.size[2] == 7);
	cr_assert(eq(u64, bytes, 3 * 5 * 7 * 8));
	MUST(sycl_image_retain(image));
	MUST(sycl_image_get_reference_count(image, &references));
	cr_assert(eq(u32, references, 2));
	MUST(sycl_image_release(image));
	MUST(sycl_image_release(image));
	REFUSED(sycl_image_get_size(image, &bytes), SYCL_ERROR_INVALID_HANDLE);
}

Test(images, M12_an_image_is_no_buffer_and_a_buffer_no_image)
{
	sycl_image image = library_images_make_image(NULL, SYCL_HOST_NONE);
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_handler handler = NULL;
	sycl_host_accessor accessor = NULL;
	uint64_t bytes = 0;
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_set_accessor(handler, 0, (sycl_buffer)(void *)image, SYCL_ACCESS_READ),
		SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_handler_set_image(handler, 0, (sycl_image)(void *)buffer, SYCL_ACCESS_READ),
		SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_image_get_size((sycl_image)(void *)buffer, &bytes), SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_buffer_release((sycl_buffer)(void *)image), SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_host_accessor_create((sycl_buffer)(void *)image, SYCL_ACCESS_READ, &accessor),
		SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_image_release(image));
}

/* The contents of borrowed memory are written back, at the right time. */
Test(images, D9_D11_D14_pixels_are_written_back_as_of_a_buffer)
{
	uint8_t host[IMAGE_BYTES], other[IMAGE_BYTES];
	sycl_event event = NULL;
	memset(host, 3, sizeof(host));
	memset(other, 9, sizeof(other));
	sycl_image image = library_images_make_image(host, SYCL_HOST_BORROWED);
	cr_assert(image_is(image, 3));
	library_images_fill_image(queue, image, 4, SYCL_ACCESS_WRITE_NO_INIT, &event);
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	cr_assert(bytes_are(host, 3));
	MUST(sycl_image_release(image));
	cr_assert(bytes_are(host, 4));

	image = library_images_make_image(host, SYCL_HOST_BORROWED);
	library_images_fill_image(queue, image, 5, SYCL_ACCESS_WRITE_NO_INIT, NULL);
	MUST(sycl_image_set_final_data(image, other));
	MUST(sycl_image_release_for(image, LONG_NS));
	cr_assert(bytes_are(host, 4));
	cr_assert(bytes_are(other, 5));

	image = library_images_make_image(host, SYCL_HOST_BORROWED);
	library_images_fill_image(queue, image, 6, SYCL_ACCESS_WRITE_NO_INIT, NULL);
	REFUSED(sycl_image_set_write_back(image, 2), SYCL_ERROR_INVALID);
	MUST(sycl_image_set_write_back(image, 0));
	MUST(sycl_image_release(image));
	image = library_images_make_image(host, SYCL_HOST_CONST);
	library_images_fill_image(queue, image, 7, SYCL_ACCESS_WRITE_NO_INIT, NULL);
	MUST(sycl_image_release(image));
	MUST(sycl_queue_wait(queue));
	cr_assert(bytes_are(host, 4));
}

Test(images, B12_C20_groups_on_an_image_keep_their_order)
{
	sycl_image a = library_images_make_image(NULL, SYCL_HOST_NONE),
		   b = library_images_make_image(NULL, SYCL_HOST_NONE);
	for (uint32_t i = 1; i <= 40; i++) {
		library_images_fill_image(queue, a, i, SYCL_ACCESS_WRITE_NO_INIT, NULL);
		copy_by_kernel(queue, b, a);
		library_images_fill_image(queue, a, i + 100, SYCL_ACCESS_WRITE, NULL);
	}
	cr_assert(image_is(b, 40));
	cr_assert(image_is(a, 140));
	MUST(sycl_image_release(a));
	MUST(sycl_image_release(b));
}

/* A copy needs no kernel. The host reads what was written before, and devices read what the host
 * wrote. */
Test(images, D3_C20_images_are_copied_and_seen_by_the_host)
{
	sycl_image a = library_images_make_image(NULL, SYCL_HOST_NONE),
		   b = library_images_make_image(NULL, SYCL_HOST_NONE), other = NULL, shape = NULL;
	sycl_host_image accessor = NULL;
	void *pixels = NULL;
	library_images_fill_image(queue, a, 11, SYCL_ACCESS_WRITE_NO_INIT, NULL);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_copy_image(handler, a, b));
	REFUSED(sycl_handler_copy_image(handler, b, a), SYCL_ERROR_INVALID);
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(image_is(b, 11));
	MUST(sycl_host_image_create(a, SYCL_ACCESS_WRITE, &accessor));
	MUST(sycl_host_image_get_pointer(accessor, &pixels));
	cr_assert(bytes_are(pixels, 11));
	memset(pixels, 12, IMAGE_BYTES);
	copy_by_kernel(queue, b, a); /* waits for the host */
	MUST(sycl_host_image_release(accessor));
	cr_assert(image_is(b, 12));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_SINT,
			       sycl_range2(ROWS, COLUMNS), NULL, SYCL_HOST_NONE, &other));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UINT,
			       sycl_range2(COLUMNS, ROWS), NULL, SYCL_HOST_NONE, &shape));
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_copy_image(handler, a, a), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_image(handler, a, other), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_image(handler, a, shape), SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_image_release(a));
	MUST(sycl_image_release(b));
	MUST(sycl_image_release(other));
	MUST(sycl_image_release(shape));
}

/* Each device has its own storage, even a device whose buffers are in host memory. */
Test(images, B25_A27_an_image_follows_from_device_to_device)
{
	enum { DEVICES = 3 };
	sycl_queue queues[DEVICES];
	sycl_image a = library_images_make_image(NULL, SYCL_HOST_NONE),
		   b = library_images_make_image(NULL, SYCL_HOST_NONE);
	for (uint32_t i = 0; i < DEVICES; i++)
		queues[i] = portable_queue(platform, i, 0);
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < DEVICES; i++) {
			library_images_fill_image(queues[i], a, 10 * round + i,
						  SYCL_ACCESS_WRITE_NO_INIT, NULL);
			copy_by_kernel(queues[(i + 1) % DEVICES], b, a);
			copy_by_kernel(queues[(i + 2) % DEVICES], a, b);
		}
		cr_assert(image_is(a, (int)(10 * round + DEVICES - 1)));
		cr_assert(image_is(b, (int)(10 * round + DEVICES - 1)));
	}
	for (uint32_t i = 0; i < DEVICES; i++)
		MUST(sycl_queue_release(queues[i]));
	MUST(sycl_image_release(a));
	MUST(sycl_image_release(b));
}

static void submit_one(sycl_kernel kernel, sycl_image image, sycl_access_mode mode,
		       const sycl_sampler *sampler, sycl_result wanted)
{
	sycl_handler handler = NULL;
	uint32_t value = 1;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sampler ? sycl_handler_set_sampled_image(handler, 0, image, sampler)
		     : sycl_handler_set_image(handler, 0, image, mode));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_single_task(handler, kernel));
	sycl_result result = sycl_handler_submit(handler, NULL);
	cr_assert(eq(int, result, wanted), "%s", sycl_get_last_error_text());
}

Test(images, E14_E22_arguments_of_another_kind_are_refused)
{
	sycl_image image = library_images_make_image(NULL, SYCL_HOST_NONE), integers = NULL;
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_kernel takes_image = portable_kernel(queue, "fill_image"),
		    takes_buffer = portable_kernel(queue, "fill_u32");
	sycl_handler handler = NULL;
	const sycl_sampler sampler = sycl_sampler_create(
		SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_NEAREST);
	const sycl_sampler linear = sycl_sampler_create(
		SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_LINEAR);
	sycl_sampler none = sampler;
	const uint32_t value = 1;
	submit_one(takes_image, image, SYCL_ACCESS_WRITE, NULL, SYCL_SUCCESS);
	submit_one(takes_buffer, image, SYCL_ACCESS_WRITE, NULL, SYCL_ERROR_KERNEL_ARGUMENT);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_single_task(handler, takes_image));
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	MUST(sycl_handler_begin(queue, &handler));
	uint32_t both = 0;
	sycl_device device = portable_device(platform, 0);
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS, sizeof(both),
				  &both, NULL));
	MUST(sycl_device_release(device));
	if (both == 0)
		REFUSED(sycl_handler_set_image(handler, 0, image, SYCL_ACCESS_READ_WRITE),
			SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_image(handler, 1024, image, SYCL_ACCESS_READ),
		SYCL_ERROR_KERNEL_ARGUMENT);
	REFUSED(sycl_handler_set_sampled_image(handler, 0, image, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_sampled_image(handler, 0, image, &linear), SYCL_ERROR_INVALID);
	none.addressing = 6;
	REFUSED(sycl_handler_set_sampled_image(handler, 0, image, &none), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_sampler(handler, 0, &none), SYCL_ERROR_INVALID);
	none = sampler;
	none.reserved = 1;
	REFUSED(sycl_handler_set_sampler(handler, 0, &none), SYCL_ERROR_INVALID);
	MUST(sycl_handler_set_sampler(handler, 0, &sampler));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_single_task(handler, takes_image));
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	/* The kernel writes an image that may only be read. The service refuses that at the
	 * latest. */
	sycl_event event = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_image(handler, 0, image, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_single_task(handler, takes_image));
	MUST(sycl_handler_submit(handler, &event));
	REFUSED(sycl_event_wait(event), SYCL_ERROR_KERNEL_ARGUMENT);
	MUST(sycl_event_release(event));
	MUST(sycl_kernel_release(takes_image));
	MUST(sycl_kernel_release(takes_buffer));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_image_release(image));
	cr_assert(eq(ptr, integers, NULL));
}

Test(images, larger_than_the_device_allows_is_refused_at_the_call)
{
	sycl_device device = portable_device(platform, 0);
	uint64_t width = 0;
	sycl_image image = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_IMAGE2D_MAX_WIDTH, sizeof(width), &width,
				  NULL));
	MUST(sycl_device_release(device));
	if (width >= 1u << 20)
		cr_skip_test("the device takes all that the library does");
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UINT, sycl_range2(1, width + 1),
			       NULL, SYCL_HOST_NONE, &image));
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_set_image(handler, 0, image, SYCL_ACCESS_READ), SYCL_ERROR_INVALID);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_image_release(image));
}

static sycl_host_image library_images_host_of(sycl_image image, sycl_access_mode mode)
{
	sycl_host_image accessor = NULL;
	MUST(sycl_host_image_create_for(image, mode, LONG_NS, &accessor));
	return accessor;
}

/* Computed by hand: 0.5 is 127.5 steps of 255, which rounds to the even 128; values above 1 become
 * 1. */
Test(images, C20_the_host_reads_and_writes_pixels_as_a_kernel_does)
{
	sycl_image image = NULL;
	const float written[4] = {0.5f, 2.0f, -1.0f, 0.25f};
	const int32_t ints[4] = {1, 2, 3, 4};
	const uint64_t place[] = {1, 2}, outside[] = {2, 0}, outside_too[] = {0, 3};
	float read[4] = {0};
	int32_t none[4];
	void *bytes = NULL;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_B8G8R8A8_UNORM, sycl_range2(2, 3), NULL,
			       SYCL_HOST_NONE, &image));
	sycl_host_image accessor = library_images_host_of(image, SYCL_ACCESS_READ_WRITE);
	MUST(sycl_host_image_write_float(accessor, place, written));
	MUST(sycl_host_image_get_pointer(accessor, &bytes));
	const uint8_t stored[4] = {0, 255, 128, 64}; /* b, g, r, a */
	cr_assert(eq(int, memcmp((uint8_t *)bytes + 4 * (3 + 2), stored, 4), 0));
	MUST(sycl_host_image_read_float(accessor, place, read));
	cr_assert(fabsf(read[0] - 128.0f / 255.0f) < 1e-6f && read[1] == 1.0f && read[2] == 0.0f &&
		  fabsf(read[3] - 64.0f / 255.0f) < 1e-6f);
	REFUSED(sycl_host_image_read_float(accessor, outside, read), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_image_read_float(accessor, outside_too, read), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_image_read_float(accessor, NULL, read), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_image_read_float(accessor, place, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_image_read_int(accessor, place, none), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_image_write_int(accessor, place, ints), SYCL_ERROR_INVALID);
	MUST(sycl_host_image_release(accessor));
	accessor = library_images_host_of(image, SYCL_ACCESS_READ);
	REFUSED(sycl_host_image_write_float(accessor, place, written), SYCL_ERROR_ACCESSOR);
	MUST(sycl_host_image_release(accessor));
	accessor = library_images_host_of(image, SYCL_ACCESS_WRITE);
	REFUSED(sycl_host_image_read_float(accessor, place, read), SYCL_ERROR_ACCESSOR);
	uint32_t references = 0;
	MUST(sycl_host_image_retain(accessor));
	MUST(sycl_host_image_get_reference_count(accessor, &references));
	cr_assert(eq(u32, references, 2));
	MUST(sycl_host_image_release(accessor));
	MUST(sycl_host_image_release(accessor));
	MUST(sycl_image_release(image));
}

/* Formats of integers: the written value, and the stored one, because the format has a smaller
 * range. */
struct whole_case {
	sycl_image_format format;
	int64_t written[4], stored[4];
	uint32_t channel_bytes;
};

static const struct whole_case ints_cases[] = {
	{SYCL_IMAGE_FORMAT_R8G8B8A8_SINT, {5, -1, 200, -200}, {5, -1, 127, -128}, 1},
	{SYCL_IMAGE_FORMAT_R16G16B16A16_SINT,
	 {-300, 300, 40000, -40000},
	 {-300, 300, 32767, -32768},
	 2},
	{SYCL_IMAGE_FORMAT_R32B32G32A32_SINT,
	 {1, -2, INT32_MAX, INT32_MIN},
	 {1, -2, INT32_MAX, INT32_MIN},
	 4},
};

static const struct whole_case uints_cases[] = {
	{SYCL_IMAGE_FORMAT_R8G8B8A8_UINT, {0, 7, 255, 300}, {0, 7, 255, 255}, 1},
	{SYCL_IMAGE_FORMAT_R16G16B16A16_UINT,
	 {1, 65535, 65536, UINT32_MAX},
	 {1, 65535, 65535, 65535},
	 2},
	{SYCL_IMAGE_FORMAT_R32B32G32A32_UINT,
	 {0, 1, UINT32_MAX, 1u << 31},
	 {0, 1, UINT32_MAX, 1u << 31},
	 4},
};

/* The bytes of the pixel in memory, little-endian. */
static void must_lie(sycl_host_image accessor, uint64_t pixel, const struct whole_case *of)
{
	void *bytes = NULL;
	MUST(sycl_host_image_get_pointer(accessor, &bytes));
	const uint8_t *at = (const uint8_t *)bytes + pixel * 4 * of->channel_bytes;
	for (uint32_t c = 0; c < 4; c++)
		cr_assert(eq(int,
			     memcmp(at + c * of->channel_bytes, &of->stored[c], of->channel_bytes),
			     0),
			  "format %d, %u", (int)of->format, c);
}

enum { WHOLE_ROWS = 2, WHOLE_COLUMNS = 3 };

static sycl_host_image whole_image(const struct whole_case *of, sycl_image *image_out)
{
	MUST(sycl_image_create(platform, of->format, sycl_range2(WHOLE_ROWS, WHOLE_COLUMNS), NULL,
			       SYCL_HOST_NONE, image_out));
	return library_images_host_of(*image_out, SYCL_ACCESS_READ_WRITE);
}

static const uint64_t whole_place[] = {1, 2}, whole_outside[] = {2, 0};
static const float whole_inside_at[] = {1.5f, 2.5f}, whole_edge_at[] = {9.0f, 9.0f};

static sycl_sampler whole_sampler(sycl_addressing_mode addressing, sycl_filtering_mode filtering)
{
	return sycl_sampler_create(addressing, SYCL_COORDINATE_UNNORMALIZED, filtering);
}

Test(images, C20_G5_the_host_reads_writes_and_samples_ints)
{
	const sycl_sampler edge = whole_sampler(SYCL_ADDRESSING_CLAMP_TO_EDGE,
						SYCL_FILTERING_NEAREST),
			   border = whole_sampler(SYCL_ADDRESSING_CLAMP, SYCL_FILTERING_NEAREST),
			   linear = whole_sampler(SYCL_ADDRESSING_CLAMP, SYCL_FILTERING_LINEAR);
	for (size_t i = 0; i < sizeof(ints_cases) / sizeof(*ints_cases); i++) {
		const struct whole_case *of = &ints_cases[i];
		int32_t written[4], read[4] = {0}, sampled[4] = {0}, at_edge[4] = {0},
				    beyond[4] = {7, 7, 7, 7};
		uint32_t none[4];
		sycl_image image = NULL;
		sycl_host_image accessor = whole_image(of, &image);
		for (int c = 0; c < 4; c++)
			written[c] = (int32_t)of->written[c];
		MUST(sycl_host_image_write_int(accessor, whole_place, written));
		MUST(sycl_host_image_read_int(accessor, whole_place, read));
		MUST(sycl_host_image_sample_int(accessor, &border, whole_inside_at, sampled));
		MUST(sycl_host_image_sample_int(accessor, &edge, whole_edge_at, at_edge));
		MUST(sycl_host_image_sample_int(accessor, &border, whole_edge_at, beyond));
		for (int c = 0; c < 4; c++) {
			const int32_t stored = (int32_t)of->stored[c];
			cr_assert(read[c] == stored && sampled[c] == stored &&
					  at_edge[c] == stored && beyond[c] == 0,
				  "format %d, channel %d: %d %d %d %d", (int)of->format, c, read[c],
				  sampled[c], at_edge[c], beyond[c]);
		}
		must_lie(accessor, 5, of);
		REFUSED(sycl_host_image_read_int(accessor, whole_outside, read),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_host_image_read_uint(accessor, whole_place, none), SYCL_ERROR_INVALID);
		REFUSED(sycl_host_image_sample_int(accessor, &linear, whole_inside_at, sampled),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_host_image_sample_uint(accessor, &border, whole_inside_at, none),
			SYCL_ERROR_INVALID);
		MUST(sycl_host_image_release(accessor));
		MUST(sycl_image_release(image));
	}
}

Test(images, C20_G5_the_host_reads_writes_and_samples_uints)
{
	const sycl_sampler edge = whole_sampler(SYCL_ADDRESSING_CLAMP_TO_EDGE,
						SYCL_FILTERING_NEAREST),
			   border = whole_sampler(SYCL_ADDRESSING_CLAMP, SYCL_FILTERING_NEAREST),
			   linear = whole_sampler(SYCL_ADDRESSING_CLAMP, SYCL_FILTERING_LINEAR);
	for (size_t i = 0; i < sizeof(uints_cases) / sizeof(*uints_cases); i++) {
		const struct whole_case *of = &uints_cases[i];
		uint32_t written[4], read[4] = {0}, sampled[4] = {0}, at_edge[4] = {0},
				     beyond[4] = {7, 7, 7, 7};
		int32_t none[4];
		sycl_image image = NULL;
		sycl_host_image accessor = whole_image(of, &image);
		for (int c = 0; c < 4; c++)
			written[c] = (uint32_t)of->written[c];
		MUST(sycl_host_image_write_uint(accessor, whole_place, written));
		MUST(sycl_host_image_read_uint(accessor, whole_place, read));
		MUST(sycl_host_image_sample_uint(accessor, &border, whole_inside_at, sampled));
		MUST(sycl_host_image_sample_uint(accessor, &edge, whole_edge_at, at_edge));
		MUST(sycl_host_image_sample_uint(accessor, &border, whole_edge_at, beyond));
		for (int c = 0; c < 4; c++) {
			const uint32_t stored = (uint32_t)of->stored[c];
			cr_assert(read[c] == stored && sampled[c] == stored &&
					  at_edge[c] == stored && beyond[c] == 0,
				  "format %d, channel %d: %u %u %u %u", (int)of->format, c, read[c],
				  sampled[c], at_edge[c], beyond[c]);
		}
		must_lie(accessor, 5, of);
		REFUSED(sycl_host_image_write_uint(accessor, whole_outside, written),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_host_image_read_int(accessor, whole_place, none), SYCL_ERROR_INVALID);
		REFUSED(sycl_host_image_sample_uint(accessor, &linear, whole_inside_at, sampled),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_host_image_sample_int(accessor, &border, whole_inside_at, none),
			SYCL_ERROR_INVALID);
		MUST(sycl_host_image_release(accessor));
		MUST(sycl_image_release(image));
	}
}

/* Computed by hand: a row of 10, 20, 30 in r, sampled halfway between two pixels and outside. */
Test(images, G5_G6_S2_the_host_samples_as_a_kernel_does)
{
	static const float pixels[3][4] = {{10, 0, 0, 1}, {20, 0, 0, 1}, {30, 0, 0, 1}};
	static const struct {
		sycl_addressing_mode addressing;
		sycl_coordinate_normalization_mode normalization;
		sycl_filtering_mode filtering;
		float at, r, a;
	} table[] = {
		{SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_NEAREST, 1.9f,
		 20, 1},
		{SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_NEAREST, 3.1f,
		 0, 0},
		{SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_LINEAR, 1.0f,
		 15, 1},
		{SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_LINEAR, 0.0f,
		 5, 0.5f},
		{SYCL_ADDRESSING_CLAMP_TO_EDGE, SYCL_COORDINATE_UNNORMALIZED,
		 SYCL_FILTERING_NEAREST, 7.0f, 30, 1},
		{SYCL_ADDRESSING_CLAMP_TO_EDGE, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_LINEAR,
		 -2.0f, 10, 1},
		{SYCL_ADDRESSING_CLAMP_TO_EDGE, SYCL_COORDINATE_NORMALIZED, SYCL_FILTERING_NEAREST,
		 0.5f, 20, 1},
		{SYCL_ADDRESSING_REPEAT, SYCL_COORDINATE_NORMALIZED, SYCL_FILTERING_NEAREST, 1.1f,
		 10, 1},
		{SYCL_ADDRESSING_REPEAT, SYCL_COORDINATE_NORMALIZED, SYCL_FILTERING_LINEAR, 1.0f,
		 20, 1},
		{SYCL_ADDRESSING_REPEAT, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_NEAREST, 3.5f,
		 0, 0},
		{SYCL_ADDRESSING_MIRRORED_REPEAT, SYCL_COORDINATE_NORMALIZED,
		 SYCL_FILTERING_NEAREST, 1.1f, 30, 1},
		{SYCL_ADDRESSING_MIRRORED_REPEAT, SYCL_COORDINATE_NORMALIZED,
		 SYCL_FILTERING_NEAREST, 2.1f, 10, 1},
		{SYCL_ADDRESSING_MIRRORED_REPEAT, SYCL_COORDINATE_UNNORMALIZED,
		 SYCL_FILTERING_NEAREST, -0.5f, 0, 0},
		{SYCL_ADDRESSING_NONE, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_NEAREST, -0.5f,
		 0, 0},
	};
	sycl_image image = NULL;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT, sycl_range1(3),
			       (void *)(uintptr_t)pixels, SYCL_HOST_CONST, &image));
	sycl_host_image accessor = library_images_host_of(image, SYCL_ACCESS_READ);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const sycl_sampler sampler = sycl_sampler_create(
			table[i].addressing, table[i].normalization, table[i].filtering);
		float value[4] = {0};
		MUST(sycl_host_image_sample_float(accessor, &sampler, &table[i].at, value));
		cr_assert(fabsf(value[0] - table[i].r) < 1e-4f &&
				  fabsf(value[3] - table[i].a) < 1e-4f,
			  "%zu: %g %g", i, (double)value[0], (double)value[3]);
	}
	sycl_sampler none = {0, 0, 0, 0};
	float value[4];
	REFUSED(sycl_host_image_sample_float(accessor, &none, value, value), SYCL_ERROR_INVALID);
	REFUSED(sycl_host_image_sample_float(accessor, NULL, value, value), SYCL_ERROR_INVALID);
	MUST(sycl_host_image_release(accessor));
	MUST(sycl_image_release(image));
}

/* The three tables of SYCL's specification, and the sentence between them. */
Test(images, G5_G6_S2_the_mapping_of_samplers_is_that_of_the_specification)
{
	enum { WRAP = 0, CLAMP = 1, MIRROR = 2, BORDER = 3 };
	static const struct {
		sycl_addressing_mode addressing;
		uint32_t normalized, unnormalized, opencl, opencl_unnormalized;
	} rows[] = {
		{SYCL_ADDRESSING_MIRRORED_REPEAT, MIRROR, BORDER, 0x1134, 0x1132},
		{SYCL_ADDRESSING_REPEAT, WRAP, BORDER, 0x1133, 0x1132},
		{SYCL_ADDRESSING_CLAMP_TO_EDGE, CLAMP, CLAMP, 0x1131, 0x1131},
		{SYCL_ADDRESSING_CLAMP, CLAMP, CLAMP, 0x1132, 0x1132},
		{SYCL_ADDRESSING_NONE, BORDER, BORDER, 0x1132, 0x1132},
	};
	for (int i = 0; i < 5 * 4; i++) {
		uint32_t normalized = i & 1, linear = i >> 1 & 1, row = (uint32_t)i / 4;
		const sycl_sampler sampler = sycl_sampler_create(
			rows[row].addressing, (sycl_coordinate_normalization_mode)normalized,
			(sycl_filtering_mode)linear);
		sycl_sampler_mapping mapping = SYCL_SAMPLER_MAPPING_INIT;
		MUST(sycl_sampler_get_mapping(&sampler, SYCL_BACKEND_KIND_CUDA, &mapping));
		cr_assert(eq(u32, mapping.addressing,
			     normalized ? rows[row].normalized : rows[row].unnormalized));
		cr_assert(eq(u32, mapping.filtering, linear));
		cr_assert(eq(u32, mapping.normalized_coords, normalized));
		MUST(sycl_sampler_get_mapping(&sampler, SYCL_BACKEND_KIND_OPENCL, &mapping));
		cr_assert(eq(u32, mapping.addressing,
			     normalized ? rows[row].opencl : rows[row].opencl_unnormalized));
		cr_assert(eq(u32, mapping.filtering, linear ? 0x1141 : 0x1140));
		REFUSED(sycl_sampler_get_mapping(&sampler, SYCL_BACKEND_KIND_FAKE, &mapping),
			SYCL_ERROR_INVALID);
		mapping.struct_bytes--;
		REFUSED(sycl_sampler_get_mapping(&sampler, SYCL_BACKEND_KIND_CUDA, &mapping),
			SYCL_ERROR_INVALID);
	}
}

/* A recorded group is also sent to other queues, whose devices must be able to use the image as
 * well. */
Test(images, B15_E21_a_frozen_group_has_its_images_and_samplers)
{
	sycl_image a = library_images_make_image(NULL, SYCL_HOST_NONE),
		   b = library_images_make_image(NULL, SYCL_HOST_NONE);
	sycl_queue other = portable_beside(queue, 0);
	sycl_kernel kernel = portable_kernel(queue, "copy_image");
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_image(handler, 0, b, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_image(handler, 1, a, SYCL_ACCESS_READ));
	MUST(sycl_handler_single_task(handler, kernel));
	MUST(sycl_handler_freeze(handler, &group));
	for (uint32_t i = 0; i < 3; i++) {
		library_images_fill_image(queue, a, i + 20, SYCL_ACCESS_WRITE_NO_INIT, NULL);
		MUST(sycl_queue_submit_group(i % 2 ? other : queue, group, NULL));
		cr_assert(image_is(b, (int)i + 20));
	}
	MUST(sycl_command_group_release(group));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(other));
	MUST(sycl_image_release(a));
	MUST(sycl_image_release(b));
}
