/* A queue beside the lanes, where a new buffer gets its place on the device. */
#ifndef SYCL_BACKENDS_OPENCL_ASIDE_H
#define SYCL_BACKENDS_OPENCL_ASIDE_H

#include "opencl/driver/objects.h"

/* All commands that were sent there have ended. */
void opencl_aside_close(struct backend_device *device);

/*
 * NVIDIA's driver (580) gives a buffer its place when a command first needs it. Until then kernels
 * write to sub-buffers that are no part of it. Their writes are lost when these are freed, or the
 * driver ends the process. It is enough to read a byte, and wait for it, before any sub-buffer is
 * made; clEnqueueMigrateMemObjects is not enough. Nothing is done for memory of the host, which has
 * its place. Returns the driver's code. Device thread; blocks for that read, on a queue of its own,
 * which waits for nothing else.
 */
cl_int opencl_settle(struct backend_device *device, cl_mem buffer);

#endif
