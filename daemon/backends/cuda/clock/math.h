/*
 * The offset of a device's own clock from CLOCK_MONOTONIC. Pure arithmetic without driver or system
 * calls; tested with a simulated device.
 *
 * The device's nanoseconds start anywhere; adding `offset` gives CLOCK_MONOTONIC. The offset is
 * estimated from one-sided samples. The host read its clock and then requested a time stamp, which
 * the device wrote a little later. So the offset is at least host - device. A few such samples in a
 * row make a burst. Its best sample is late by the shortest way to the device, about the same every
 * time. That constant cancels when two times are compared.
 *
 * Between bursts the offset changes, because the two crystals differ (`drift`). Bursts without
 * delay lie on a line, and late ones below it. So the drift is the slope of the line with most
 * bursts on it, at least three, and none above it. A whole burst can be late, because samples
 * behind a late sample are late with it. The offset that the bursts before it predict reveals this,
 * to the accuracy of the drift. So the next burst is sent before that prediction is off by more
 * than DOUBT_NS.
 *
 * A burst of round trips is never late, but off by a little in either direction. The offset is the
 * mean of such bursts, with more weight on those nearer in time. The line above is used only if the
 * last burst is one-sided.
 *
 * Accuracy (H8; tests/unit/cuda/clock_math.c): two reported times are accurate to +-0.5 us each,
 * relative to each other on the host's clock. That holds if the way to the device is sometimes late
 * by 20 us. Crystals may wander by 5e-8 a second and be corrected by 5e-7. It does not hold while
 * another process has the device. Then a burst is late by that process' time slice. Until the first
 * burst without delay, times are late by as much. While several successive bursts are late, the
 * offset is off by the possible drift (about a microsecond for three or four bursts).
 *
 * Reported times must agree with later ones. So while times are reported in close succession, a
 * correction does not jump. It is spread over the time until the next burst. After a longer gap it
 * is applied at once. A difference above STEP_NS is too large for a correction, and is applied at
 * once, too.
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
	/* The best sample of each burst of this epoch, oldest first. */
	struct cuda_clock_sample bursts[CUDA_TIMELINE_BURSTS];
	unsigned count;
	double drift;       /* change of the offset, ns per ns */
	double uncertainty; /* uncertainty of the drift */
	/* The offset: anchor_offset_ns at anchor_ns; later it changes with the drift, and
	 * `correction` is spread over `spread_ns`. */
	bool is_placed;
	int64_t anchor_ns, anchor_offset_ns;
	double correction_ns;
	int64_t spread_ns;
	int64_t reported_ns; /* the latest reported time of the device */
	int64_t way_ns; /* The delay of a sample to the device, if known; added to each sample. */
	/* The tightest limit from the other side since the last burst. */
	bool is_limited;
	struct cuda_clock_sample limit;
};

/* `way_ns`: half of the shortest round trip to the device. */
void cuda_timeline_init(struct cuda_timeline *timeline, int64_t way_ns);

/*
 * Takes a burst of `count` > 0 samples, in order. `gap_ns`: time since the last burst, if the
 * device's nanoseconds were not counted continuously since then; otherwise 0. After a gap they are
 * off by up to `slip_ns`. `next_ns`: expected time until the next burst.
 */
void cuda_timeline_add(struct cuda_timeline *timeline, const struct cuda_clock_sample *samples,
		       unsigned count, int64_t gap_ns, int64_t slip_ns, int64_t next_ns);

/* At host_ns the host read a stamp of device_ns. So the offset is at most their difference. */
void cuda_timeline_limit(struct cuda_timeline *timeline, int64_t device_ns, uint64_t host_ns);

/* Returns the CLOCK_MONOTONIC of a device time. A burst must have been added. */
uint64_t cuda_timeline_host(struct cuda_timeline *timeline, int64_t device_ns);

/*
 * Converts a duration to the host's clock. A correction of the offset must not stretch durations.
 */
int64_t cuda_timeline_span(const struct cuda_timeline *timeline, int64_t device_span_ns);

/* Returns how long the next burst can wait without a notable error. A better known drift allows a
 * longer wait. */
int64_t cuda_timeline_patience(const struct cuda_timeline *timeline);
/* True if after so long too little is known to reveal a late burst. */
bool cuda_timeline_is_doubtful(const struct cuda_timeline *timeline, int64_t since_ns);

/* Return the result of cuEventElapsedTime (a float of milliseconds) in whole ns, and the largest
 * error by its rounding. */
int64_t cuda_clock_elapsed_ns(float milliseconds);
int64_t cuda_clock_rounding_ns(int64_t elapsed_ns);

#endif
