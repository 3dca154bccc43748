/* Loads the programs that `build` returned, and builds: backend_ops' entries of the same names. */
#ifndef SYCL_BACKENDS_OPENCL_PROGRAM_H
#define SYCL_BACKENDS_OPENCL_PROGRAM_H

#include "opencl/driver/objects.h"
#include "opencl/program/binary.h"

/* As program_add of backend.h. */
int opencl_program_add(struct backend_program *program, const void *binary, size_t binary_bytes,
		       struct backend_fault *fault_out);
int opencl_program_load(struct backend_device *device, const void *binary, size_t binary_bytes,
			struct backend_program **program_out, struct backend_fault *fault_out);
int opencl_program_kernels(struct backend_program *program, char **names_out,
			   struct backend_fault *fault_out);

/* True if the driver's binary names printf, or is not known: PoCL's and LLVM's have the names of
 * functions as they are, and so has PTX. A text that is only in the binary by chance costs time. */
bool opencl_program_may_print(const struct backend_program *program);
/* The index of the binary's payload for launches of so many dimensions. */
uint32_t opencl_program_variant(const struct backend_program *program, uint32_t dimensions);
/* One of the driver's programs that are loaded: at least one is. */
cl_program opencl_program_any(const struct backend_program *program);
/* Gets that variant, and loads it at the first call. It stays the program's. */
int opencl_program_get(struct backend_program *program, uint32_t variant, cl_program *program_out,
		       struct backend_fault *fault_out);

/* As build and build_dimensions of backend.h. */
int opencl_build_dimensions(struct backend *backend, uint32_t device, enum backend_source_kind kind,
			    const char *source, size_t source_bytes, const char *options,
			    uint32_t dimensions, void **binary_out, size_t *binary_bytes_out,
			    char **log_out, struct backend_fault *fault_out);
int opencl_build(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		 const char *source, size_t source_bytes, const char *options, void **binary_out,
		 size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out);

#endif
