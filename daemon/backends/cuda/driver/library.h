/*
 * The driver's library, opened at run time, so that one build serves machines with and without an
 * NVIDIA GPU. The headers provide types only, and nothing links against the library.
 *
 * `library->cuMemAlloc(...)` calls the version that driver/functions.h pins, even if cuda.h makes
 * the name a macro.
 */
#ifndef SYCL_BACKENDS_CUDA_LIBRARY_H
#define SYCL_BACKENDS_CUDA_LIBRARY_H

#include "backend.h"
#include "cuda/driver/functions.h"

#include <cuda.h>
#include <cudaTypedefs.h>

struct cuda_library {
	void *handle;       /* never closed: the driver's threads outlive all objects */
	int driver_version; /* 13000 stands for CUDA 13.0 */
#define CUDA_MEMBER(name, version)                                                                 \
	PFN_##name##_v##version name; /* NOLINT(bugprone-macro-parentheses) */
	CUDA_FUNCTIONS(CUDA_MEMBER, CUDA_MEMBER)
#undef CUDA_MEMBER
};

/*
 * Opens the library and looks up every function; calls nothing that starts the driver. `name`: NULL
 * for libcuda.so.1. -ENODEV and a sentence: no library, no driver in it, the driver is too old, or
 * a needed function is missing. Any thread.
 */
int cuda_library_open(const char *name, struct cuda_library *library_out,
		      struct backend_fault *fault_out);

#endif
