/*
 * A layer for OpenCL's loader (OPENCL_LAYERS=.../libopencl_counter.so). It counts the references of
 * each kind that this process has taken and given back. A program that has loaded the layer finds
 * the counts with dlsym("opencl_counts").
 */
#ifndef SYCL_TESTS_OPENCL_COUNTER_H
#define SYCL_TESTS_OPENCL_COUNTER_H

#include <stdint.h>

enum opencl_counted {
	OPENCL_CONTEXTS = 0,
	OPENCL_QUEUES,
	OPENCL_MEMORIES,
	OPENCL_PROGRAMS,
	OPENCL_KERNELS,
	OPENCL_EVENTS,
	OPENCL_SAMPLERS,
	OPENCL_SVM,
	OPENCL_COUNTED
};

struct opencl_counts {
	uint64_t taken[OPENCL_COUNTED]; /* objects made, and references added */
	uint64_t given[OPENCL_COUNTED];
};

typedef void opencl_counts_function(struct opencl_counts *counts_out);

#endif
