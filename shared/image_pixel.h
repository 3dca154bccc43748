/*
 * Converts a pixel of one of SYCL's eleven formats between its storage and the four components that
 * a kernel gets (C20). The conversion is in float, so that host accessors read and write as a
 * device does. Components are r, g, b, a in every format.
 *
 * unorm: 0 to 1 in equal steps. Written values are limited to that range and rounded to the nearest
 * step, in the middle to the even one. NaN becomes 0. sint, uint: limited to the range of the
 * storage. half: rounded to the nearest, in the middle to the even one; a value that is too large
 * becomes infinite. Pure: any thread, never blocks.
 */
#ifndef SYCL_SHARED_IMAGE_PIXEL_H
#define SYCL_SHARED_IMAGE_PIXEL_H

#include "image_format.h"

/*
 * UNORM and FLOAT formats. -EINVAL: another format, or none. `bytes`: image_pixel_bytes() of them.
 */
int image_pixel_read_float(uint32_t format, const void *bytes, float value_out[4]);
int image_pixel_write_float(uint32_t format, void *bytes, const float value[4]);
/* SINT formats. */
int image_pixel_read_int(uint32_t format, const void *bytes, int32_t value_out[4]);
int image_pixel_write_int(uint32_t format, void *bytes, const int32_t value[4]);
/* UINT formats. */
int image_pixel_read_uint(uint32_t format, const void *bytes, uint32_t value_out[4]);
int image_pixel_write_uint(uint32_t format, void *bytes, const uint32_t value[4]);

float image_half_to_float(uint16_t half);
uint16_t image_float_to_half(float value);

#endif
