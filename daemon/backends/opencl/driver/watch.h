/*
 * The application's events, and the callbacks for their completion. A callback that the driver has
 * accepted cannot be cancelled, and an event of the application may happen long after the engine
 * has ended. So the callback gets a number instead of an address, and a number without meaning is
 * ignored. backend_ops' entries.
 */
#ifndef SYCL_BACKENDS_OPENCL_WATCH_H
#define SYCL_BACKENDS_OPENCL_WATCH_H

#include "opencl/driver/objects.h"

/* The event is retained until opencl_event_free. */
int opencl_event_make_native(struct backend_device *device, cl_event native,
			     struct backend_event **event_out, struct backend_fault *fault_out);
int opencl_event_watch(struct backend_event *event, backend_happened *happened, void *token,
		       struct backend_fault *fault_out);
/* Accepts NULL. */
void opencl_event_free(struct backend_event *event);

#endif
