/* Images: buffers with a description, of which the library keeps all that it keeps of buffers (D9 -
 * D14). */
#ifndef SYCL_CLIENT_IMAGE_H
#define SYCL_CLIENT_IMAGE_H

#include "memory/buffer.h"
#include "image_sample.h"

static inline bool is_image(const struct buffer *buffer)
{
	return buffer->image_format != 0;
}

/* Checks a sampler and returns its parts, in the numbers of shared/image_sample.h. */
sycl_result sampler_check(const sycl_sampler *sampler, struct image_sampler *sampler_out);
/* Checks that the device has the image's format, and allows images of its size. */
sycl_result image_check_device(const struct buffer *image, const struct device *device);
/* Checks that the device lists the format for views of so many dimensions. */
sycl_result image_check_view(uint32_t format, uint32_t dimensions, const struct device *device);
/* Checks that this sampler may read the image. */
sycl_result image_check_filter(const struct buffer *image, const struct image_sampler *sampler);

#endif
