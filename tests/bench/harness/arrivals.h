/* Requests that come by chance, at a mean rate. */
#ifndef SYCL_BENCH_ARRIVALS_H
#define SYCL_BENCH_ARRIVALS_H

#include <stdint.h>

/* When the next one comes: exponential, and the same row of numbers for each first state. */
uint64_t arrivals_next_gap_ns(uint64_t *state, double mean_ns);
/* Sleeps, and polls just before: nobody sleeps when a request comes. CLOCK_MONOTONIC. */
void arrivals_wait_until_ns(uint64_t when_ns);

#endif
