/*
 * The offset of a device's profiling clock from CLOCK_MONOTONIC. It follows from two facts about
 * every command. The command did not start before it was submitted, and it had ended when it was
 * found complete. Pure arithmetic: no driver, no system call.
 *
 * The device's nanoseconds count from an arbitrary point and by a crystal of their own. `offset` is
 * added to them to get CLOCK_MONOTONIC. By each command, the offset is not less than submission -
 * start and not greater than found - end. The best commands leave an interval of about the shortest
 * time to the device and back. A bound grows weaker with time, by the error of the offset's rate.
 * Bounds far apart show that rate, in the same way, from two sides. If no offset is possible any
 * more, the clock was set or its rate has changed, and the collected bounds are dropped.
 *
 * Reported times agree with times reported later, on any lane. A correction begins behind the
 * latest reported time and is spread. So time never runs backwards, and little is added to a
 * duration. Only a clock that was set is corrected at once.
 */
#ifndef SYCL_BACKENDS_OPENCL_TIMELINE_H
#define SYCL_BACKENDS_OPENCL_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#define OPENCL_TIMELINE_WINDOWS  16u
#define OPENCL_TIMELINE_SEGMENTS 8u

/* A command, or other work that the device stamped between two readings of the host's clock. */
struct opencl_stamps {
	/* CLOCK_MONOTONIC, read before the work was sent and after it was found complete. */
	uint64_t submit_ns, seen_ns;
	uint64_t start, end; /* the device's clock, ns */
};

/* A bound of the offset at one time of the device; both count from the timeline's epoch. */
struct opencl_bound {
	double device_ns, offset_ns;
};

struct opencl_window {
	struct opencl_bound low, high;
};

/* The offset is `offset_ns` at the anchor and changes with the rate. `correction_ns` is spread over
 * `spread_ns`. */
struct opencl_segment {
	double anchor_ns, offset_ns, rate, correction_ns, spread_ns;
};

struct opencl_timeline {
	bool is_placed; /* at least one command was used */
	double slack_ns;
	uint64_t epoch_device,
		/*
		 * Times of the first command. Other times count from there, so numbers are small.
		 */
		epoch_host;
	double latest_ns;   /* latest measured time of the device */
	double reported_ns; /* latest reported time of the device */

	struct opencl_bound low, high; /* the best bounds of all */
	double slowest, fastest;       /* rate of the offset, ns per ns */
	/* The best bounds of each window, oldest first. The last window is still open. */
	struct opencl_window windows[OPENCL_TIMELINE_WINDOWS];
	unsigned count;
	double window_begin_ns;

	struct opencl_segment
		segments[OPENCL_TIMELINE_SEGMENTS]; /* segments that convert times, newest first */
};

/* `resolution_ns`: by how much stamps may be rounded. */
void opencl_timeline_init(struct opencl_timeline *timeline, uint64_t resolution_ns);

/* False: the command contradicts the known bounds, and all but this command has been forgotten. */
bool opencl_timeline_update(struct opencl_timeline *timeline, const struct opencl_stamps *stamps);

/* Called when no time was reported yet: from now on times are converted by the best known offset.
 * Otherwise they would begin with the first command's offset, and approach the best one from there.
 * */
void opencl_timeline_settle(struct opencl_timeline *timeline);

/* True if an end that is found no earlier than `host_ns` adds no information. Then the caller need
 * not read the time. */
bool opencl_timeline_covers(const struct opencl_timeline *timeline, uint64_t end, uint64_t host_ns);

/* Converts a time of the device to CLOCK_MONOTONIC. There must have been a window before. */
uint64_t opencl_timeline_host(struct opencl_timeline *timeline, uint64_t device_ns);

#endif
