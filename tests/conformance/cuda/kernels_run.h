/* One program with one kernel on the CUDA backend, with the double of the driver or a real GPU. */
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

/* Returns true if the driver is a real one. Tests that take minutes to interpret run only there. */
bool run_is_real(void);

/* Only opens the device: half a second on a GPU. A test of several programs does it once. */
void run_open_device(struct run *run);
/* Builds, loads and makes the kernel; frees the former ones. */
void run_program(struct run *run, enum backend_source_kind kind, const char *source,
		 const char *options, const char *name);
/* Does both. */
void run_open(struct run *run, enum backend_source_kind kind, const char *source,
	      const char *options, const char *name);
/* Another kernel of its program; the caller frees it. */
struct backend_kernel *run_kernel(struct run *run, const char *name);
void run_close(struct run *run);
/* Launches on lane 0 and waits; it must succeed. */
void run_command(struct run *run, const struct backend_command *command);
/* Makes memory with these bytes (NULL: zeros). */
struct backend_memory *run_memory(struct run *run, const void *bytes, size_t size_bytes);

/* The binary of a source, malloc'ed; the build must succeed. */
void *run_build(struct fixture *fixture, enum backend_source_kind kind, const void *source,
		size_t source_bytes, const char *options, size_t *bytes_out);
/* The build must fail with this status. Returns the log, malloc'ed or NULL. */
char *run_build_fails(struct fixture *fixture, enum backend_source_kind kind, const void *source,
		      size_t source_bytes, const char *options, int32_t status);
/* Loading must fail. Returns the fault. */
struct backend_fault run_load_fails(struct fixture *fixture, const void *binary,
				    size_t binary_bytes);

#define PTX_HEAD ".version 8.1\n.target sm_80\n.address_size 64\n"

#endif
