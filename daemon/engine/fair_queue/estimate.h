/*
 * How long a command group will take, by what its like took: a moving mean for each shape (a kernel
 * with its range, a graph, a transfer of a size), of the shapes that came lately. Pure, of fixed
 * size: what a client invents shapes for takes other shapes' places, its own first.
 */
#ifndef SYCL_ENGINE_FAIR_QUEUE_ESTIMATE_H
#define SYCL_ENGINE_FAIR_QUEUE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#define FAIR_QUEUE_SHAPE_SETS   256u /* a power of two */
#define FAIR_QUEUE_SHAPE_WAYS   4u
#define FAIR_QUEUE_SHAPE_SLOW   8u  /* the mean moves by this part of a difference */
#define FAIR_QUEUE_SAMPLE_FIRST 4u  /* groups of a shape that are timed in any case, ... */
#define FAIR_QUEUE_SAMPLE_EVERY 32u /* ... and one of so many after that */

/* Real time, ns: the next one of a shape is to be measured alone if the last was not as expected;
 * the longest, where all were. */
#define FAIR_QUEUE_ALONE_SOON 50000000u
#define FAIR_QUEUE_ALONE_LATE 1600000000u

/* How much a measurement is worth. The better gives no heed to the worse. */
enum fair_queue_word {
	FAIR_QUEUE_SEEN,  /* from outside: from the lane's last end to this one's */
	FAIR_QUEUE_EXACT, /* by the device's clock, with what other lanes had of it meanwhile */
	FAIR_QUEUE_SEEN_ALONE, /* the same two; no other lane had anything */
	FAIR_QUEUE_EXACT_ALONE,
};

struct fair_queue_shape {
	uint64_t key; /* 0: empty */
	uint64_t mean_ns;
	uint64_t due_ns;           /* real time: when one should be measured alone */
	uint32_t pace_ns;          /* real time until the one after that */
	enum fair_queue_word word; /* the mean is of */
	uint32_t exact;            /* measurements in it */
	uint32_t alone; /* of one that had the device to itself, since they are as they are */
	uint32_t asked; /* groups that were sent */
	uint32_t seen;  /* when it was used last, in uses of the table */
	bool raised;    /* one took more than this since one was alone */
};

struct fair_queue_estimates {
	uint32_t uses;
	struct fair_queue_shape shapes[FAIR_QUEUE_SHAPE_SETS][FAIR_QUEUE_SHAPE_WAYS];
};

/* 0: nothing is known of it. A key of 0 is of no shape. */
uint64_t fair_queue_estimate_ns(const struct fair_queue_estimates *estimates, uint64_t key);
/* Has it been measured on the device? Otherwise what is known is what it seemed to take from
 * outside. */
bool fair_queue_estimate_is_exact(const struct fair_queue_estimates *estimates, uint64_t key);
/* One more is sent: should the device time it? */
bool fair_queue_estimate_wants(struct fair_queue_estimates *estimates, uint64_t key);
/* One took so long. */
void fair_queue_estimate_learn(struct fair_queue_estimates *estimates, uint64_t key,
			       uint64_t took_ns, enum fair_queue_word word);
/* The same, and if it was alone the next one need not be for a while. */
void fair_queue_estimate_hear(struct fair_queue_estimates *estimates, uint64_t key,
			      uint64_t took_ns, enum fair_queue_word word, uint64_t now_ns);
/* One took more than is known of such, how much more is not: one should be measured alone soon. */
void fair_queue_estimate_raise(struct fair_queue_estimates *estimates, uint64_t key,
			       uint64_t least_ns, uint64_t now_ns);
/* Is what is known of those that had the device to themselves? */
bool fair_queue_estimate_is_alone(const struct fair_queue_estimates *estimates, uint64_t key);
/* Something is known of it, by which it takes `least_ns` (unless one has taken more than is known)
 * to `most_ns`, and one should be measured alone. */
bool fair_queue_estimate_is_due(const struct fair_queue_estimates *estimates, uint64_t key,
				uint64_t least_ns, uint64_t most_ns, uint64_t now_ns);

#endif
