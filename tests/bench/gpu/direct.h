/*
 * The other side of the GPU rows: a context, a stream and launches of this process through CUDA's
 * driver API, with MPS or without. On an error the functions print a message and return false.
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
	uint32_t launched; /* the expected value of its first word */
};

/* `place`: see place.h. With a pipe folder the process becomes a client of that MPS. */
bool gpu_direct_open(struct gpu_direct *direct, const char *place);
void gpu_direct_close(struct gpu_direct *direct);
/* Opens another stream and other data in the same context. The first one must outlive it.
 * gpu_direct_close closes either. */
bool gpu_direct_open_beside(struct gpu_direct *direct, const struct gpu_direct *first);

/* One launch of `blocks` blocks that add 1. */
bool gpu_direct_launch(struct gpu_direct *direct, struct gpu_function *function, unsigned blocks,
		       uint32_t number);
bool gpu_direct_wait(struct gpu_direct *direct);
/* Waits, and checks that each launch has run exactly once. */
bool gpu_direct_verify(struct gpu_direct *direct);

#endif
