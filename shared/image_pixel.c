#include "image_pixel.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Every finite half is a multiple of 2^-24. */
float image_half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u,
		 fraction = half & 1023u;
	uint32_t bits = sign | (exponent + 112u) << 23 | fraction << 13;
	float value;

	if (exponent == 31)
		bits = sign | 0x7f800000u | fraction << 13;
	if (exponent == 0) {
		value = (float)fraction * 0x1p-24f;
		return sign ? -value : value;
	}
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t shift_to_even(uint32_t value, uint32_t by)
{
	uint32_t shifted = value >> by, rest = value & ((1u << by) - 1u), middle = 1u << (by - 1u);

	return shifted + (rest > middle || (rest == middle && (shifted & 1u)));
}

uint16_t image_float_to_half(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu,
		 fraction = (size & 0x7fffffu) | 0x800000u;

	if (size > 0x7f800000u)
		return (uint16_t)(sign | 0x7e00u); /* not a number */
	if (size >= 0x477ff000u) /* 65520, the middle between the largest half and the next step */
		return (uint16_t)(sign | 0x7c00u);
	if (size < 0x33000000u) /* below half of the smallest */
		return (uint16_t)sign;
	/* A carry out of the fraction correctly goes into the exponent. */
	if (size < 0x38800000u)
		return (uint16_t)(sign | shift_to_even(fraction, 126u - (size >> 23)));
	return (uint16_t)(sign | shift_to_even(size - 0x38000000u, 13));
}

/* The index of a component among the stored ones. */
static uint32_t pixel_place_of(const struct image_format *format, uint32_t component)
{
	return format->is_bgra && component < 3 ? 2 - component : component;
}

static uint32_t pixel_load_component(const struct image_format *format, const void *bytes,
				     uint32_t component)
{
	const uint8_t *at = (const uint8_t *)bytes +
			    (size_t)pixel_place_of(format, component) * format->channel_bytes;
	uint32_t value = 0;

	memcpy(&value, at,
	       format->channel_bytes); /* little-endian, as on every supported machine (A26) */
	return value;
}

static void pixel_store_component(const struct image_format *format, void *bytes,
				  uint32_t component, uint32_t value)
{
	uint8_t *at = (uint8_t *)bytes +
		      (size_t)pixel_place_of(format, component) * format->channel_bytes;

	memcpy(at, &value, format->channel_bytes);
}

/* General formats are not converted here. */
static const struct image_format *pixel_format_find(uint32_t number)
{
	return number <= IMAGE_FORMAT_COUNT ? image_format_find(number) : NULL;
}

int image_pixel_read_float(uint32_t number, const void *bytes, float value_out[4])
{
	const struct image_format *format = pixel_format_find(number);

	if (!format || !image_format_is_float(number))
		return -EINVAL;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t raw = pixel_load_component(format, bytes, i);
		if (format->channel == IMAGE_CHANNEL_UNORM)
			value_out[i] =
				(float)raw / (format->channel_bytes == 1 ? 255.0f : 65535.0f);
		else if (format->channel_bytes == 2)
			value_out[i] = image_half_to_float((uint16_t)raw);
		else
			memcpy(&value_out[i], &raw, sizeof(raw));
	}
	return 0;
}

static uint32_t pixel_to_unorm(float value, float steps)
{
	float limited = value > 0.0f ? value : 0.0f; /* NaN becomes 0, too */

	return (uint32_t)rintf((limited < 1.0f ? limited : 1.0f) * steps);
}

int image_pixel_write_float(uint32_t number, void *bytes, const float value[4])
{
	const struct image_format *format = pixel_format_find(number);

	if (!format || !image_format_is_float(number))
		return -EINVAL;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t raw = 0;
		if (format->channel == IMAGE_CHANNEL_UNORM)
			raw = pixel_to_unorm(value[i],
					     format->channel_bytes == 1 ? 255.0f : 65535.0f);
		else if (format->channel_bytes == 2)
			raw = image_float_to_half(value[i]);
		else
			memcpy(&raw, &value[i], sizeof(raw));
		pixel_store_component(format, bytes, i, raw);
	}
	return 0;
}

int image_pixel_read_int(uint32_t number, const void *bytes, int32_t value_out[4])
{
	const struct image_format *format = pixel_format_find(number);

	if (!format || format->channel != IMAGE_CHANNEL_SINT)
		return -EINVAL;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t raw = pixel_load_component(format, bytes, i);
		value_out[i] = format->channel_bytes == 1   ? (int8_t)raw
			       : format->channel_bytes == 2 ? (int16_t)raw
							    : (int32_t)raw;
	}
	return 0;
}

int image_pixel_write_int(uint32_t number, void *bytes, const int32_t value[4])
{
	const struct image_format *format = pixel_format_find(number);

	if (!format || format->channel != IMAGE_CHANNEL_SINT)
		return -EINVAL;
	int32_t most = (int32_t)(UINT32_MAX >> (33 - 8 * format->channel_bytes));
	for (uint32_t i = 0; i < 4; i++) {
		int32_t limited = value[i] > most        ? most
				  : value[i] < -most - 1 ? -most - 1
							 : value[i];
		pixel_store_component(format, bytes, i, (uint32_t)limited);
	}
	return 0;
}

int image_pixel_read_uint(uint32_t number, const void *bytes, uint32_t value_out[4])
{
	const struct image_format *format = pixel_format_find(number);

	if (!format || format->channel != IMAGE_CHANNEL_UINT)
		return -EINVAL;
	for (uint32_t i = 0; i < 4; i++)
		value_out[i] = pixel_load_component(format, bytes, i);
	return 0;
}

int image_pixel_write_uint(uint32_t number, void *bytes, const uint32_t value[4])
{
	const struct image_format *format = pixel_format_find(number);

	if (!format || format->channel != IMAGE_CHANNEL_UINT)
		return -EINVAL;
	uint32_t most = UINT32_MAX >> (32 - 8 * format->channel_bytes);
	for (uint32_t i = 0; i < 4; i++)
		pixel_store_component(format, bytes, i, value[i] < most ? value[i] : most);
	return 0;
}
