/* backend_ops' submit. */
#ifndef SYCL_BACKENDS_OPENCL_SUBMIT_H
#define SYCL_BACKENDS_OPENCL_SUBMIT_H

#include "opencl_objects.h"

int opencl_submit(struct backend_lane *lane, const struct backend_command *command, const struct backend_wait *waits,
		  uint32_t wait_count, uint64_t sequence, const struct backend_direct_completion *completion,
		  struct backend_fault *fault_out);

#endif
