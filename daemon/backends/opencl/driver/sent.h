/*
 * A command of a lane that is sent to the driver as several. If the driver refuses one of them,
 * earlier ones are in flight. No object that they use may be freed, and a wait for them would be a
 * wait for all work of the lane. So the event of the last sent one is returned also on failure.
 * When that event has completed, progress() reports the command as failed (lane/submit.c).
 */
#ifndef SYCL_BACKENDS_OPENCL_SENT_H
#define SYCL_BACKENDS_OPENCL_SENT_H

#include "opencl/driver/objects.h"

/* `code` and `event` are those of the next part of the command. On success the event replaces
 * *last. Returns the code. */
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
