/* The programs and files of LLVM that are installed, and their runs. */
#ifndef SYCL_BACKENDS_CUDA_TOOLS_H
#define SYCL_BACKENDS_CUDA_TOOLS_H

#include "cuda/driver/fault.h"

#include <limits.h>

struct cuda_tools {
	char clang[PATH_MAX], library[PATH_MAX]; /* libclc's, for NVIDIA's GPUs */
	char spirv[PATH_MAX];                    /* llvm-spirv; "": none */
	int version;                             /* clang's; CUDA_CLANG_OLDEST if it is not known */
	int newest; /* the architecture to compile for: the device's, or the last before it that
		       this clang knows */
};

/* The versions of clang that are looked for, the newest first. */
#define CUDA_CLANG_NEWEST 21
#define CUDA_CLANG_OLDEST 14
/* The oldest one for SPIR-V: before it, LLVM's pointers had types. */
#define CUDA_CLANG_SPIRV 16

/*
 * Looks for them. `clang`: as in cuda_translate_request. -EOPNOTSUPP, FEATURE_NOT_SUPPORTED and a
 * sentence: clang, libclc, or with `needs_spirv` llvm-spirv is not installed.
 */
int cuda_tools_find(const char *clang, int architecture, bool needs_spirv,
		    struct cuda_tools *tools_out, struct backend_fault *fault_out);

/*
 * Runs a program in `folder`, with its output and errors behind those in the folder's file `log`.
 * Waits for its end. `arguments`: ended by NULL. Returns its exit status, 128 and the signal that
 * ended it, or a negative errno.
 */
int cuda_tool_run(const char *folder, const char *log, const char *const *arguments);

#endif
