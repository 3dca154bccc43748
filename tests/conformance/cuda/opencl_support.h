/* Programs of OpenCL C on the CUDA backend. */
#ifndef SYCL_TESTS_CONFORMANCE_CUDA_OPENCL_SUPPORT_H
#define SYCL_TESTS_CONFORMANCE_CUDA_OPENCL_SUPPORT_H

#include "cuda/kernels_run.h"

/* Skips the test where the programs that translate are not installed. */
void opencl_skip_without_clang(void);
/* The same for SPIR-V. */
void opencl_skip_without_spirv(void);
/* As run_open, of a source of OpenCL C. */
void opencl_open(struct run *run, const char *source, const char *options, const char *name);

#endif
