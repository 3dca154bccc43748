/*
 * A compilation by NVRTC. It runs in the build helper's child, and takes as long as the compiler.
 */
#ifndef SYCL_BACKENDS_CUDA_COMPILE_H
#define SYCL_BACKENDS_CUDA_COMPILE_H

#include "cuda/driver/nvrtc.h"
#include "cuda/driver/options.h"

struct cuda_compile_request {
	const struct cuda_nvrtc *nvrtc;
	const char *prelude,
		*source; /* ended by 0; the source's lines are counted from 1 in "kernel" */
	const struct cuda_options *options;
	unsigned dimensions; /* dimensions of a portable source; 0: CUDA C++ */
	bool relocatable;    /* the result is for a linker: PTX only */
	bool checks;         /* the source has the checks of portable_check.h */
};

/*
 * The result of a compilation. cubin: NULL unless it was compiled for a device's own architecture.
 */
struct cuda_compiled {
	char *ptx; /* ended by a 0 that is not counted */
	size_t ptx_bytes;
	char *cubin;
	size_t cubin_bytes;
	char **lowered; /* the symbol of each of the options' expressions */
	uint32_t lowered_count;
};

/* -EINVAL and BUILD: the source does not compile, or an option is wrong. *log_in_out: the
 * compiler's log, malloc'ed, also on failure. A log that is already there is kept. */
int cuda_compile(const struct cuda_compile_request *request, struct cuda_compiled *compiled_out,
		 char **log_in_out, struct backend_fault *fault_out);
/* Frees the contents of the result, but not the structure. */
void cuda_compiled_fini(struct cuda_compiled *compiled);

#endif
