/* The two sides of most rows: a client of the service and plain OpenCL, each with an empty kernel.
 */
#ifndef SYCL_BENCH_SUBJECTS_H
#define SYCL_BENCH_SUBJECTS_H

#include <stdint.h>

#define EMPTY_KERNEL   "empty"
#define EMPTY_PORTABLE "SYCL_KERNEL void empty(void) {}"
#define EMPTY_OPENCL   "kernel void empty(void) {}"

/* open and close of an agent_subject. */
int subject_client_open(const char *endpoint, void **state_out);
void subject_client_close(void *state);
int subject_direct_open(const char *cache, void **state_out);
void subject_direct_close(void *state);

#endif
