/* The part of the probe that needs no driver: one process answers faults of another one. It
 * prints. */
#ifndef SYCL_TESTS_GPU_USM_PROBE_H
#define SYCL_TESTS_GPU_USM_PROBE_H

#include <stddef.h>

void probe_faults(size_t mebibytes);

#endif
