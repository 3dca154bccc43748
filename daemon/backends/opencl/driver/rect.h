/* Copies of boxes: the bytes of backend_rect, by OpenCL's rectangular commands, or by plain ones if
 * these suffice. */
#ifndef SYCL_BACKENDS_OPENCL_RECT_H
#define SYCL_BACKENDS_OPENCL_RECT_H

#include "opencl/driver/objects.h"

/*
 * Enqueues a COPY, WRITE or READ that has a rect. The event is the caller's, also on failure if a
 * part was sent (sent.h). -EINVAL: the box is not inside its memory, or its two sides are the same
 * bytes.
 */
int opencl_rect(struct backend_lane *lane, const struct backend_command *command,
		cl_uint wait_count, const cl_event *waits, cl_event *event_out,
		struct backend_fault *fault_out);

#endif
