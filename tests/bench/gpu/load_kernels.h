/*
 * Kernels whose length is an amount of work, not a time. So two that share a multiprocessor slow
 * each other down, and one that is removed from the GPU for a while takes longer. They are PTX, as
 * in kernels.h.
 */
#ifndef SYCL_BENCH_GPU_LOAD_KERNELS_H
#define SYCL_BENCH_GPU_LOAD_KERNELS_H

#include <stdint.h>

extern const char gpu_load_ptx[];

/*
 * (struct load_words *, unsigned unused, unsigned rounds): each thread makes a chain of `rounds`
 * times LOAD_STEPS multiplications from its index on, and adds the result to a sum. The last block
 * of a launch writes the time of its end. Launches with the same words must come one after the
 * other, all with the same number of blocks.
 */
#define LOAD_KERNEL_WORK "bench_work"
/* (unsigned *word, unsigned unused, unsigned seconds): spins for that long, then adds 1. */
#define LOAD_KERNEL_RUNAWAY "bench_runaway"
/*
 * These work on each `stride`-th of `count` words of a large buffer. The first writes seed + index:
 * (unsigned *words, unsigned seed, unsigned count, unsigned stride). The second has the same
 * parameters, does not use the seed, and adds 1. The third has one more parameter first, (unsigned
 * *found). It counts the words that are seed + index into one of LOAD_FOUND words.
 */
#define LOAD_KERNEL_BEGIN "bench_begin"
#define LOAD_KERNEL_SWEEP "bench_sweep"
#define LOAD_KERNEL_CHECK "bench_check"

enum {
	LOAD_BLOCK = 128,      /* threads of a block of all of them */
	LOAD_BLOCKS_HELD = 16, /* by one multiprocessor */
	LOAD_STEPS = 16,
	LOAD_SUMS = 4096,
	LOAD_ENDS = 1 << 16,
	LOAD_FOUND = 1024,
};

struct load_words {
	uint32_t blocks; /* number of ended blocks, of all launches */
	uint32_t padding[15];
	uint32_t sums[LOAD_SUMS];    /* by index of the thread */
	uint64_t ends_ns[LOAD_ENDS]; /* by number of the launch, by the GPU's clock of all processes
				      */
};

/* The sum that a launch of so many blocks adds to the first word. */
uint32_t load_sum(unsigned blocks, uint32_t rounds);

#endif
