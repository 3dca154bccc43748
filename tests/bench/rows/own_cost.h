/* The parts of TR10 that its two files share. */
#ifndef SYCL_BENCH_ROWS_OWN_COST_H
#define SYCL_BENCH_ROWS_OWN_COST_H

#include "harness/agent.h"
#include "harness/bench.h"

struct instant_double;

/* The request to a process: at most that many, shifted by OWN_COST_MODE_BITS, and of which kind. */
enum own_cost_mode {
	OWN_COST_TRIP,
	OWN_COST_ITERATION,
	OWN_COST_GRAPH, /* an iteration whose kernels are one executable graph */
	OWN_COST_MODES,
	OWN_COST_MODE_BITS = 2
};
/* Its answer. Percentiles are in us; DONE is the number; NS is the time of all of them. */
enum own_cost_answer { OWN_COST_P50, OWN_COST_P99, OWN_COST_DONE, OWN_COST_NS, OWN_COST_PROCESS };

/* The engine of the service, and the double that it has loaded. */
struct own_cost_engine {
	const struct instant_double *made;
	pid_t pid;
};

/*
 * Measures eight clients of one user at one time. `alone` is a client of the same service that has
 * been measured. 0 or a negative errno.
 */
int own_cost_several(struct bench *bench, const struct agent_subject *subject, const char *place,
		     struct agent *alone, const struct own_cost_engine *engine);

#endif
