/* Boxes of bytes on a stream. */
#ifndef SYCL_BACKENDS_CUDA_RECT_H
#define SYCL_BACKENDS_CUDA_RECT_H

#include "copy_box.h"
#include "cuda/driver/library.h"

#define CUDA_PITCH_BYTES_MAX                                                                       \
	((uint64_t)INT32_MAX) /* CU_DEVICE_ATTRIBUTE_MAX_PITCH of every device */

/* A side of a copy: memory of the device, pinned memory of the host (`host` not NULL), or an image
 * (`array` not NULL). For an image, the box begins at an offset from its first pixel. */
struct cuda_rect_side {
	CUdeviceptr address;
	void *host;
	CUarray array;
	uint64_t byte, row, slice;
};

/*
 * Puts the copy on the stream; asynchronous. `box` is simple (copy_box_simplify) and inside both
 * memories. The sides do not overlap, and at most one is the host's. With an image the box keeps
 * its rows and slices, and pitches have no meaning. The driver accepts pitches below 2 GiB. Copies
 * with larger ones, which have few rows, are made row by row.
 */
CUresult cuda_rect_put(const struct cuda_library *library, CUstream stream,
		       const struct copy_box *box, struct cuda_rect_side destination,
		       struct cuda_rect_side source);

#endif
