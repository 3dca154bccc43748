/*
 * Predicts how long a command group will take, by a moving mean for each recent shape. A shape is a
 * kernel with a class of ranges, a graph, or a size of transfer. Pure, of fixed size: new shapes
 * replace old ones of the same set.
 */
#ifndef SYCL_ENGINE_FAIR_QUEUE_ESTIMATE_H
#define SYCL_ENGINE_FAIR_QUEUE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#define FAIR_QUEUE_SHAPE_SETS   1024u /* a power of two */
#define FAIR_QUEUE_SHAPE_WAYS   4u
#define FAIR_QUEUE_SHAPE_SLOW   8u  /* the mean moves by this part of a difference */
#define FAIR_QUEUE_SAMPLE_FIRST 4u  /* the first groups of a shape are timed, */
#define FAIR_QUEUE_SAMPLE_EVERY 32u /* then one group in so many */

/* Real time, ns, until the next group of a shape is measured alone: after a surprise, and at most.
 */
#define FAIR_QUEUE_ALONE_SOON 50000000u
#define FAIR_QUEUE_ALONE_LATE 1600000000u

/* The quality of a measurement. A worse measurement does not change a mean of better quality. */
enum fair_queue_quality {
	/* From outside: from the end of the previous group of the lane to the end of this group. */
	FAIR_QUEUE_SEEN,
	FAIR_QUEUE_EXACT,      /* by the device's clock, beside groups of other lanes */
	FAIR_QUEUE_SEEN_ALONE, /* the same two without groups on other lanes */
	FAIR_QUEUE_EXACT_ALONE,
};

struct fair_queue_shape {
	uint64_t key; /* 0: empty */
	uint64_t mean_ns;
	uint64_t due_ns;                 /* real time at which a group should be measured alone */
	uint32_t pace_ns;                /* real time from due_ns to the next such time */
	enum fair_queue_quality quality; /* quality of the mean */
	uint32_t exact;                  /* measurements by the device in the mean */
	uint32_t alone;                  /* measurements alone since the mean has changed */
	uint32_t sent_count;             /* groups that were sent */
	uint32_t seen;                   /* latest use, in uses of the table */
	bool raised; /* a group took longer since the latest measurement alone */
};

struct fair_queue_estimates {
	uint32_t uses;
	struct fair_queue_shape shapes[FAIR_QUEUE_SHAPE_SETS][FAIR_QUEUE_SHAPE_WAYS];
};

/* 0: not known. A key of 0 is no shape. */
uint64_t fair_queue_estimate_ns(const struct fair_queue_estimates *estimates, uint64_t key);
/* True: the device measured the mean. False: it was estimated from outside. */
bool fair_queue_estimate_is_exact(const struct fair_queue_estimates *estimates, uint64_t key);
/* Called for a group that is sent: true if the device should time it. */
bool fair_queue_estimate_samples(struct fair_queue_estimates *estimates, uint64_t key);
/* Adds the time of a group to the mean of its shape. */
void fair_queue_estimate_update(struct fair_queue_estimates *estimates, uint64_t key,
				uint64_t took_ns, enum fair_queue_quality quality);
/* The same; after a measurement alone the next one can wait. */
void fair_queue_estimate_note(struct fair_queue_estimates *estimates, uint64_t key,
			      uint64_t took_ns, enum fair_queue_quality quality, uint64_t now_ns);
/* A group took longer than predicted, by an unknown time. A group of the shape should be measured
 * alone soon. */
void fair_queue_estimate_raise(struct fair_queue_estimates *estimates, uint64_t key,
			       uint64_t least_ns, uint64_t now_ns);
/* True if the mean was measured alone. */
bool fair_queue_estimate_is_alone(const struct fair_queue_estimates *estimates, uint64_t key);
/* The prediction is from `least_ns` (unless raised) to `most_ns`, and a group should be measured
 * alone. */
bool fair_queue_estimate_is_due(const struct fair_queue_estimates *estimates, uint64_t key,
				uint64_t least_ns, uint64_t most_ns, uint64_t now_ns);

#endif
