/* How many copy threads (copiers.h) a connection may have. */
#ifndef SYCL_CLIENT_COPY_THREADS_H
#define SYCL_CLIENT_COPY_THREADS_H

#include "syclclient.h"

#include <stdint.h>

#define COPY_THREADS_BY_PROCESSORS 0xfffffffeu /* no number from program or environment */

/*
 * Returns the caller's number, else that of SYCLD_COPY_THREADS. The number is at most COPIERS_MAX,
 * or COPY_THREADS_BY_PROCESSORS.
 *
 * @param given  As sycl_open_options.copy_threads.
 */
sycl_result copy_threads_wanted(uint32_t given, uint32_t *wanted_out);

/* Returns how many copy threads pay off if the calling thread may run on so many processors. */
uint32_t copy_threads_for(uint32_t processors);

#endif
