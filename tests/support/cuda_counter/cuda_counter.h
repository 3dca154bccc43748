/*
 * A library in front of the CUDA driver that counts (cuda:library=.../libcuda_counter.so). It
 * counts the streams, events and primary contexts that the backend makes and destroys. It also
 * counts the streams on which kernels and graphs were launched. SYCLD_TEST_CUDA_COUNTED names the
 * driver behind it; the default is libcuda.so.1. A program that has loaded the library finds the
 * counts with dlsym("cuda_counts"). The library works with a GPU's driver and with the double.
 */
#ifndef SYCL_TESTS_CUDA_COUNTER_H
#define SYCL_TESTS_CUDA_COUNTER_H

#include <stdint.h>

enum cuda_counted { CUDA_STREAMS, CUDA_EVENTS, CUDA_CONTEXTS, CUDA_COUNTED };

struct cuda_counts {
	uint64_t taken[CUDA_COUNTED], given[CUDA_COUNTED];
	uint64_t foreign; /* destroyed though it was not made here, or a second time */
	uint64_t launches, launch_streams; /* since the latest cuda_counts_launches_from_here */
};

typedef void cuda_counts_function(struct cuda_counts *counts_out);
/* "cuda_counts_launches_from_here" */
typedef void cuda_counts_begin(void);

#endif
