#include "image_format.h"

#include <errno.h>
#include <stddef.h>

static const struct image_format formats[IMAGE_FORMAT_COUNT] = {
	{"r8g8b8a8_unorm", IMAGE_CHANNEL_UNORM, 1, false},
	{"r16g16b16a16_unorm", IMAGE_CHANNEL_UNORM, 2, false},
	{"r8g8b8a8_sint", IMAGE_CHANNEL_SINT, 1, false},
	{"r16g16b16a16_sint", IMAGE_CHANNEL_SINT, 2, false},
	{"r32b32g32a32_sint", IMAGE_CHANNEL_SINT, 4, false},
	{"r8g8b8a8_uint", IMAGE_CHANNEL_UINT, 1, false},
	{"r16g16b16a16_uint", IMAGE_CHANNEL_UINT, 2, false},
	{"r32b32g32a32_uint", IMAGE_CHANNEL_UINT, 4, false},
	{"r16b16g16a16_sfloat", IMAGE_CHANNEL_FLOAT, 2, false},
	{"r32g32b32a32_sfloat", IMAGE_CHANNEL_FLOAT, 4, false},
	{"b8g8r8a8_unorm", IMAGE_CHANNEL_UNORM, 1, true},
};

const struct image_format *image_format_find(uint32_t format)
{
	return format >= 1 && format <= IMAGE_FORMAT_COUNT ? &formats[format - 1] : NULL;
}

uint32_t image_pixel_bytes(uint32_t format)
{
	const struct image_format *found = image_format_find(format);

	return found ? 4 * found->channel_bytes : 0;
}

bool image_format_is_float(uint32_t format)
{
	const struct image_format *found = image_format_find(format);

	return found &&
	       (found->channel == IMAGE_CHANNEL_UNORM || found->channel == IMAGE_CHANNEL_FLOAT);
}

int image_bytes(uint32_t format, bool is_layered, uint32_t dimensions, const uint64_t *size,
		uint64_t *bytes_out)
{
	uint64_t bytes = image_pixel_bytes(format);

	if (bytes == 0 || dimensions < (is_layered ? 2u : 1u) || dimensions > 3)
		return -EINVAL;
	for (uint32_t i = 0; i < dimensions; i++)
		if (size[i] == 0 || size[i] > IMAGE_SIZE_MAX)
			return -EINVAL;
	for (uint32_t i = 0; i < dimensions; i++)
		if (__builtin_mul_overflow(bytes, size[i], &bytes) || bytes > INT64_MAX)
			return -EOVERFLOW;
	*bytes_out = bytes;
	return 0;
}
