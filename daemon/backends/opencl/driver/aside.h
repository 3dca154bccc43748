/* A queue beside the lanes: a new buffer gets its place on the device, and small results are read.
 */
#ifndef SYCL_BACKENDS_OPENCL_ASIDE_H
#define SYCL_BACKENDS_OPENCL_ASIDE_H

#include "opencl/driver/objects.h"

/* All commands that were sent to this queue have ended. */
void opencl_aside_close(struct backend_device *device);

/*
 * NVIDIA's driver (580) gives a buffer its place when a command first needs the buffer. Until then,
 * kernels write to sub-buffers that are no part of the buffer. Their writes are lost when the
 * sub-buffers are freed, or the driver ends the process. It is enough to read a byte, and wait for
 * the read, before any sub-buffer is made. clEnqueueMigrateMemObjects is not enough. Memory of the
 * host already has its place, so nothing is done for it. Returns the driver's code. Device thread.
 * Blocks for the read, on a queue of its own, which waits for no other work.
 */
cl_int opencl_settle(struct backend_device *device, cl_mem buffer);

/* Reads from a buffer that only commands before `after` use, which has ended. Returns the driver's
 * code. Device thread. Blocks for the read, as opencl_settle. */
cl_int opencl_aside_read(struct backend_device *device, cl_mem buffer, cl_event after, void *into,
			 size_t bytes);

#endif
