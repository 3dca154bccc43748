/*
 * Descriptions of a program's kernels beside the driver's facts: from PTX, and from symbols of CUDA
 * C++. Pure: any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_CUDA_DESCRIBE_H
#define SYCL_BACKENDS_CUDA_DESCRIBE_H

#include "cuda/program/binary.h"
#include "cuda/program/ptx.h"

/*
 * All kernels of a PTX into binary->kernels, which is empty. `portable`: the prelude's, whose names
 * are plain and whose pointers are buffers; then -EEXIST: two have one name. -ENOMEM.
 */
int cuda_describe_ptx(struct cuda_binary *binary, const struct cuda_ptx *ptx, bool portable);

/*
 * An argument of a native kernel with only its size known, and its type if `type` is not NULL. A
 * word of 64 bits may be a pointer.
 */
struct cuda_symbol;
void cuda_describe_word(const struct cuda_symbol *symbol_or_null, uint32_t index,
			uint32_t size_bytes, struct cuda_binary_argument *argument_out);

#endif
