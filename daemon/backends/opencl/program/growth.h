/*
 * Launches of one kernel and one work-group size whose ranges grow, kept apart for PoCL.
 *
 * PoCL prepares a kernel for a work-group size when a launch begins, for ranges up to that
 * launch's. For a larger range it prepares again. Launches with an offset and without have
 * different preparations. At a launch's end, PoCL 3.1 releases the first preparation of this kernel
 * and size that it finds, whatever the range. If two launches with two preparations run at one
 * time, one preparation is released twice, and the process aborts (`found->ref_count > 0`). That
 * cannot happen while all launches in flight use the first preparation. So a launch for which no
 * preparation serves *leads*: it waits for the launches before it, and later ones wait for it. This
 * is rare: launches that are no larger than an earlier one need no waiting.
 *
 * All waits are lists of events, so no thread waits. Two devices of one platform are not kept
 * apart. Device thread.
 */
#ifndef SYCL_BACKENDS_OPENCL_GROWTH_H
#define SYCL_BACKENDS_OPENCL_GROWTH_H

#include "opencl/driver/objects.h"

/* After so many launches that led, all lead once more: PoCL drops preparations that were not used
 * for long, beyond 128. */
#define OPENCL_GROWTH_LEADERS 48u

/* A launch's ranges in OpenCL's order. */
struct opencl_geometry {
	uint32_t dimensions;
	size_t global[3], local[3], offset[3];
	bool has_local, has_offset;
};

/* The preparation that launches need. width_pocl: the widest range in PoCL's count, which leaves
 * out the third dimension. width: the correct count. */
struct opencl_growth_need {
	uint64_t width_pocl, width;
	bool some_offset, some_without;
};

/* A kernel of a program with one work-group size. It belongs to the program. */
struct opencl_growth {
	struct opencl_growth *next;
	char *name;
	uint32_t variant;
	size_t local[3];
	bool is_known; /* `served` has the launches that the first preparation serves */
	struct opencl_growth_need served;
	uint64_t epoch;  /* the device's epoch at the preparation */
	cl_event leader; /* retained; NULL: the leader has ended */
};

/* The need of a graph's launches from one growth. */
struct opencl_growth_user {
	struct opencl_growth *growth;
	struct opencl_growth_need need;
};

/* Finds the growth of this launch. NULL and 0: launches need not be kept apart here. -ENOMEM. */
int opencl_growth_find(struct backend_kernel *kernel, const struct opencl_geometry *geometry,
		       struct opencl_growth_user *user_out);
/* Combines the needs of several launches of one command. */
void opencl_growth_merge(struct opencl_growth_need *need, const struct opencl_growth_need *more);

/* True if the first preparation serves such a launch. Otherwise the launch must lead. */
bool opencl_growth_is_served(const struct backend_device *device,
			     const struct opencl_growth_user *user);
/* Called when the leading launch was sent, with this event. */
void opencl_growth_led(struct backend_device *device, const struct opencl_growth_user *user,
		       cl_event event);

/* Called when the program is freed. */
void opencl_growths_free(struct backend_program *program);

#endif
