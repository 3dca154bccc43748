/* NVRTC, the compiler of CUDA C++. It is opened at run time and only in the build helper's child,
 * because a compiler is attack surface. The types here replace its header. */
#ifndef SYCL_BACKENDS_CUDA_NVRTC_H
#define SYCL_BACKENDS_CUDA_NVRTC_H

#include "backend.h"

struct nvrtc_program; /* declared by the library */

#define CUDA_NVRTC_FUNCTIONS(F)                                                                    \
	F(GetErrorString, const char *, (int result))                                              \
	F(Version, int, (int *major, int *minor))                                                  \
	F(GetNumSupportedArchs, int, (int *count))                                                 \
	F(GetSupportedArchs, int, (int *architectures))                                            \
	F(CreateProgram, int,                                                                      \
	  (struct nvrtc_program * *program, const char *source, const char *name,                  \
	   int header_count, const char *const *headers, const char *const *header_names))         \
	F(DestroyProgram, int, (struct nvrtc_program * *program))                                  \
	F(CompileProgram, int,                                                                     \
	  (struct nvrtc_program * program, int option_count, const char *const *options))          \
	F(GetPTXSize, int, (struct nvrtc_program * program, size_t * bytes))                       \
	F(GetPTX, int, (struct nvrtc_program * program, char *ptx))                                \
	F(GetCUBINSize, int, (struct nvrtc_program * program, size_t * bytes))                     \
	F(GetCUBIN, int, (struct nvrtc_program * program, char *cubin))                            \
	F(GetProgramLogSize, int, (struct nvrtc_program * program, size_t * bytes))                \
	F(GetProgramLog, int, (struct nvrtc_program * program, char *log))                         \
	F(AddNameExpression, int, (struct nvrtc_program * program, const char *expression))        \
	F(GetLoweredName, int,                                                                     \
	  (struct nvrtc_program * program, const char *expression, const char **name))

/* Results that are handled specially, with the library's numbers. */
enum { NVRTC_DONE = 0, NVRTC_NO_MEMORY = 1, NVRTC_WRONG_OPTION = 5, NVRTC_DOES_NOT_COMPILE = 6 };

struct cuda_nvrtc {
	void *handle; /* never closed: the child ends soon */
	int major, minor;
	/* The architecture to compile for: the device's, or the last before it that the library
	 * supports; 90: 9.0. */
	int newest;
	bool exact; /* `newest` is the device's own */
	/* Folder of the toolkit's headers beside the library; "": there is none. */
	char include[256];
#define CUDA_NVRTC_MEMBER(name, result, parameters)                                                \
	result(*name) parameters; /* NOLINT(bugprone-macro-parentheses) */
	CUDA_NVRTC_FUNCTIONS(CUDA_NVRTC_MEMBER)
#undef CUDA_NVRTC_MEMBER
};

/*
 * Opens NVRTC for a device of this compute capability. `name`: NULL for the usual names.
 * -EOPNOTSUPP, FEATURE_NOT_SUPPORTED and a sentence: NVRTC is not installed, too old, or supports
 * no architecture that runs on the device.
 */
int cuda_nvrtc_open(const char *name, int compute_major, int compute_minor,
		    struct cuda_nvrtc *nvrtc_out, struct backend_fault *fault_out);

#endif
