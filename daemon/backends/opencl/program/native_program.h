/* The application's programs, and the programs that are made of them (J10 - J12). */
#ifndef SYCL_BACKENDS_OPENCL_NATIVE_PROGRAM_H
#define SYCL_BACKENDS_OPENCL_NATIVE_PROGRAM_H

#include "opencl/driver/objects.h"

/* backend.h's native_program. */
int opencl_native_program(struct backend_device *device, enum backend_program_state state,
			  const uint64_t *natives, uint32_t count,
			  struct backend_program **program_out, struct backend_fault *fault_out);
/* Wraps an executable without changes, retained, for one of its kernels. */
int opencl_native_program_wrap(struct backend_device *device, cl_program native,
			       struct backend_program **program_out,
			       struct backend_fault *fault_out);
/* backend.h's program_kernels, for these programs. */
int opencl_native_program_kernels(const struct backend_program *program, char **names_out,
				  struct backend_fault *fault_out);

#endif
