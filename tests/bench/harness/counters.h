/*
 * What the processor and the kernel count of running processes (perf_event_open): of all threads
 * that they have when it begins, in the program's own code. Counting costs them next to nothing.
 */
#ifndef SYCL_BENCH_COUNTERS_H
#define SYCL_BENCH_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

enum counter {
	COUNTER_INSTRUCTIONS,
	COUNTER_CACHE_MISSES,
	COUNTER_PROCESSOR_NS, /* that its threads ran */
	COUNTER_SWITCHES,     /* between threads */
	COUNTERS
};

struct counters;

/* Never fails but for want of memory; NULL then. */
struct counters *counters_start(pid_t pid);
/* Since the start; -1 for what the kernel refuses or the processor does not have. */
void counters_read(const struct counters *counters, double values_out[COUNTERS]);
/* Accepts NULL; returns it. */
struct counters *counters_end(struct counters *counters);
static inline void counters_cleanup(struct counters **counters)
{
	*counters = counters_end(*counters);
}

#endif
