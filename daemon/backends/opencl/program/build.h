/* The steps of a build in the helper's child; for program/build.c and program/link.c alone. */
#ifndef SYCL_BACKENDS_OPENCL_BUILD_H
#define SYCL_BACKENDS_OPENCL_BUILD_H

#include "opencl/program/binary.h"
#include "opencl/driver/objects.h"

/* The state of one build; freed on every path. */
struct opencl_build {
	const struct opencl_library *cl;
	const struct backend_device_facts *facts;
	cl_device_id device;
	cl_context context; /* the backend's */
	cl_program program; /* of the variant that is being built */
	struct opencl_binary binary;
	enum backend_source_kind kind;
	const char *source, *options;
	size_t source_bytes;
	bool needs_optimiser; /* opencl_pocl_needs_optimiser */
	char *own_source;     /* `source`, where its own names needed a prefix */
	char *log;
};

/* The source's kind is one that the device takes; a context on it, which stays the backend's. */
int opencl_build_open(struct opencl_build *build, struct backend *backend, uint32_t device,
		      struct backend_fault *fault_out);
void opencl_build_fini(struct opencl_build *build);
/* Frees what builds have left in the backend; no build is under way. */
void opencl_build_close(struct backend *backend);
/* May its meaning depend on the number of dimensions? */
bool opencl_build_needs_dimensions(const struct opencl_build *build);
/*
 * Builds the source as it is. A portable one that does not compile is tried again, with a prefix
 * for its own names that are those of built-in functions. If that fails, the first fault and its
 * log are returned.
 */
int opencl_build_try(struct opencl_build *build,
		     int (*make)(struct opencl_build *build, struct backend_fault *fault_out),
		     struct backend_fault *fault_out);
/* build->program, of the source and what goes before it. */
int opencl_build_create(struct opencl_build *build, struct backend_fault *fault_out);
/*
 * The backend's options and the user's; `dimensions` 0: the source does not depend on it. Without
 * -cl-opt-disable if the driver needs its optimiser. malloc'ed.
 */
int opencl_build_options(const struct opencl_build *build, uint32_t dimensions, char **options_out,
			 struct backend_fault *fault_out);
/* Keeps the compiler's words about build->program; what `code` means. `what`: "build the program".
 */
int opencl_build_result(struct opencl_build *build, cl_int code, const char *what,
			struct backend_fault *fault_out);
/* The kernels, the first time, and the binary of build->program. */
int opencl_build_take(struct opencl_build *build, struct backend_fault *fault_out);

#endif
