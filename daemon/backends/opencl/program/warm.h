/* What makes builds in forks of a process fast. */
#ifndef SYCL_OPENCL_WARM_H
#define SYCL_OPENCL_WARM_H

#include "backend.h"

/* As backend_ops.warm. Only where PoCL is the only driver: forks of others are not known to work.
 */
int opencl_warm(struct backend *backend, uint32_t device, struct backend_fault *fault_out);

#endif
