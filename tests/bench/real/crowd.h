/* Without a GPU: clients of a service at one time, compared with as many processes with plain
 * OpenCL. */
#ifndef SYCL_BENCH_REAL_CROWD_H
#define SYCL_BENCH_REAL_CROWD_H

#include "harness/bench.h"
#include "harness/agent.h"

enum { CROWD_MAX = 8 };
enum crowd_side { CROWD_SERVICE, CROWD_PLAIN, CROWD_SIDES };

struct crowd_comparison {
	const struct agent_subject *service, *plain; /* they answer as with GPU_SUM_RATE */
	unsigned clients, parts;                     /* of each part as in bench_compare_parts */
	uint64_t count, warm_up;
};

/* Steps a second of all, of each part. */
struct crowd_rates {
	double rates[CROWD_SIDES][BENCH_RUNS_MAX];
};

int crowd_compare(const struct bench *bench, const struct crowd_comparison *comparison,
		  struct crowd_rates *rates_out);

#endif
