/*
 * The offset of a device's profiling clock from CLOCK_MONOTONIC. It follows from two facts about
 * every command: it did not start before it was submitted, and it had ended when it was found
 * complete. Pure arithmetic: no driver, no system call.
 *
 * The device's nanoseconds count from anywhere and by a crystal of their own. `offset` is what must
 * be added to have CLOCK_MONOTONIC. By each command it is not less than submission - start and not
 * greater than found - end. The best commands leave an interval of about the shortest time to the
 * device and back. A bound grows weaker with time, by the error of the offset's rate. Bounds far
 * apart show that rate, in the same way, from two sides. Where no offset is left at all, the clock
 * was set or its rate has changed: the collected bounds are dropped.
 *
 * Reported times agree with those reported later, on whatever lane. A correction begins behind the
 * latest reported time and is spread, so that time never runs backwards and little is added to a
 * duration. Only a clock that was set moves at once.
 */
#ifndef SYCL_BACKENDS_OPENCL_TIMELINE_H
#define SYCL_BACKENDS_OPENCL_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#define OPENCL_TIMELINE_WINDOWS  16u
#define OPENCL_TIMELINE_SEGMENTS 8u

/* A command, or anything else that the device stamped between two readings of the host's clock. */
struct opencl_stamps {
	uint64_t submit_ns, seen_ns; /* CLOCK_MONOTONIC: read before it was sent and after it was
					found complete */
	uint64_t start, end;         /* by the device's clock, ns */
};

/* A bound of the offset at one time of the device; both count from the timeline's epoch. */
struct opencl_bound {
	double device_ns, offset_ns;
};

struct opencl_window {
	struct opencl_bound low, high;
};

/* The offset is `offset` at the anchor, goes on from there with the rate, and `correction` is
 * spread over `spread_ns`. */
struct opencl_segment {
	double anchor_ns, offset_ns, rate, correction_ns, spread_ns;
};

struct opencl_timeline {
	bool is_placed; /* at least one command was used */
	double slack_ns;
	uint64_t epoch_device,
		epoch_host; /* of the first command: counted from there, numbers are small */
	double latest_ns;   /* of the device, measured */
	double reported_ns; /* of the device, the latest that was reported */

	struct opencl_bound low, high;                         /* the best of all */
	double slowest, fastest;                               /* rate of the offset, ns per ns */
	struct opencl_window windows[OPENCL_TIMELINE_WINDOWS]; /* the best of each, oldest first;
								  the last goes on */
	unsigned count;
	double window_begin_ns;

	struct opencl_segment
		segments[OPENCL_TIMELINE_SEGMENTS]; /* by which times are converted, newest first */
};

/* `resolution_ns`: by how much stamps may be rounded. */
void opencl_timeline_init(struct opencl_timeline *timeline, uint64_t resolution_ns);

/* False: that cannot be true with what was known; all but this has been forgotten. */
bool opencl_timeline_update(struct opencl_timeline *timeline, const struct opencl_stamps *stamps);

/*
 * No time was reported yet: from now on times are converted by the best that is known. Otherwise
 * they would begin with what the first command showed, and come nearer from there.
 */
void opencl_timeline_settle(struct opencl_timeline *timeline);

/* An end that is found no earlier than `host_ns` adds nothing: the caller need not read the
 * time. */
bool opencl_timeline_covers(const struct opencl_timeline *timeline, uint64_t end, uint64_t host_ns);

/* The CLOCK_MONOTONIC of a time of the device. There must have been a window before. */
uint64_t opencl_timeline_host(struct opencl_timeline *timeline, uint64_t device_ns);

#endif
