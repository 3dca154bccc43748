#include "image_format.h"

#include <errno.h>
#include <stddef.h>

static const struct image_format formats[IMAGE_FORMAT_COUNT] = {
	{"r8g8b8a8_unorm", IMAGE_CHANNEL_UNORM, 1, false, 4},
	{"r16g16b16a16_unorm", IMAGE_CHANNEL_UNORM, 2, false, 4},
	{"r8g8b8a8_sint", IMAGE_CHANNEL_SINT, 1, false, 4},
	{"r16g16b16a16_sint", IMAGE_CHANNEL_SINT, 2, false, 4},
	{"r32b32g32a32_sint", IMAGE_CHANNEL_SINT, 4, false, 4},
	{"r8g8b8a8_uint", IMAGE_CHANNEL_UINT, 1, false, 4},
	{"r16g16b16a16_uint", IMAGE_CHANNEL_UINT, 2, false, 4},
	{"r32b32g32a32_uint", IMAGE_CHANNEL_UINT, 4, false, 4},
	{"r16b16g16a16_sfloat", IMAGE_CHANNEL_FLOAT, 2, false, 4},
	{"r32g32b32a32_sfloat", IMAGE_CHANNEL_FLOAT, 4, false, 4},
	{"b8g8r8a8_unorm", IMAGE_CHANNEL_UNORM, 1, true, 4},
};

/* What an order of channels allows. */
enum type_set { TYPES_ALL, TYPES_FLOAT, TYPES_PACKED, TYPES_8, TYPES_DEPTH, TYPES_SRGB };

static const struct {
	uint32_t channels;
	enum type_set types;
} orders[IMAGE_ORDERS] = {
	[IMAGE_ORDER_R] = {1, TYPES_ALL},           [IMAGE_ORDER_A] = {1, TYPES_ALL},
	[IMAGE_ORDER_RG] = {2, TYPES_ALL},          [IMAGE_ORDER_RA] = {2, TYPES_ALL},
	[IMAGE_ORDER_RGB] = {1, TYPES_PACKED},      [IMAGE_ORDER_RGBA] = {4, TYPES_ALL},
	[IMAGE_ORDER_BGRA] = {4, TYPES_8},          [IMAGE_ORDER_ARGB] = {4, TYPES_8},
	[IMAGE_ORDER_INTENSITY] = {1, TYPES_FLOAT}, [IMAGE_ORDER_LUMINANCE] = {1, TYPES_FLOAT},
	[IMAGE_ORDER_RX] = {1, TYPES_ALL},          [IMAGE_ORDER_RGX] = {2, TYPES_ALL},
	[IMAGE_ORDER_RGBX] = {1, TYPES_PACKED},     [IMAGE_ORDER_DEPTH] = {1, TYPES_DEPTH},
	[IMAGE_ORDER_SRGB] = {3, TYPES_SRGB},       [IMAGE_ORDER_SRGBX] = {4, TYPES_SRGB},
	[IMAGE_ORDER_SRGBA] = {4, TYPES_SRGB},      [IMAGE_ORDER_SBGRA] = {4, TYPES_SRGB},
	[IMAGE_ORDER_ABGR] = {4, TYPES_8},
};

static const struct {
	enum image_channel channel;
	uint32_t bytes;
	unsigned sets; /* bit 1 << enum type_set */
} types[IMAGE_TYPES_KNOWN] = {
#define IN(set) (1u << TYPES_##set)
	[IMAGE_TYPE_SNORM8] = {IMAGE_CHANNEL_SNORM, 1, IN(ALL) | IN(FLOAT) | IN(8)},
	[IMAGE_TYPE_SNORM16] = {IMAGE_CHANNEL_SNORM, 2, IN(ALL) | IN(FLOAT)},
	[IMAGE_TYPE_UNORM8] = {IMAGE_CHANNEL_UNORM, 1, IN(ALL) | IN(FLOAT) | IN(8) | IN(SRGB)},
	[IMAGE_TYPE_UNORM16] = {IMAGE_CHANNEL_UNORM, 2, IN(ALL) | IN(FLOAT) | IN(DEPTH)},
	[IMAGE_TYPE_UNORM_565] = {IMAGE_CHANNEL_UNORM, 2, IN(PACKED)},
	[IMAGE_TYPE_UNORM_555] = {IMAGE_CHANNEL_UNORM, 2, IN(PACKED)},
	[IMAGE_TYPE_UNORM_101010] = {IMAGE_CHANNEL_UNORM, 4, IN(PACKED)},
	[IMAGE_TYPE_SINT8] = {IMAGE_CHANNEL_SINT, 1, IN(ALL) | IN(8)},
	[IMAGE_TYPE_SINT16] = {IMAGE_CHANNEL_SINT, 2, IN(ALL)},
	[IMAGE_TYPE_SINT32] = {IMAGE_CHANNEL_SINT, 4, IN(ALL)},
	[IMAGE_TYPE_UINT8] = {IMAGE_CHANNEL_UINT, 1, IN(ALL) | IN(8)},
	[IMAGE_TYPE_UINT16] = {IMAGE_CHANNEL_UINT, 2, IN(ALL)},
	[IMAGE_TYPE_UINT32] = {IMAGE_CHANNEL_UINT, 4, IN(ALL)},
	[IMAGE_TYPE_HALF] = {IMAGE_CHANNEL_FLOAT, 2, IN(ALL) | IN(FLOAT)},
	[IMAGE_TYPE_FLOAT] = {IMAGE_CHANNEL_FLOAT, 4, IN(ALL) | IN(FLOAT) | IN(DEPTH)},
	[IMAGE_TYPE_UNORM_101010_2] = {IMAGE_CHANNEL_UNORM, 4, 0}, /* of RGBA alone */
#undef IN
};

