/*
 * The kernels of both sides of the GPU rows, as PTX: both run the same machine code. Each kernel
 * takes (unsigned *data, unsigned value, unsigned number). Each of its threads adds `value` to its
 * own word of data. So the words show how often it ran.
 */
#ifndef SYCL_BENCH_GPU_KERNELS_H
#define SYCL_BENCH_GPU_KERNELS_H

#include <stdint.h>

extern const char gpu_kernels_ptx[];
/* GPU_KERNEL_ADD alone, in the portable form. */
extern const char gpu_add_portable[];

#define GPU_KERNEL_ADD  "bench_add"  /* `number`: words of data; a thread beyond does nothing */
#define GPU_KERNEL_SPIN "bench_spin" /* after `number` cycles of its processor's clock */
#define GPU_KERNEL_CROWD                                                                           \
	"bench_crowd" /* as SPIN, with any number of blocks: threads beyond GPU_DATA_WORDS add     \
			 nothing */
#define GPU_KERNEL_FAULT "bench_fault" /* writes where no memory is */

enum {
	GPU_BLOCK = 32,       /* threads of a block */
	GPU_BLOCKS_MAX = 264, /* of any launch here except CROWD's: two for each multiprocessor of a
				 large GPU */
	GPU_DATA_WORDS = GPU_BLOCK * GPU_BLOCKS_MAX,
	GPU_CYCLES_PER_US = 1980, /* of an H200's multiprocessor at full clock */
};

#endif
