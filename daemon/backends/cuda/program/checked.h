/* Programs of the checking mode (portable_check.h): which of their kernels have checks, and the
 * faults that these find. */
#ifndef SYCL_BACKENDS_CUDA_CHECKED_H
#define SYCL_BACKENDS_CUDA_CHECKED_H

#include "cuda/program/binary.h"

/*
 * `checked` was built from the source with checks, `plain` from the source itself. Marks the
 * kernels that have checks, takes the block of words away from their arguments, and names their
 * pointers. -EINVAL: a kernel differs in another way. Pure: any thread, never blocks.
 */
int cuda_checked_mark(struct cuda_binary *checked, const struct cuda_binary *plain,
		      const char *source, size_t source_bytes);

/* Pins the memory of cuda_checked_words, if there is none yet. It may wait for the device. Loader.
 */
int cuda_checked_open(struct backend_device *device, struct backend_fault *fault_out);
/* At device_close. */
void cuda_checked_close(struct backend_device *device);

#endif
