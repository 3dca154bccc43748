/*
 * Times of single launches by CUPTI (driver/cupti.h), while a trace with exact times is taken. The
 * library has one state for the process, and so has this file.
 *
 * A launch that is expected gets a token. CUPTI calls back from inside the driver's launch function
 * and names its number of the call. Later it hands over records of kernels with these numbers. The
 * last CUDA_ACTIVITY_KEPT times are kept. Any thread, except where a comment differs.
 */
#ifndef SYCL_BACKENDS_CUDA_ACTIVITY_H
#define SYCL_BACKENDS_CUDA_ACTIVITY_H

#include "backend.h"

#include <stdatomic.h>

#define CUDA_ACTIVITY_KEPT 65536u /* a power of two */

extern _Atomic bool cuda_activity_is_on;

/* The entries of backend.h. */
int cuda_profile_begin(struct backend_device *device, struct backend_fault *fault_out);
void cuda_profile_end(void);
void cuda_profile_flush(bool all);
bool cuda_profile_times(uint64_t token, uint64_t *start_ns_out, uint64_t *end_ns_out);

/* The next launch of this thread is expected, until `sent`. */
void cuda_activity_expect(void);
/* Returns the token of the launch; 0: CUPTI did not see it. */
uint64_t cuda_activity_sent(void);

#endif
