/* Requests that arrive at random times, with a mean rate. */
#ifndef SYCL_BENCH_ARRIVALS_H
#define SYCL_BENCH_ARRIVALS_H

#include <stdint.h>

/* Returns the time until the next one: exponential, and the same sequence of numbers for each first
 * state. */
uint64_t arrivals_next_gap_ns(uint64_t *state, double mean_ns);
/* Sleeps, and polls just before, so that the thread is awake when a request comes.
 * CLOCK_MONOTONIC. */
void arrivals_wait_until_ns(uint64_t when_ns);

#endif
