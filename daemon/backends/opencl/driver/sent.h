/*
 * One command of a lane that goes to the driver as several. If the driver refuses one of them,
 * those before it are in flight: nothing may be freed that they use, and waiting for them is
 * waiting for all that the lane has to do. So the event of the last that was sent is given out also
 * on failure, and progress() reports the command as failed when that one has ended (lane/submit.c).
 */
#ifndef SYCL_BACKENDS_OPENCL_SENT_H
#define SYCL_BACKENDS_OPENCL_SENT_H

#include "opencl/driver/objects.h"

/* `code` and `event` are those of the next of them, which replaces what `last` has. The code. */
static inline cl_int opencl_sent(const struct opencl_library *cl, cl_int code, cl_event event,
				 cl_event *last)
{
	if (code != CL_SUCCESS)
		return code;
	if (*last)
		(void)cl->ReleaseEvent(*last);
	*last = event;
	return code;
}

#endif
