/*
 * How long a command group will take, by what its like took: a moving mean for each shape (a kernel with its range, a
 * graph, a transfer of a size), of the shapes that came lately. Pure, of fixed size: what a client invents shapes for
 * takes other shapes' places, its own first.
 */
#ifndef SYCL_ENGINE_GATE_ESTIMATE_H
#define SYCL_ENGINE_GATE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#define GATE_SHAPE_SETS   256u /* a power of two */
#define GATE_SHAPE_WAYS   4u
#define GATE_SHAPE_SLOW   8u  /* the mean moves by this part of a difference */
#define GATE_SAMPLE_FIRST 4u  /* groups of a shape that are timed in any case, ... */
#define GATE_SAMPLE_EVERY 32u /* ... and one of so many after that */

struct gate_shape {
	uint64_t key; /* 0: empty */
	uint64_t mean_ns;
	uint32_t exact; /* measurements in it */
	uint32_t asked; /* groups that were sent */
	uint32_t seen;  /* when it was used last, in uses of the table */
};

struct gate_estimates {
	uint32_t uses;
	struct gate_shape shapes[GATE_SHAPE_SETS][GATE_SHAPE_WAYS];
};

/* 0: nothing is known of it. A key of 0 is of no shape. */
uint64_t gate_estimate_ns(const struct gate_estimates *estimates, uint64_t key);
/* Has it been measured on the device? Otherwise what is known is what it seemed to take from outside. */
bool gate_estimate_is_exact(const struct gate_estimates *estimates, uint64_t key);
/* One more is sent: should the device time it? */
bool gate_estimate_wants(struct gate_estimates *estimates, uint64_t key);
/* One took so long; `exact`: by the device's own clock. What was only seen from outside gives way to that. */
void gate_estimate_learn(struct gate_estimates *estimates, uint64_t key, uint64_t took_ns, bool exact);

#endif
