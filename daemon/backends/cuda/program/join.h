/* The driver's own linker. It runs on the loader's thread, and takes as long as a compiler. */
#ifndef SYCL_BACKENDS_CUDA_JOIN_H
#define SYCL_BACKENDS_CUDA_JOIN_H

#include "cuda/program/binary.h"
#include "cuda/driver/context.h"

/* Links a CUDA_IMAGE_PIECES into a module of the device. -EINVAL and BUILD with the linker's
 * message: the pieces do not fit together. */
int cuda_join_pieces(struct backend_device *device, const struct cuda_image *image,
		     CUmodule *module_out, struct backend_fault *fault_out);

#endif
