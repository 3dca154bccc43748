/* backend_ops' submit. */
#ifndef SYCL_BACKENDS_OPENCL_SUBMIT_H
#define SYCL_BACKENDS_OPENCL_SUBMIT_H

#include "opencl/driver/objects.h"

/* A launch's ranges as OpenCL counts. */
struct opencl_geometry {
	uint32_t dimensions;
	size_t global[3], local[3], offset[3];
	bool has_local, has_offset;
};

/* -EINVAL: no such number of dimensions. */
int opencl_geometry_make(const struct backend_kernel *kernel, const struct backend_command *command,
			 struct opencl_geometry *geometry_out, struct backend_fault *fault_out);

int opencl_submit(struct backend_lane *lane, const struct backend_command *command,
		  const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		  const struct backend_direct_completion *completion,
		  struct backend_fault *fault_out);

#endif
