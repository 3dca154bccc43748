/* Common parts of the two CUDA targets: which driver and which compiler the backend opens. */
#ifndef SYCL_TESTS_CONFORMANCE_TARGET_CUDA_H
#define SYCL_TESTS_CONFORMANCE_TARGET_CUDA_H

#include "targets/target.h"

extern const char *target_cuda_options[4];
void target_cuda_prepare(void);
/* Opens the first device. `more`: options in addition to those of every test; NULL is the last. */
void target_cuda_open_with(struct fixture *fixture, const char *const *more);
/* As in the specification's example: a capture of the scope's queue to its graph (K20). */
int target_cuda_native_set(const struct backend_native_scope *scope, uint32_t memory,
			   uint32_t words, uint32_t value);

#endif
