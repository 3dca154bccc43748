/* Boxes of bytes on a stream. */
#ifndef SYCL_BACKENDS_CUDA_RECT_H
#define SYCL_BACKENDS_CUDA_RECT_H

#include "copy_box.h"
#include "cuda/driver/library.h"

#define CUDA_PITCH_BYTES_MAX                                                                       \
	((uint64_t)INT32_MAX) /* CU_DEVICE_ATTRIBUTE_MAX_PITCH of every device */

/*
 * A side of a copy: memory of the device, pinned memory of the host (`host` not NULL), or an image
 * (`array` not NULL). Of an image the box is a part that begins so far from its first pixel.
 */
struct cuda_rect_side {
	CUdeviceptr address;
	void *host;
	CUarray array;
	uint64_t byte, row, slice;
};

/*
 * Put the copy on the stream; asynchronous. `box` is simple (copy_box_simplify) and inside of both
 * memories; the sides do not overlap, and at most one is the host's. With an image the box keeps
 * its rows and slices, and pitches mean nothing there. The driver takes pitches below 2 GiB; larger
 * ones are copied row by row, of which no memory has many.
 */
CUresult cuda_rect_put(const struct cuda_library *library, CUstream stream,
		       const struct copy_box *box, struct cuda_rect_side destination,
		       struct cuda_rect_side source);

#endif