/* A pixel of general formats: by the number of channels, the kind of channel, and its bytes. */
#define PIXELS(channel, bytes)                                                                     \
	{                                                                                          \
		{"general format", channel, bytes, false, 1},                                      \
			{"general format", channel, bytes, false, 2},                              \
			{"general format", channel, bytes, false, 3},                              \
			{"general format", channel, bytes, false, 4},                              \
	}
static const struct image_format general[IMAGE_CHANNEL_SNORM + 1][3][4] = {
	[IMAGE_CHANNEL_UNORM] = {PIXELS(IMAGE_CHANNEL_UNORM, 1), PIXELS(IMAGE_CHANNEL_UNORM, 2),
				 PIXELS(IMAGE_CHANNEL_UNORM, 4)},
	[IMAGE_CHANNEL_SINT] = {PIXELS(IMAGE_CHANNEL_SINT, 1), PIXELS(IMAGE_CHANNEL_SINT, 2),
				PIXELS(IMAGE_CHANNEL_SINT, 4)},
	[IMAGE_CHANNEL_UINT] = {PIXELS(IMAGE_CHANNEL_UINT, 1), PIXELS(IMAGE_CHANNEL_UINT, 2),
				PIXELS(IMAGE_CHANNEL_UINT, 4)},
	[IMAGE_CHANNEL_FLOAT] = {PIXELS(IMAGE_CHANNEL_FLOAT, 1), PIXELS(IMAGE_CHANNEL_FLOAT, 2),
				 PIXELS(IMAGE_CHANNEL_FLOAT, 4)},
	[IMAGE_CHANNEL_SNORM] = {PIXELS(IMAGE_CHANNEL_SNORM, 1), PIXELS(IMAGE_CHANNEL_SNORM, 2),
				 PIXELS(IMAGE_CHANNEL_SNORM, 4)},
};

static const struct image_format *general_find(uint32_t order, uint32_t type)
{
	if (order >= IMAGE_ORDERS || type >= IMAGE_TYPES_KNOWN)
		return NULL;
	bool is_packed_rgba = order == IMAGE_ORDER_RGBA && type == IMAGE_TYPE_UNORM_101010_2;
	if (!is_packed_rgba && !(types[type].sets & 1u << orders[order].types))
		return NULL;
	uint32_t bytes = types[type].bytes, channels = is_packed_rgba ? 1 : orders[order].channels;
	return &general[types[type].channel][bytes == 4 ? 2 : bytes - 1][channels - 1];
}

const struct image_format *image_format_find(uint32_t format)
{
	if (format >= IMAGE_FORMAT_GENERAL)
		return general_find((format - IMAGE_FORMAT_GENERAL) / IMAGE_TYPES,
				    (format - IMAGE_FORMAT_GENERAL) % IMAGE_TYPES);
	return format >= 1 && format <= IMAGE_FORMAT_COUNT ? &formats[format - 1] : NULL;
}

uint32_t image_pixel_bytes(uint32_t format)
{
	const struct image_format *found = image_format_find(format);

	return found ? found->channels * found->channel_bytes : 0;
}

bool image_format_is_float(uint32_t format)
{
	const struct image_format *found = image_format_find(format);

	return found && found->channel != IMAGE_CHANNEL_SINT &&
	       found->channel != IMAGE_CHANNEL_UINT;
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
