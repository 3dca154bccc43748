/*
 * The eleven image formats (G4), the bytes of a pixel of each in memory, and the size of an image.
 * Channels are r, g, b, a; only b8g8r8a8 stores them as b, g, r, a. Numbers equal those of
 * backend.h and of syclclient/image.h. Pure: any thread, never blocks.
 */
#ifndef SYCL_SHARED_IMAGE_FORMAT_H
#define SYCL_SHARED_IMAGE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define IMAGE_FORMAT_COUNT    11u        /* formats are from 1 to this number */
#define IMAGE_SIZE_MAX        (1u << 20) /* in one dimension; devices allow less */
#define IMAGE_PIXEL_BYTES_MAX 16u

enum image_channel {
	IMAGE_CHANNEL_UNORM = 1, /* 0 to 1 in a kernel */
	IMAGE_CHANNEL_SINT = 2,
	IMAGE_CHANNEL_UINT = 3,
	IMAGE_CHANNEL_FLOAT = 4,
};

struct image_format {
	const char *name; /* "r8g8b8a8_unorm" */
	enum image_channel channel;
	uint32_t channel_bytes; /* bytes of each of the four channels */
	bool is_bgra;
};

/* NULL: there is no such format. The result is static. */
const struct image_format *image_format_find(uint32_t format);
/* 0: there is no such format. */
uint32_t image_pixel_bytes(uint32_t format);
/*
 * True for UNORM and FLOAT. Kernels read such formats as float4, so these can be sampled linearly.
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
