/* Images, USM, and memory that another process may open. A part of backend.h. */
#ifndef SYCL_BACKENDS_BACKEND_MEMORY_H
#define SYCL_BACKENDS_BACKEND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The eleven formats of 000 (G4); numbers equal to enum sycl_image_format of syclclient/image.h.
 * Channels r, g, b, a. A larger number is a general format (image_format.h). */
enum backend_image_format {
	BACKEND_IMAGE_R8G8B8A8_UNORM = 1,
	BACKEND_IMAGE_R16G16B16A16_UNORM = 2,
	BACKEND_IMAGE_R8G8B8A8_SINT = 3,
	BACKEND_IMAGE_R16G16B16A16_SINT = 4,
	BACKEND_IMAGE_R32B32G32A32_SINT = 5, /* S1: SYCL spells it so; channels are r, g, b, a */
	BACKEND_IMAGE_R8G8B8A8_UINT = 6,
	BACKEND_IMAGE_R16G16B16A16_UINT = 7,
	BACKEND_IMAGE_R32B32G32A32_UINT = 8,
	BACKEND_IMAGE_R16G16B16A16_SFLOAT = 9,
	BACKEND_IMAGE_R32G32B32A32_SFLOAT = 10,
	BACKEND_IMAGE_B8G8R8A8_UNORM = 11,
};

struct backend_image {
	enum backend_image_format format;
	uint32_t dimensions; /* 1 to 3 */
	uint64_t size[3]; /* SYCL's order: the last one, of `dimensions`, is the width; none is 0 */
	bool is_layered;  /* 2 or 3 dimensions: the first one counts layers, which are images of one
			     dimension less */
};

/* An image over the bytes of a buffer: 1 or 2 dimensions without layers, inside the buffer. */
struct backend_image_view {
	struct backend_image image;
	uint64_t offset_bytes, row_pitch; /* bytes between rows; not 0 */
};

/* S2: in kernels these have core SYCL's meaning; numbers equal to the enums of
 * syclclient/image.h. */
enum backend_addressing {
	BACKEND_ADDRESSING_MIRRORED_REPEAT = 1,
	BACKEND_ADDRESSING_REPEAT = 2,
	BACKEND_ADDRESSING_CLAMP_TO_EDGE = 3,
	BACKEND_ADDRESSING_CLAMP = 4, /* out of range: the border colour */
	BACKEND_ADDRESSING_NONE = 5,
};

struct backend_sampler {
	enum backend_addressing addressing;
	bool normalised, linear;
};

/* Memory that another process may open. */
enum backend_export_kind {
	BACKEND_EXPORT_NONE = 0,
	BACKEND_EXPORT_VMM = 1,
	BACKEND_EXPORT_CUDA_IPC = 2
};

struct backend_shared_memory {
	enum backend_export_kind kind;
	int descriptor;      /* VMM: the receiver's to close; -1 otherwise */
	uint8_t handle[64];  /* CUDA_IPC */
	uint64_t size_bytes; /* mapped by an importer: rounded up to the granule */
};

enum backend_usm_kind { BACKEND_USM_DEVICE = 1, BACKEND_USM_HOST = 2, BACKEND_USM_SHARED = 3 };

/* The ten of 000 (G1); the first six are about the command's device. */
enum backend_advice {
	BACKEND_ADVICE_SET_READ_MOSTLY = 1,
	BACKEND_ADVICE_UNSET_READ_MOSTLY = 2,
	BACKEND_ADVICE_SET_PREFERRED_LOCATION = 3,
	BACKEND_ADVICE_UNSET_PREFERRED_LOCATION = 4,
	BACKEND_ADVICE_SET_ACCESSED_BY = 5,
	BACKEND_ADVICE_UNSET_ACCESSED_BY = 6,
	BACKEND_ADVICE_SET_PREFERRED_LOCATION_HOST = 7,
	BACKEND_ADVICE_UNSET_PREFERRED_LOCATION_HOST = 8,
	BACKEND_ADVICE_SET_ACCESSED_BY_HOST = 9,
	BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST = 10,
};

#endif
