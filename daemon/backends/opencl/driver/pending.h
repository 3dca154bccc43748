/* The commands of a lane that progress() has not reported, found by number. */
#ifndef SYCL_BACKENDS_OPENCL_PENDING_H
#define SYCL_BACKENDS_OPENCL_PENDING_H

#include "opencl/driver/objects.h"

/* The event that completes when `sequence` is reached; NULL: it was reached and reported. -EINVAL:
 * no such command was submitted. The event stays the lane's. */
int opencl_lane_event(const struct backend_lane *lane, uint64_t sequence, cl_event *event_out);
/* The pending command itself. The pointer is valid until the next command is sent, or this one is
 * reported. */
int opencl_lane_pending(const struct backend_lane *lane, uint64_t sequence,
			const struct opencl_pending **pending_out);

#endif
