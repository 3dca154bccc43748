/*
 * A library that stands in front of the CUDA driver (cuda:library=.../libcuda_counter.so) and
 * counts. It counts the streams, events and primary contexts which the backend takes and gives
 * back, and on how many streams kernels and graphs were launched. SYCLD_TEST_CUDA_COUNTED names the
 * driver behind it; without it libcuda.so.1. A program that has loaded it finds them with
 * dlsym("cuda_counts"). It works with a GPU's driver and with the double.
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
