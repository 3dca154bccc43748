/*
 * Descriptions of a program's kernels beside the driver's facts: from PTX, and from symbols of CUDA
 * C++. Pure: any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_CUDA_DESCRIBE_H
#define SYCL_BACKENDS_CUDA_DESCRIBE_H

#include "cuda/program/binary.h"
#include "cuda/program/ptx.h"

/*
 * Describes all kernels of a PTX in binary->kernels, which is empty before. `portable`: the PTX is
 * the prelude's, so names are plain and pointers are buffers. Then -EEXIST: two kernels have one
 * name. -ENOMEM.
 */
int cuda_describe_ptx(struct cuda_binary *binary, const struct cuda_ptx *ptx, bool portable);

/* Describes an argument of a native kernel of which only the size is known, and with a symbol its
 * type. A word of 64 bits may be a pointer. */
struct cuda_symbol;
void cuda_describe_word(const struct cuda_symbol *symbol_or_null, uint32_t index,
			uint32_t size_bytes, struct cuda_binary_argument *argument_out);

#endif
