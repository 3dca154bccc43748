/*
 * Computes the device's time of events in whole nanoseconds, however long the service runs.
 * Translates it into CLOCK_MONOTONIC by clock/math.h.
 *
 * The driver returns only the time between two events, as a float of milliseconds. Its rounding
 * error is 15 ns over half a second, 31 us over ten minutes, and 4 ms over a day. So times are
 * measured from a base event that is never old while the clock is used. Each burst of samples (see
 * clock/math.h) ends in the next base, and the bases' own times are added up in integers. That sum
 * has errors by rounding, and by pauses with an old base. They do not accumulate, because every
 * burst compares the device with CLOCK_MONOTONIC again.
 *
 * All work is done when the clock is used, so an idle device is not woken. A burst is a few records
 * on a stream of its own, and each is waited for before the next one is sent. So a round trip
 * bounds the device's clock from both sides. That matters, because the delay to the device changes
 * by half a microsecond with its load, equally in both directions. A burst takes about 30 us, four
 * times a second. It ends when several round trips were about as fast as any before.
 *
 * After CUDA_CLOCK_WAIT_NS the remaining records are sent without waiting. The device is busy with
 * other work then. Such samples bound the clock from one side only, and are taken when they have
 * arrived. Meanwhile the previous base stays in use. If that base is too old, an event that was
 * just read gets the time of that reading. If the first burst after a pause was incomplete, a few
 * more samples are waited for when the first times are requested. The first few bursts are waited
 * for as well. So is a burst after so long a pause that the known drift cannot reveal a delay.
 *
 * A correction between two commands shifts all later times by the former error. Later events must
 * not be reported as earlier ones. So no reported time lies before the latest reported end.
 *
 * A kernel that reads %globaltimer could give the device's own time across a pause, but is not
 * used. Times are reported in CLOCK_MONOTONIC, and over a pause the two crystals drift apart by
 * more than any rounding. A kernel also waits for a free multiprocessor, and an event record does
 * not.
 */
#ifndef SYCL_BACKENDS_CUDA_CLOCK_BASES_H
#define SYCL_BACKENDS_CUDA_CLOCK_BASES_H

#include "cuda/clock/math.h"

#define CUDA_CLOCK_BURST   6u
#define CUDA_CLOCK_MARKS   (CUDA_CLOCK_BURST + 1)
#define CUDA_CLOCK_WAIT_NS 50000u

/* The driver calls that bases need. The events belong to the source. `marks` are CUDA_CLOCK_MARKS
 * events for the bases only. */
struct cuda_clock_source {
	void *context;
	void *marks[CUDA_CLOCK_MARKS];
	uint64_t (*now)(void *context); /* CLOCK_MONOTONIC, ns */
	/* Sends a time stamp at once, on a stream without other work. 0 or a negative errno. */
	int (*record)(void *context, void *mark);
	/* 1: the last record of the mark has happened; 0: not yet; or a negative errno. Never
	 * waits. */
	int (*happened)(void *context, void *mark);
	/* As cuEventElapsedTime of two events. 0; -EAGAIN: one has not happened yet; or another
	 * negative errno. */
	int (*elapsed)(void *context, void *from, void *to, float *milliseconds_out);
};

struct cuda_bases {
	struct cuda_clock_source source;
	struct cuda_timeline timeline;
	bool has_base;
	unsigned base;         /* index of marks */
	int64_t base_ns;       /* device time of the base */
	uint64_t base_host_ns; /* its approximate host time */
	uint64_t round_trip_ns;
	uint64_t narrowest_ns; /* the shortest round trip of all bursts; 0: none yet */
	bool is_fresh;         /* no time was reported since a pause */
	bool is_out;           /* a burst of `sent` marks was sent, and not taken yet */
	unsigned sent;
	struct cuda_clock_sample burst[CUDA_CLOCK_BURST]; /* host_ns, in the order of `order` */
	/* Host time at which the mark's return was read; 0: not read yet. */
	uint64_t seen_ns[CUDA_CLOCK_BURST];
	unsigned order[CUDA_CLOCK_BURST];
	/* The latest reported end, at the earliest time that rounding allows. */
	int64_t reported_device_ns;
	uint64_t reported_host_ns; /* The host time that was reported for it; 0: none yet. */
};

/*
 * `round_trip_ns`: the shortest time from the request of a time stamp to its arrival; 0: unknown.
 */
void cuda_bases_init(struct cuda_bases *bases, const struct cuda_clock_source *source,
		     uint64_t round_trip_ns);

/*
 * Called before a timed command. Runs a burst if one is due, which takes CUDA_CLOCK_WAIT_NS at
 * most, four times a second. Otherwise takes a burst that has arrived, and reads the host's clock.
 * 0, or the source's negative errno.
 */
int cuda_bases_prepare(struct cuda_bases *bases);

/* Returns the CLOCK_MONOTONIC times of two events that have both happened, start before end. 0;
 * -EAGAIN: they have not, so call again; or another negative errno of the source. */
int cuda_bases_times(struct cuda_bases *bases, void *start, void *end, uint64_t *start_ns_out,
		     uint64_t *end_ns_out);

#endif
