/*
 * The command groups of TR10, for a driver that does not run kernels: kernels without instructions,
 * and the buffers of each. An iteration is that of conjugate gradients (real/solver.c): five
 * kernels over six buffers, then a read.
 */
#ifndef SYCL_BENCH_GPU_COST_KERNELS_H
#define SYCL_BENCH_GPU_COST_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	COST_BUFFERS = 6,
	COST_BUFFER_BYTES = 65536,
	COST_KERNELS = 5, /* of an iteration */
	COST_BLOCKS = 64,
	COST_BLOCK = 256,
	COST_WORD = 0x51c1d, /* the content of every buffer */
};

/* Each takes that many pointers, then a word. */
enum cost_kernel { COST_ONE, COST_TWO, COST_THREE, COST_SIX, COST_KERNEL_NAMES };
extern const char *const cost_kernel_names[COST_KERNEL_NAMES];

struct cost_group {
	enum cost_kernel kernel;
	unsigned count;
	unsigned buffers[COST_BUFFERS];
	bool writes[COST_BUFFERS];
};

extern const char cost_kernels_ptx[];
extern const struct cost_group cost_one;               /* one buffer */
extern const struct cost_group cost_all[COST_KERNELS]; /* of an iteration, in order */
/* The buffer that an iteration reads. */
enum { COST_READ_BUFFER = 5 };

#endif
