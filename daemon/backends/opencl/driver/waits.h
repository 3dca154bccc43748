/* The events that one command waits for, in OpenCL's form. */
#ifndef SYCL_BACKENDS_OPENCL_WAITS_H
#define SYCL_BACKENDS_OPENCL_WAITS_H

#include "opencl/driver/library.h"

#define OPENCL_WAITS_INLINE 16u

struct opencl_waits {
	cl_event *events; /* NULL if there are none; not retained */
	cl_uint count, capacity;
	cl_event inline_events[OPENCL_WAITS_INLINE];
};

/* 0 or -ENOMEM. */
int opencl_waits_add(struct opencl_waits *waits, cl_event event);
void opencl_waits_cleanup(struct opencl_waits *waits);

#endif
