/* Fills with patterns of any size at any offset; OpenCL's own fill requires powers of two, aligned
 * to themselves. */
#ifndef SYCL_BACKENDS_OPENCL_FILL_H
#define SYCL_BACKENDS_OPENCL_FILL_H

#include "opencl/driver/objects.h"

struct opencl_fill_request {
	struct backend_memory *memory;
	uint64_t offset_bytes, size_bytes;
	const void *pattern; /* read before the return */
	size_t pattern_bytes;
	const cl_event *waits;
	cl_uint wait_count;
};

/*
 * Enqueues the fill as one command or several. *event_out, NULL before, is the event of the last
 * command, also on failure if a part was sent (driver/sent.h). `staging_out`: memory to free when
 * that event is complete, or NULL.
 */
int opencl_fill(struct backend_lane *lane, const struct opencl_fill_request *request,
		cl_event *event_out, void **staging_out, struct backend_fault *fault_out);

#endif
