/*
 * Launches of one kernel and one work-group size whose ranges grow, kept apart for PoCL.
 *
 * PoCL prepares a kernel for a work-group size when a launch begins, for ranges up to that
 * launch's, and again for a larger range. Launches with an offset and without have different ones.
 * At a launch's end PoCL 3.1 releases the first such preparation that it finds, whatever the range.
 * If two launches with two of them run at one time, one is released twice, and the process aborts
 * (`found->ref_count > 0`). That cannot happen while all launches that are on their way use the
 * first one. So a launch that what is prepared does not serve *leads*: it waits for those before
 * it, and those behind it wait for it. It is one in many: launches that are no larger than one
 * before need no waiting.
 *
 * All by waiting lists of events, so no thread waits. Two devices of one platform are not
 * kept apart. Device thread.
 */
#ifndef SYCL_BACKENDS_OPENCL_GROWTH_H
#define SYCL_BACKENDS_OPENCL_GROWTH_H

#include "opencl/driver/objects.h"

/* After so many that led, all lead once more: PoCL drops preparations that were not used for long,
 * beyond 128. */
#define OPENCL_GROWTH_LEADERS 48u

/* A launch's ranges as OpenCL counts. */
struct opencl_geometry {
	uint32_t dimensions;
	size_t global[3], local[3], offset[3];
	bool has_local, has_offset;
};

/* The needs of launches from a preparation: the widest range in PoCL's count, which leaves the
 * third dimension out, and as it should be. */
struct opencl_growth_need {
	uint64_t width_pocl, width;
	bool some_offset, some_without;
};

/* A kernel of a program with one work-group size; the program's. */
struct opencl_growth {
	struct opencl_growth *next;
	char *name;
	uint32_t variant;
	size_t local[3];
	bool is_known; /* `served`: what the first preparation serves */
	struct opencl_growth_need served;
	uint64_t epoch;  /* the device's, when it was prepared */
	cl_event leader; /* retained; NULL: it has ended */
};

/* The need of a graph's launches from one of them. */
struct opencl_growth_user {
	struct opencl_growth *growth;
	struct opencl_growth_need need;
};

/* The one of this launch. NULL and 0: nothing has to be kept apart here. Else -ENOMEM. */
int opencl_growth_find(struct backend_kernel *kernel, const struct opencl_geometry *geometry,
		       struct opencl_growth_user *user_out);
/* Several launches of one command become one need. */
void opencl_growth_merge(struct opencl_growth_need *need, const struct opencl_growth_need *more);

/* Does the first preparation serve such a launch? Else it must lead. */
bool opencl_growth_is_served(const struct backend_device *device,
			     const struct opencl_growth_user *user);
/* The launch was sent, with this event. */
void opencl_growth_led(struct backend_device *device, const struct opencl_growth_user *user,
		       cl_event event);

/* With the program. */
void opencl_growths_free(struct backend_program *program);

#endif
