/* The driver's own linker, on the loader's thread: it takes as long as a compiler does. */
#ifndef SYCL_BACKENDS_CUDA_JOIN_H
#define SYCL_BACKENDS_CUDA_JOIN_H

#include "cuda/program/binary.h"
#include "cuda/driver/context.h"

/* A CUDA_IMAGE_PIECES as a module of the device. -EINVAL and BUILD with the linker's words: they do
 * not fit together. */
int cuda_join_pieces(struct backend_device *device, const struct cuda_image *image,
		     CUmodule *module_out, struct backend_fault *fault_out);

#endif
