/* The service and its baseline by turns, so that what changes on the machine meanwhile changes
 * both. */
#ifndef SYCL_BENCH_COMPARE_H
#define SYCL_BENCH_COMPARE_H

#include "harness/bench.h"
#include "harness/agent.h"

struct comparison {
	const struct agent_subject *service; /* opened with the service's endpoint */
	const struct agent_subject *direct;  /* opened with the folder of its own kernel cache */
	uint64_t count;                      /* what both are asked */
	uint64_t warm_up;                    /* asked once before, not counted */
};

/* Answers of each run. */
struct compared {
	unsigned runs;
	double service[AGENT_VALUES][BENCH_RUNS_MAX];
	double direct[AGENT_VALUES][BENCH_RUNS_MAX];
};

int bench_compare(const struct bench *bench, const struct comparison *comparison,
		  struct compared *compared_out);
/* The same of several parts, one after the other, by the same two processes; as many results. What
 * they are asked has the part's number above AGENT_PART_SHIFT. */
int bench_compare_parts(const struct bench *bench, const struct comparison *comparison,
			unsigned parts, struct compared *compared_out);

#endif
