/*
 * Fills by a kernel of the backend (own_kernels.c). The driver's memsets take patterns of 1, 2 and
 * 4 bytes. A pattern of another size would need one memset for each of its bytes, and a stream's
 * queue is finite. The kernel is one operation, and a small fill goes into a chain. The kernel
 * writes units of 16 bytes, and single bytes at the two ends.
 */
#ifndef SYCL_BACKENDS_CUDA_FILL_H
#define SYCL_BACKENDS_CUDA_FILL_H

#include "cuda/lane/lane.h"

/* The kernel's parameters. */
#define CUDA_FILL_WORDS_MAX 128u
struct cuda_fill_kernel {
	uint64_t aligned;     /* address of the first unit, which may begin before `first` */
	uint64_t first, last; /* address of the first byte, and the address behind the last byte */
	uint64_t units;       /* number of units of 16 bytes */
	uint32_t period;      /* words after which the pattern begins again */
	uint32_t pattern[CUDA_FILL_WORDS_MAX];
	void *parameters[6];
};

/* Makes a launch of the kernel, whose parameters are in `fill_out`. `pattern_bytes`: 1 to
 * FILL_PATTERN_BYTES_MAX; size_bytes > 0. */
void cuda_fill_make(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		    const void *pattern, size_t pattern_bytes, struct cuda_fill_kernel *fill_out,
		    struct cuda_launch *launch_out);

/* Sends FILL or USM_FILL by that kernel. 0; -EAGAIN: the caller fills in another way. */
int cuda_fill_enqueue(struct backend_lane *lane, const struct backend_command *command,
		      struct backend_fault *fault_out);
/* Prepares a small fill as a launch in `collected`. Returns the same values. */
int cuda_fill_prepare(struct backend_lane *lane, const struct backend_command *command,
		      struct cuda_collected *collected, struct backend_fault *fault_out);

#endif
