/* backend_ops' submit. */
#ifndef SYCL_BACKENDS_OPENCL_SUBMIT_H
#define SYCL_BACKENDS_OPENCL_SUBMIT_H

#include "opencl/driver/waits.h"
#include "opencl/program/growth.h"

/* -EINVAL: no such number of dimensions. */
int opencl_geometry_make(const struct backend_kernel *kernel, const struct backend_command *command,
			 struct opencl_geometry *geometry_out, struct backend_fault *fault_out);

int opencl_submit(struct backend_lane *lane, const struct backend_command *command,
		  const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		  const struct backend_direct_completion *completion,
		  struct backend_fault *fault_out);

/*
 * lane/growth_order.c: called before a command with such a launch is sent on the lane. Adds the
 * waits that the launch needs. *leads_out: the caller must then call opencl_growth_led after
 * sending.
 */
int opencl_growth_join(struct backend_lane *lane, struct opencl_growth_user *user,
		       struct opencl_waits *waits, bool *leads_out);

#endif
