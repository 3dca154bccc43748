/* The steps of a build in the helper's child. Only program/build.c and program/link.c use them. */
#ifndef SYCL_BACKENDS_OPENCL_BUILD_H
#define SYCL_BACKENDS_OPENCL_BUILD_H

#include "opencl/program/binary.h"
#include "opencl/driver/objects.h"

/* The state of one build; freed on every path. */
struct opencl_build {
	const struct opencl_library *cl;
	const struct backend_device_facts *facts;
	cl_device_id device;
	cl_context context; /* the context of the backend */
	cl_program program; /* the program of the present variant */
	struct opencl_binary binary;
	enum backend_source_kind kind;
	const char *source, *options;
	size_t source_bytes;
	/* The numbers of dimensions to build for, as in struct opencl_binary; 0: all. */
	uint32_t dimensions;
	bool checks;              /* the source has the checks of portable_check.h */
	bool needs_optimiser;     /* opencl_pocl_needs_optimiser */
	char *own_source;         /* the source with prefixes, if its own names needed them */
	unsigned long name_lines; /* before the source in build->program: long_name.h */
	char *log;
};

/* Checks that the device takes the source's kind, and gets a context on the device. The context
 * stays the backend's. */
int opencl_build_open(struct opencl_build *build, struct backend *backend, uint32_t device,
		      struct backend_fault *fault_out);
void opencl_build_fini(struct opencl_build *build);
/* Frees the context that builds have left in the backend. No build may be running. */
void opencl_build_close(struct backend *backend);
/* True if the source's meaning may depend on the number of dimensions. */
bool opencl_build_needs_dimensions(const struct opencl_build *build);
/*
 * Builds the source without changes. A portable source that does not compile is tried again, with a
 * prefix for its own names that are those of built-in functions. If that fails, the first fault and
 * its log are returned.
 */
int opencl_build_try(struct opencl_build *build,
		     int (*make)(struct opencl_build *build, struct backend_fault *fault_out),
		     struct backend_fault *fault_out);
/* Creates build->program, of the prelude and the source. */
int opencl_build_create(struct opencl_build *build, struct backend_fault *fault_out);
/*
 * Replaces all white space by spaces. PoCL checks options that spaces divide, and passes them on to
 * Clang, which also divides at other white space: an option after a tab is not checked, and may
 * name a library that Clang loads (-fpass-plugin).
 */
void opencl_build_plain_options(char *options);
/* Composes the backend's options and the user's. `dimensions` 0: the source does not depend on it.
 * Without -cl-opt-disable if the driver needs its optimiser. malloc'ed. */
int opencl_build_options(const struct opencl_build *build, uint32_t dimensions, char **options_out,
			 struct backend_fault *fault_out);
/* Keeps the compiler's log of build->program, and converts `code` to a fault. `what`: "build the
 * program". */
int opencl_build_result(struct opencl_build *build, cl_int code, const char *what,
			struct backend_fault *fault_out);
/* Takes the binary of build->program, and at the first call its kernels. `dimensions` as in
 * opencl_build_options. */
int opencl_build_take(struct opencl_build *build, uint32_t dimensions,
		      struct backend_fault *fault_out);

#endif
