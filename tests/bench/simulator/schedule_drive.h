/*
 * Only the scheduler, on one fake device whose commands take no time. This measures the cost to
 * order command groups of three requirements over 1,000 buffers, to send them and to receive their
 * ends.
 */
#ifndef SYCL_BENCH_SCHEDULE_DRIVE_H
#define SYCL_BENCH_SCHEDULE_DRIVE_H

#include <stdint.h>

enum { SCHEDULE_BUFFERS = 1000, SCHEDULE_REQUIREMENTS = 3 };

/* The dependencies of the groups. */
enum schedule_shape {
	SCHEDULE_INDEPENDENT, /* all read */
	SCHEDULE_CHAIN,       /* each writes three buffers, two of them those of the one before */
	SCHEDULE_TREE,        /* each writes one buffer and reads two that others have written */
	SCHEDULE_RANDOM,      /* three buffers, any modes */
	SCHEDULE_PARTS,       /* as random, but one of 16 sub-buffers of each buffer */
	SCHEDULE_SHAPES
};

struct schedule_result {
	double wall_ns;     /* of a group, from the first submission until all are reported */
	double front_ns;    /* of a group, processor time of the front thread: ordering, sending,
			       reporting */
	double device_ns;   /* of a group, processor time of the device's thread, including the fake
			       device */
	double open_bytes;  /* of the heap, for each open group */
	double grown_bytes; /* of the heap, all together, from before the groups until after them */
};

const char *schedule_shape_name(enum schedule_shape shape);

/*
 * Runs that many groups, at most `open` of them at a time. Before that, as many as may be open
 * exist at once, so that the scheduler has all memory that it keeps for later groups. Starts and
 * ends threads; the process must not use the fake backend otherwise. 0, or a negative errno.
 */
int schedule_drive(enum schedule_shape shape, uint64_t groups, uint32_t open,
		   struct schedule_result *result_out);

#endif
