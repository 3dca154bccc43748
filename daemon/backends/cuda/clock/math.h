/*
 * The offset of a device's own clock from CLOCK_MONOTONIC. Pure arithmetic: no driver, no system
 * call; tested with a simulated device.
 *
 * The device's nanoseconds count from anywhere; `offset` is what must be added to have
 * CLOCK_MONOTONIC. It is estimated from one-sided samples. The host read its clock and then
 * requested a time stamp, which the device wrote a little later. So the offset is at least host
 * - device. A few such samples in a row make a burst. Its best sample is late by the shortest way
 * to the device, about the same every time. That constant cancels when two times are compared.
 * Between bursts the offset moves as the two crystals differ (`drift`). Bursts without delay lie on
 * a line, late ones below it. So the drift is that of the line with most bursts on it, three at
 * least, and none above it. A whole burst can be late, because samples behind a late sample are
 * late with it. It is detected by the offset that the bursts before it predict, as well as the
 * drift is known. So the next burst is sent before that is more than DOUBT_NS.
 *
 * A burst of round trips is never late, but off by a little either way. The offset is the mean of
 * such bursts, with more weight on those nearer in time. Only if the last burst is one-sided the
 * line above is used.
 *
 * Accuracy (H8; tests/unit/cuda/clock_math.c): two reported times are good to +-0.5 us each against
 * each other on the host's clock. That holds where the way to the device is sometimes late by 20
 * us. Crystals may wander by 5e-8 a second and be corrected by 5e-7. What it cannot be: where
 * another process has the device, a burst is late by that one's time slice. Until the first burst
 * without delay the times are late by as much. While several in a row are late, the offset is off
 * by the possible drift (about a microsecond for three or four of them).
 *
 * Reported times must agree with those reported later. So a correction does not jump while times
 * are reported one after the other: it is spread over the time until the next burst. Between two
 * that lie further apart it is taken at once, and so is what cannot be a correction any more
 * (STEP_NS).
 */
#ifndef SYCL_BACKENDS_CUDA_CLOCK_MATH_H
#define SYCL_BACKENDS_CUDA_CLOCK_MATH_H

#include <stdbool.h>
#include <stdint.h>

#define CUDA_TIMELINE_BURSTS 16u

struct cuda_clock_sample {
	int64_t device_ns;
	uint64_t host_ns; /* CLOCK_MONOTONIC, read before the request to the device */
	bool is_centred;  /* host_ns is a little early or late, and not only early: a round trip was
			     measured */
};

struct cuda_timeline {
	struct cuda_clock_sample
		bursts[CUDA_TIMELINE_BURSTS]; /* the best of each, of this epoch, oldest first */
	unsigned count;
	double drift;       /* change of the offset, ns per ns */
	double uncertainty; /* uncertainty of the drift */
	/* The offset: anchor_offset_ns at anchor_ns, from then on with the drift, and `correction`
	 * spread over `spread_ns`. */
	bool is_placed;
	int64_t anchor_ns, anchor_offset_ns;
	double correction_ns;
	int64_t spread_ns;
	int64_t reported_ns; /* the latest time of the device that was reported */
	int64_t way_ns;      /* of a sample to the device, as far as that is known: added to each */
	/* The tightest limit from the other side since the last burst. */
	bool is_limited;
	struct cuda_clock_sample limit;
};

/* `way_ns`: half of the shortest round trip to the device. */
void cuda_timeline_init(struct cuda_timeline *timeline, int64_t way_ns);

/*
 * Take a burst of `count` > 0 samples, in order. `gap_ns`: time since the last burst if the
 * device's nanoseconds were not counted without a break since then; 0 otherwise. They are off by up
 * to `slip_ns`. `next_ns`: when the next burst may be expected.
 */
void cuda_timeline_add(struct cuda_timeline *timeline, const struct cuda_clock_sample *samples,
		       unsigned count, int64_t gap_ns, int64_t slip_ns, int64_t next_ns);

/* The host read at host_ns a stamp of device_ns: the offset is not greater than the difference. */
void cuda_timeline_limit(struct cuda_timeline *timeline, int64_t device_ns, uint64_t host_ns);

/* The CLOCK_MONOTONIC of a time of the device; a burst must have been added. */
uint64_t cuda_timeline_host(struct cuda_timeline *timeline, int64_t device_ns);

/* So long on the host's clock: for durations, which a correction of the offset must not stretch. */
int64_t cuda_timeline_span(const struct cuda_timeline *timeline, int64_t device_span_ns);

/* How long the next burst can wait without an error worth speaking of: longer, the better the drift
 * is known. */
int64_t cuda_timeline_patience(const struct cuda_timeline *timeline);
/* After so long, too little is known to find out by it that a burst is late. */
bool cuda_timeline_is_doubtful(const struct cuda_timeline *timeline, int64_t since_ns);

/* The result of cuEventElapsedTime (a float of milliseconds) in whole ns, and by how much it can be
 * off by its rounding. */
int64_t cuda_clock_elapsed_ns(float milliseconds);
int64_t cuda_clock_rounding_ns(int64_t elapsed_ns);

#endif
