/* Programs of OpenCL C and SPIR-V, translated to PTX (translate/translate.h). For the build
 * helper's child. */
#ifndef SYCL_BACKENDS_CUDA_OPENCL_H
#define SYCL_BACKENDS_CUDA_OPENCL_H

#include "cuda/program/binary.h"
#include "cuda/translate/translate.h"

/* Fills the binary, also that of an object, which is bitcode. Errors as in cuda_translate; BUILD,
 * too, for a function that no library has. */
int cuda_opencl_build(const struct cuda_translate_request *request, struct cuda_binary *binary,
		      char **log_in_out, struct backend_fault *fault_out);

#endif
