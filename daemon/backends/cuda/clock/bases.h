/*
 * The device's own time of events, in whole nanoseconds, however long the service runs, and through
 * clock/math.h their CLOCK_MONOTONIC.
 *
 * The driver gives only the time between two events, as a float of milliseconds. That is good to 15
 * ns over half a second, to 31 us over ten minutes, to 4 ms over a day. So times are counted from a
 * base event that is never old while the clock is used. Each burst of samples (see clock/math.h)
 * ends in the next base, and the bases' own times are added up in integers. Errors of that sum, by
 * rounding and by pauses with an old base, do not stay: every burst compares the device with
 * CLOCK_MONOTONIC again.
 *
 * All work is done when the clock is used: nothing wakes up for it. A burst is a few records on a
 * stream of its own, and each is waited for before the next one is sent. So a round trip bounds the
 * device's clock from both sides. That matters, because the way to the device changes by half a
 * microsecond with its load, alike in both directions. It takes some 30 us, four times a second,
 * and ends when several round trips were about as fast as any before. After CUDA_CLOCK_WAIT_NS the
 * rest is sent and not waited for. Such samples, of a device that serves other work just then, show
 * one side only, and are taken when they are there. Meanwhile the base before stays in use. If that
 * is too old, an event that was just read gets the time of that reading. Where the first burst
 * after a pause was one of those, a few more samples are waited for when the first times are
 * requested. The first few bursts are waited for as well. So is a burst after such a long time that
 * the known drift could not show that it is late.
 *
 * A correction between two commands moves all later times by the former error. So that what came
 * later on the device is never reported as earlier, no reported time lies before the latest
 * reported end.
 *
 * A kernel that reads %globaltimer is not used. It would give the device's own time across a pause.
 * But times are given in CLOCK_MONOTONIC, and over a pause the two crystals drift apart by more
 * than any rounding. A kernel also waits for a free multiprocessor, an event record does not.
 */
#ifndef SYCL_BACKENDS_CUDA_CLOCK_BASES_H
#define SYCL_BACKENDS_CUDA_CLOCK_BASES_H

#include "cuda/clock/math.h"

#define CUDA_CLOCK_BURST   6u
#define CUDA_CLOCK_MARKS   (CUDA_CLOCK_BURST + 1)
#define CUDA_CLOCK_WAIT_NS 50000u

/* The calls of a driver that bases need. Events are the source's own; `marks` are CUDA_CLOCK_MARKS
 * of them, the bases' alone. */
struct cuda_clock_source {
	void *context;
	void *marks[CUDA_CLOCK_MARKS];
	uint64_t (*now)(void *context); /* CLOCK_MONOTONIC, ns */
	/* 0 or a negative errno. Sends a time stamp at once, on a stream that has nothing else to
	 * do. */
	int (*record)(void *context, void *mark);
	/* 1: the last record of the mark has happened; 0: not yet; or a negative errno. Never
	 * waits. */
	int (*happened)(void *context, void *mark);
	/* As cuEventElapsedTime of two events. 0, -EAGAIN: one has not happened yet; or another
	 * negative errno. */
	int (*elapsed)(void *context, void *from, void *to, float *milliseconds_out);
};

struct cuda_bases {
	struct cuda_clock_source source;
	struct cuda_timeline timeline;
	bool has_base;
	unsigned base;         /* index of marks */
	int64_t base_ns;       /* device time of the base */
	uint64_t base_host_ns; /* about when */
	uint64_t round_trip_ns;
	uint64_t narrowest_ns; /* the shortest round trip that any burst has shown; 0: none yet */
	bool is_fresh;         /* nothing was reported since a pause */
	bool is_out;           /* a burst of `sent` was sent, and not taken yet */
	unsigned sent;
	struct cuda_clock_sample burst[CUDA_CLOCK_BURST]; /* host_ns, in the order of `order` */
	/* Host time at which the mark's return was read; 0: no thread has read it. */
	uint64_t seen_ns[CUDA_CLOCK_BURST];
	unsigned order[CUDA_CLOCK_BURST];
	int64_t reported_device_ns; /* the latest end that was reported, as early as rounding lets
				   it have been */
	uint64_t reported_host_ns;  /* the host time as which it was reported; 0: none yet */
};

/* `round_trip_ns`: the shortest from the request of a time stamp to its arrival; 0: unknown. */
void cuda_bases_init(struct cuda_bases *bases, const struct cuda_clock_source *source,
		     uint64_t round_trip_ns);

/*
 * Call before a timed command. Runs a burst if one is due, CUDA_CLOCK_WAIT_NS at most, 4 times a
 * second. Otherwise takes a burst that is back, if any, and reads the host's clock. 0, or the
 * source's negative errno.
 */
int cuda_bases_prepare(struct cuda_bases *bases);

/*
 * CLOCK_MONOTONIC of two events that have both happened, start before end. 0, -EAGAIN: they have
 * not, call again; or the source's other negative errno.
 */
int cuda_bases_times(struct cuda_bases *bases, void *start, void *end, uint64_t *start_ns_out,
		     uint64_t *end_ns_out);

#endif
