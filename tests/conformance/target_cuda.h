/* What the two CUDA targets share: which driver and which compiler the backend opens. */
#ifndef SYCL_TESTS_CONFORMANCE_TARGET_CUDA_H
#define SYCL_TESTS_CONFORMANCE_TARGET_CUDA_H

#include "target.h"

extern const char *target_cuda_options[4];
void target_cuda_prepare(void);

#endif
