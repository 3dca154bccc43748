#include "opencl/driver/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int opencl_waits_add(struct opencl_waits *waits, cl_event event)
{
	if (!waits->events) {
		waits->events = waits->inline_events;
		waits->capacity = OPENCL_WAITS_INLINE;
	}
	if (waits->count == waits->capacity) {
		cl_event *more = calloc(2 * (size_t)waits->capacity, sizeof(cl_event));
		if (!more)
			return -ENOMEM;
		memcpy(more, waits->events, waits->count * sizeof(cl_event));
		opencl_waits_cleanup(waits);
		waits->events = more;
		waits->capacity *= 2;
	}
	waits->events[waits->count++] = event;
	return 0;
}

void opencl_waits_cleanup(struct opencl_waits *waits)
{
	if (waits->events != waits->inline_events)
		free(waits->events);
}
