/* A client's options for OpenCL C, as clang's. Pure: any thread, never blocks. */
#ifndef SYCL_BACKENDS_CUDA_WORDS_H
#define SYCL_BACKENDS_CUDA_WORDS_H

#include "cuda/driver/fault.h"
#include "cuda/driver/options.h"

/*
 * Adds to list[count] on, which has room for CUDA_OPTIONS_MAX more, and returns the new count.
 * Options without an effect here are left out. -EINVAL, BUILD and a sentence: an option that is
 * none of OpenCL's. The words stay valid as long as `options`.
 */
int cuda_words_add(const struct cuda_options *options, const char **list, uint32_t count,
		   struct backend_fault *fault_out);

#endif
