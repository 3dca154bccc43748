/* A buffer has its place on the device before a kernel is given a part of it. */
#ifndef SYCL_BACKENDS_OPENCL_ASIDE_H
#define SYCL_BACKENDS_OPENCL_ASIDE_H

#include "opencl_objects.h"

/* The device's queue for what belongs to no lane. NULL: the driver's code is in `code_out`. Device thread. */
cl_command_queue opencl_aside(struct backend_device *device, cl_int *code_out);
/* What was sent there is over. */
void opencl_aside_close(struct backend_device *device);

/*
 * NVIDIA's driver (580) gives a buffer its place when a command first needs it. Until then kernels write to sub-buffers that are
 * no part of it: what they wrote is lost when these go, or the process ends in the driver. One byte that is read, and waited for, before
 * any sub-buffer is made is enough; clEnqueueMigrateMemObjects is not. Nothing is done where memory is the host's: its place is known.
 * Returns the driver's code. Device thread; blocks for that read, on a queue of its own.
 */
cl_int opencl_settle(struct backend_device *device, cl_mem buffer);

#endif
