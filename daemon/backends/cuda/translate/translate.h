/*
 * Translates OpenCL C and SPIR-V to PTX by programs of LLVM. For the build helper's child: takes as
 * long as the programs, which inherit the child's limits and end with it.
 */
#ifndef SYCL_BACKENDS_CUDA_TRANSLATE_H
#define SYCL_BACKENDS_CUDA_TRANSLATE_H

#include "cuda/translate/ir.h"

struct cuda_translate_source {
	const void *bytes;
	size_t count;
};

struct cuda_translate_request {
	const char *clang;  /* the program; NULL: looked for */
	const char *folder; /* where the programs' files may be; NULL: where temporary files go */
	int architecture;   /* the device's: 90 */
	/* OPENCL_C or SPIRV, of one source. UNLINKED: results with `relocatable` set. */
	enum cuda_translate_kind {
		CUDA_TRANSLATE_OPENCL_C,
		CUDA_TRANSLATE_SPIRV,
		CUDA_TRANSLATE_UNLINKED
	} kind;
	const struct cuda_translate_source *sources;
	uint32_t source_count;
	const char *options;
	bool relocatable; /* the result is for a later request, with others of its kind */
};

struct cuda_translation {
	char *bytes; /* PTX, ended by a 0 that is not counted; or LLVM's bitcode */
	size_t count;
	struct cuda_ir_kernels kernels; /* with PTX */
};

/*
 * -EINVAL and BUILD: the source does not compile, or an option is wrong. -EOPNOTSUPP and
 * FEATURE_NOT_SUPPORTED: a program is not installed. *log_in_out: what the compiler printed,
 * malloc'ed, also on failure.
 */
int cuda_translate(const struct cuda_translate_request *request,
		   struct cuda_translation *translation_out, char **log_in_out,
		   struct backend_fault *fault_out);
void cuda_translation_fini(struct cuda_translation *translation);

#endif
