/*
 * LLVM's language as a text: what is read of it, and what is changed for CUDA. The texts are
 * clang's. Pure: any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_CUDA_IR_H
#define SYCL_BACKENDS_CUDA_IR_H

#include "backend.h"
#include "cleanup.h"

struct cuda_ir_kernel {
	char *name;
	uint32_t required[3]; /* the required work-group, in OpenCL's order; 0: none */
	uint32_t argument_count;
	struct backend_argument_facts *arguments; /* without sizes */
};

struct cuda_ir_kernels {
	uint32_t count;
	struct cuda_ir_kernel *list;
};

/* Reads the kernels and what the source said of their arguments. -EINVAL: not such a text; -ENOMEM.
 */
int cuda_ir_read(const char *text, struct cuda_ir_kernels *kernels_out);
void cuda_ir_kernels_fini(struct cuda_ir_kernels *kernels);

/*
 * Settles a text of a whole program. Functions that are no kernels are the program's own, so the
 * compiler may leave them out. Constant memory becomes global memory: a pointer to it may be the
 * address of a buffer, which CUDA's constant memory cannot have. malloc'ed; NULL: no memory.
 */
char *cuda_ir_settle(const char *text);

/*
 * Gives a text for SPIR's target the address spaces of NVIDIA's, also in the names of functions,
 * and marks its kernels. malloc'ed; NULL: no memory.
 */
char *cuda_ir_retarget(const char *text);

/* True if the line begins a kernel's body. */
bool cuda_ir_is_kernel(const char *line, size_t bytes);
/* Finds the name behind '@' in a line. Returns its bytes, 0: there is none; *name_out points into
 * the line. */
size_t cuda_ir_name(const char *line, size_t bytes, const char **name_out);

#endif
