/* Images behind a closed gate. If a device has none, the service reports that later, and nothing
 * here waits for it. */
#include "library/blocking.h"

#include "syclclient/image.h"

static void call_host_images(sycl_image image, const sycl_sampler *sampler)
{
	sycl_host_image accessor = NULL;
	const uint64_t place[2] = {0, 0};
	const float coordinate[2] = {0.5f, 0.5f};
	void *pointer = NULL;
	uint32_t number = 0;
	float floats[4] = {0};
	int32_t ints[4] = {0};
	uint32_t uints[4] = {0};
	/* No group uses it. */
	CALL_MUST(sycl_host_image_create_for, image, SYCL_ACCESS_READ_WRITE, LONG_NS, &accessor);
	CALL_MUST(sycl_host_image_retain, accessor);
	CALL_MUST(sycl_host_image_release, accessor);
	CALL_MUST(sycl_host_image_get_reference_count, accessor, &number);
	CALL_MUST(sycl_host_image_get_pointer, accessor, &pointer);
	(void)CALL(sycl_host_image_read_float, accessor, place, floats);
	(void)CALL(sycl_host_image_read_int, accessor, place, ints);
	(void)CALL(sycl_host_image_read_uint, accessor, place, uints);
	(void)CALL(sycl_host_image_write_float, accessor, place, floats);
	(void)CALL(sycl_host_image_write_int, accessor, place, ints);
	(void)CALL(sycl_host_image_write_uint, accessor, place, uints);
	(void)CALL(sycl_host_image_sample_float, accessor, sampler, coordinate, floats);
	(void)CALL(sycl_host_image_sample_int, accessor, sampler, coordinate, ints);
	(void)CALL(sycl_host_image_sample_uint, accessor, sampler, coordinate, uints);
	MUST(sycl_host_image_release(accessor));
}

static void call_image_arguments(const struct gated *gated, sycl_image image,
				 const sycl_sampler *sampler)
{
	sycl_handler handler = NULL;
	sycl_image second = NULL;
	MUST(sycl_image_create(gated->platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, sycl_range2(4, 4),
			       NULL, SYCL_HOST_NONE, &second));
	MUST(sycl_handler_begin(gated->queue, &handler));
	(void)CALL(sycl_handler_set_image, handler, 0, image, SYCL_ACCESS_READ);
	(void)CALL(sycl_handler_set_sampled_image, handler, 1, image, sampler);
	(void)CALL(sycl_handler_set_sampler, handler, 2, sampler);
	(void)CALL(sycl_handler_copy_image, handler, image, second);
	MUST(sycl_handler_discard(handler));
	const struct sycl_image_region part = SYCL_IMAGE_REGION_INIT;
	const struct sycl_image_view view = SYCL_IMAGE_VIEW_INIT;
	static char pixel[16];
	MUST(sycl_handler_begin(gated->queue, &handler));
	(void)CALL(sycl_handler_set_image_view, handler, 0, gated->held, SYCL_ACCESS_READ, &view);
	(void)CALL(sycl_handler_copy_image_region, handler, image, second, &part);
	(void)CALL(sycl_handler_copy_image_to_buffer, handler, image, gated->held, 0, &part);
	(void)CALL(sycl_handler_copy_buffer_to_image, handler, gated->held, 0, image, &part);
	(void)CALL(sycl_handler_fill_image, handler, image, pixel, &part);
	(void)CALL(sycl_handler_copy_image_to_host, handler, image, pixel, &part);
	(void)CALL(sycl_handler_copy_image_from_host, handler, pixel, image, &part);
	(void)CALL(sycl_handler_read_late, handler);
	MUST(sycl_handler_discard(handler));
	CALL_MUST(sycl_image_release, second);
}

void call_images(const struct gated *gated)
{
	sycl_sampler sampler = sycl_sampler_create(
		SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_NEAREST);
	sycl_sampler_mapping mapping = SYCL_SAMPLER_MAPPING_INIT;
	sycl_image_format format;
	sycl_image image = NULL;
	sycl_range range;
	uint64_t wide = 0;
	uint32_t number = 0;
	CALL_MUST(sycl_sampler_get_mapping, &sampler, SYCL_BACKEND_KIND_OPENCL, &mapping);
	CALL_MUST(sycl_device_get_image_formats, gated->device, 0, NULL, &number);
	CALL_MUST(sycl_device_get_general_image_formats, gated->device, 0, NULL, &number);
	struct sycl_image_options options = SYCL_IMAGE_OPTIONS_INIT;
	options.range = sycl_range2(4, 4);
	options.layered = 1;
	CALL_MUST(sycl_image_create_with, gated->platform, &options, &image);
	CALL_MUST(sycl_image_get_layers, image, &number);
	CALL_MUST(sycl_image_release, image);
	CALL_MUST(sycl_image_create, gated->platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM,
		  sycl_range2(4, 4), NULL, SYCL_HOST_NONE, &image);
	CALL_MUST(sycl_image_retain, image);
	CALL_MUST(sycl_image_release, image);
	CALL_MUST(sycl_image_get_reference_count, image, &number);
	CALL_MUST(sycl_image_get_format, image, &format);
	CALL_MUST(sycl_image_get_range, image, &range);
	CALL_MUST(sycl_image_get_size, image, &wide);
	CALL_MUST(sycl_image_set_final_data, image, NULL);
	CALL_MUST(sycl_image_set_write_back, image, 0);
	call_host_images(image, &sampler);
	call_image_arguments(gated, image, &sampler);
	CALL_MUST(sycl_image_release_for, image, 0);
}
