/*
 * The other side of the GPU rows: this process's own context, stream and launches through CUDA's
 * driver API, with MPS or without. Functions print what is wrong and return false.
 */
#ifndef SYCL_BENCH_GPU_DIRECT_H
#define SYCL_BENCH_GPU_DIRECT_H

#include "gpu/driver.h"
#include "gpu/kernels.h"

struct gpu_direct {
	struct gpu_driver driver;
	int device;
	struct gpu_context *context;
	struct gpu_module *module;
	struct gpu_function *add, *spin, *crowd, *fault;
	struct gpu_stream *stream;
	gpu_address data;  /* GPU_DATA_WORDS words, 0 at first */
	uint32_t launched; /* what its first word should be */
};

/* `place`: of place.h; with a pipe folder it becomes a client of that MPS. */
bool gpu_direct_open(struct gpu_direct *direct, const char *place);
void gpu_direct_close(struct gpu_direct *direct);
/* Another stream and other data in the same context. The first one must outlive it; either is
 * closed by gpu_direct_close. */
bool gpu_direct_open_beside(struct gpu_direct *direct, const struct gpu_direct *first);

/* One launch of `blocks` blocks that add 1. */
bool gpu_direct_launch(struct gpu_direct *direct, struct gpu_function *function, unsigned blocks,
		       uint32_t number);
bool gpu_direct_wait(struct gpu_direct *direct);
/* Waits, and looks whether each launch has run exactly once. */
bool gpu_direct_verify(struct gpu_direct *direct);

#endif
