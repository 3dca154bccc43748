/*
 * Counters of the processor and the kernel for running processes (perf_event_open). They cover all
 * threads that exist at the start, in the program's own code. Counting costs almost nothing.
 */
#ifndef SYCL_BENCH_COUNTERS_H
#define SYCL_BENCH_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

enum counter {
	COUNTER_INSTRUCTIONS,
	COUNTER_CACHE_MISSES,
	COUNTER_PROCESSOR_NS, /* the run time of its threads */
	COUNTER_SWITCHES,     /* between threads */
	COUNTERS
};

struct counters;

/* Fails only without memory; NULL then. */
struct counters *counters_start(pid_t pid);
/* Returns the counts since the start; -1 if the kernel refuses a counter or the processor lacks
 * it. */
void counters_read(const struct counters *counters, double values_out[COUNTERS]);
/* Accepts NULL; returns it. */
struct counters *counters_end(struct counters *counters);
static inline void counters_cleanup(struct counters **counters)
{
	*counters = counters_end(*counters);
}

#endif
