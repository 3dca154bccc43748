/* One program of one kernel on the CUDA backend: over the double of the driver, or on a real GPU.
 */
#ifndef SYCL_TESTS_CONFORMANCE_CUDA_KERNELS_RUN_H
#define SYCL_TESTS_CONFORMANCE_CUDA_KERNELS_RUN_H

#include "targets/target.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct run {
	struct fixture fixture;
	struct backend_program *program;
	struct backend_kernel *kernel;
};

/* Is the driver a real one? What takes minutes to interpret is done only there. */
bool run_is_real(void);

/* Opens the device alone: half a second on a GPU. A test of several programs does it once. */
void run_open_device(struct run *run);
/* Builds, loads and makes the kernel; frees those that were there before. */
void run_program(struct run *run, enum backend_source_kind kind, const char *source,
		 const char *options, const char *name);
/* Both. */
void run_open(struct run *run, enum backend_source_kind kind, const char *source,
	      const char *options, const char *name);
/* Another kernel of its program; the caller frees it. */
struct backend_kernel *run_kernel(struct run *run, const char *name);
void run_close(struct run *run);
/* Launch on lane 0 and wait; it must succeed. */
void run_command(struct run *run, const struct backend_command *command);
/* Memory with these bytes in it (NULL: zeros). */
struct backend_memory *run_memory(struct run *run, const void *bytes, size_t size_bytes);

/* The binary of a source, malloc'ed; the build must succeed. */
void *run_build(struct fixture *fixture, enum backend_source_kind kind, const void *source,
		size_t source_bytes, const char *options, size_t *bytes_out);
/* The build must fail, with this status; the log, malloc'ed or NULL. */
char *run_build_fails(struct fixture *fixture, enum backend_source_kind kind, const void *source,
		      size_t source_bytes, const char *options, int32_t status);
/* Loading must fail; what it fails with. */
struct backend_fault run_load_fails(struct fixture *fixture, const void *binary,
				    size_t binary_bytes);

#define PTX_HEAD ".version 8.1\n.target sm_80\n.address_size 64\n"

#endif
