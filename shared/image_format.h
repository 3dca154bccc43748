/*
 * Image formats, the bytes of a pixel of each in memory, and the size of an image. Numbers equal
 * those of backend.h and of syclclient/image.h. Numbers 1 to 11 are SYCL's formats (G4): channels
 * r, g, b, a; only b8g8r8a8 stores them as b, g, r, a. A number of IMAGE_FORMAT_GENERAL and more is
 * an order of channels and a type of them, which only some devices have. Pure: any thread, never
 * blocks.
 */
#ifndef SYCL_SHARED_IMAGE_FORMAT_H
#define SYCL_SHARED_IMAGE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define IMAGE_FORMAT_COUNT    11u        /* SYCL's formats are from 1 to this number */
#define IMAGE_SIZE_MAX        (1u << 20) /* in one dimension; devices allow less */
#define IMAGE_PIXEL_BYTES_MAX 16u

/* IMAGE_FORMAT_GENERAL + order * IMAGE_TYPES + type. */
#define IMAGE_FORMAT_GENERAL 256u
#define IMAGE_TYPES          32u
#define IMAGE_FORMAT(order, type)                                                                  \
	(IMAGE_FORMAT_GENERAL + (uint32_t)(order)*IMAGE_TYPES + (uint32_t)(type))

enum image_order {
	IMAGE_ORDER_R = 0,
	IMAGE_ORDER_A = 1,
	IMAGE_ORDER_RG = 2,
	IMAGE_ORDER_RA = 3,
	IMAGE_ORDER_RGB = 4,
	IMAGE_ORDER_RGBA = 5,
	IMAGE_ORDER_BGRA = 6,
	IMAGE_ORDER_ARGB = 7,
	IMAGE_ORDER_INTENSITY = 8,
	IMAGE_ORDER_LUMINANCE = 9,
	IMAGE_ORDER_RX = 10,
	IMAGE_ORDER_RGX = 11,
	IMAGE_ORDER_RGBX = 12,
	IMAGE_ORDER_DEPTH = 13,
	IMAGE_ORDER_SRGB = 14,
	IMAGE_ORDER_SRGBX = 15,
	IMAGE_ORDER_SRGBA = 16,
	IMAGE_ORDER_SBGRA = 17,
	IMAGE_ORDER_ABGR = 18,
	IMAGE_ORDERS = 19,
};

enum image_type {
	IMAGE_TYPE_SNORM8 = 0,
	IMAGE_TYPE_SNORM16 = 1,
	IMAGE_TYPE_UNORM8 = 2,
	IMAGE_TYPE_UNORM16 = 3,
	IMAGE_TYPE_UNORM_565 = 4,
	IMAGE_TYPE_UNORM_555 = 5,
	IMAGE_TYPE_UNORM_101010 = 6,
	IMAGE_TYPE_SINT8 = 7,
	IMAGE_TYPE_SINT16 = 8,
	IMAGE_TYPE_SINT32 = 9,
	IMAGE_TYPE_UINT8 = 10,
	IMAGE_TYPE_UINT16 = 11,
	IMAGE_TYPE_UINT32 = 12,
	IMAGE_TYPE_HALF = 13,
	IMAGE_TYPE_FLOAT = 14,
	IMAGE_TYPE_UNORM_101010_2 = 15,
	IMAGE_TYPES_KNOWN = 16,
};

/* Kinds of images of a general format: bits of a device's list. */
enum image_kind {
	IMAGE_KIND_1D = 0,
	IMAGE_KIND_2D = 1,
	IMAGE_KIND_3D = 2,
	IMAGE_KIND_1D_LAYERED = 3,
	IMAGE_KIND_2D_LAYERED = 4,
	IMAGE_KIND_1D_VIEW = 5, /* of a buffer; so is the next */
	IMAGE_KIND_2D_VIEW = 6,
	IMAGE_KINDS = 7,
};

/* An entry of a device's list: the format, and the kinds of images that have it. */
#define IMAGE_ENTRY_FORMAT(entry) ((entry)&0xffffu)
#define IMAGE_ENTRY_KINDS(entry)  ((entry) >> 16)

enum image_channel {
	IMAGE_CHANNEL_UNORM = 1, /* 0 to 1 in a kernel */
	IMAGE_CHANNEL_SINT = 2,
	IMAGE_CHANNEL_UINT = 3,
	IMAGE_CHANNEL_FLOAT = 4,
	IMAGE_CHANNEL_SNORM = 5, /* -1 to 1 in a kernel */
};

struct image_format {
	const char *name; /* "r8g8b8a8_unorm" */
	enum image_channel channel;
	uint32_t channel_bytes; /* bytes of each channel; of a packed one: of the pixel */
	bool is_bgra;
	uint32_t channels; /* channels in memory; of a packed format: 1 */
};

/* NULL: there is no such format. The result is static. */
const struct image_format *image_format_find(uint32_t format);
/* 0: there is no such format. */
uint32_t image_pixel_bytes(uint32_t format);
/*
 * True for UNORM, SNORM and FLOAT. Kernels read such formats as float4, so these can be sampled
 * linearly.
 */
bool image_format_is_float(uint32_t format);

/*
 * The size of a tightly packed image. A layered image has 2 or 3 dimensions. The first one counts
 * its layers, which are images of one dimension less. -EINVAL: no such format, not 1 to 3
 * dimensions, layers alone, or a size that is 0 (C16) or above IMAGE_SIZE_MAX. -EOVERFLOW: more
 * than 2^63 bytes.
 */
int image_bytes(uint32_t format, bool is_layered, uint32_t dimensions, const uint64_t *size,
		uint64_t *bytes_out);

#endif
