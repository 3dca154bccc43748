/*
 * A program of the TR rows: what it runs, in which variants, and how one step of a variant is timed
 * and verified. On an error the functions print a message and return false.
 */
#ifndef SYCL_BENCH_REAL_PROGRAM_H
#define SYCL_BENCH_REAL_PROGRAM_H

#include "real/layer.h"

#include <stddef.h>

enum { REAL_VARIANTS = 26 };

/* How large its problem is. */
enum real_scale { REAL_TINY, REAL_PROCESSOR, REAL_GPU };

struct real_variant {
	const char *name; /* appended to the row's name; "" if there is only one */
	uint64_t rest_ns; /* before each step */
	unsigned a, b;    /* the program's own */
	/* On a GPU: the largest ratio to CUDA's own time. 0: none. */
	double target_p50, target_p99;
};

/* A program that is open, in the process that runs it. */
struct real {
	const struct real_program *program;
	const struct layer_body *body;
	void *layer;
	enum real_scale scale;
	void *own; /* the program's, from malloc; freed with it */
};

struct real_program {
	struct layer_source source;
	size_t own_bytes;
	const struct real_variant *variants; /* ends with a name that is NULL */
	bool (*open)(struct real *real);
	/* Called before and after a step, and not timed. May be NULL. */
	bool (*prepare)(struct real *real, const struct real_variant *variant);
	bool (*check)(struct real *real, const struct real_variant *variant);
	/* Returns when its result is on the host, or known to be complete. */
	bool (*step)(struct real *real, const struct real_variant *variant);
	/* Called after the steps of a measurement. May be NULL. */
	bool (*verify)(struct real *real);
};

extern const struct real_program real_solver_launches, real_solver_graph, real_requests,
	real_ladder, real_frames;

/* Prints that a result is wrong; returns false. */
__attribute__((format(printf, 1, 2))) bool real_wrong(const char *format, ...);

#endif
