/* Measures the service and its baseline in turn, so that changes of the machine affect both. */
#ifndef SYCL_BENCH_COMPARE_H
#define SYCL_BENCH_COMPARE_H

#include "harness/bench.h"
#include "harness/agent.h"

struct comparison {
	const struct agent_subject *service; /* opened with the service's endpoint */
	const struct agent_subject *direct;  /* opened with the folder of its own kernel cache */
	uint64_t count;                      /* the request to both */
	uint64_t warm_up;                    /* a request before, which is not counted */
	bool both_come_in; /* `direct` comes in to the service, too, and is opened as `service` is
			    */
};

/* The answers of each run. */
struct compared {
	unsigned runs;
	double service[AGENT_VALUES][BENCH_RUNS_MAX];
	double direct[AGENT_VALUES][BENCH_RUNS_MAX];
};

int bench_compare(const struct bench *bench, const struct comparison *comparison,
		  struct compared *compared_out);
/* The same for several parts, one after the other, by the same two processes. There are as many
 * results. A request has the part's number above AGENT_PART_SHIFT. */
int bench_compare_parts(const struct bench *bench, const struct comparison *comparison,
			unsigned parts, struct compared *compared_out);

#endif
