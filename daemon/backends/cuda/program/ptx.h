/*
 * PTX as text: the parameters of its kernels, and the completion of NVRTC's output for a portable
 * source.
 *
 * A portable kernel needs more data than CUDA gives it: the end of a basic range inside the last
 * work-group, the offset, and the folding of the grid. Macros cannot add a parameter to the source,
 * and all launches would share a variable of the module. So the compiled text is completed. Each
 * kernel gets one more parameter, named sycl_launch, of CUDA_RECORD_BYTES (program/geometry.h). At
 * the kernel's beginning, work-items beyond the range end. The kernel's symbol becomes its name in
 * the source. The prelude reads the parameter by its name. Two other ways were considered. A
 * template around each kernel needs the names before it compiles. One constant bank per launch does
 * not exist in CUDA.
 *
 * Pure: no driver, any thread, never blocks. The text may be anything: text that cannot be parsed
 * is an error.
 */
#ifndef SYCL_BACKENDS_CUDA_PTX_H
#define SYCL_BACKENDS_CUDA_PTX_H

#include "cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_PTX_ENTRIES_MAX 4096u

enum cuda_ptx_space {
	CUDA_PTX_NO_POINTER = 0, /* also a pointer that is not declared as one */
	CUDA_PTX_GENERIC = 1,
	CUDA_PTX_GLOBAL = 2,
	CUDA_PTX_SHARED = 3,
	CUDA_PTX_CONST = 4,
	CUDA_PTX_LOCAL = 5,
};

struct cuda_ptx_parameter {
	uint32_t size_bytes, align_bytes;
	enum cuda_ptx_space space; /* space of the target that .ptr declares */
	bool may_point;            /* an untyped or unsigned 64-bit word */
	/* Offsets of ".ptr .space .align N" in the text; equal: it is absent. */
	size_t said_at, said_end;
};

/* A kernel with a body. Offsets are into the text. */
struct cuda_ptx_entry {
	char *name;
	uint32_t parameter_count;
	struct cuda_ptx_parameter *parameters;
	uint32_t required[3], max_threads[3],
		min_groups; /* .reqntid, .maxntid, .minnctapersm; 0: absent */
	size_t name_at,
		parameters_end; /* parameters_end: offset of ')', or 0 without parentheses */
	size_t directives_at, body_at, body_end; /* body_at: behind '{' */
	/* Set before the text is completed: `required` is to be its .reqntid. */
	bool is_shaped;
	/* griddepcontrol.wait is in its body, so the kernel itself waits for earlier kernels. */
	bool waits;
};

/* The body of a function that is no kernel. */
struct cuda_ptx_function {
	size_t body_at, body_end;
};

struct cuda_ptx {
	uint32_t entry_count, function_count;
	struct cuda_ptx_entry *entries;
	struct cuda_ptx_function *functions;
	size_t header_end; /* behind .address_size, where module-scope declarations may begin */
	/* Offsets of the words behind .version and .target ("7.8", "sm_90"). */
	size_t version_at, version_end, target_at, target_end;
	/* Set before the text is completed: other texts are linked to it. One of these texts has
	 * the copy of the record (CUDA_RECORD_COPY). */
	bool relocatable;
};

/* Reads a text. -EINVAL: the text cannot be parsed as PTX here; -E2BIG: too many kernels or
 * parameters; -ENOMEM. `line_out`: the line of a failure; may be NULL. */
int cuda_ptx_parse(const char *text, size_t bytes, struct cuda_ptx **ptx_out, uint32_t *line_out);
/* Accepts NULL, returns NULL. */
struct cuda_ptx *cuda_ptx_free(struct cuda_ptx *ptx);
DEFINE_CLEANUP(cuda_ptx)

/*
 * Puts blanks in place of ".ptr .shared .align N" of the kernels' parameters, in a copy of the text
 * that was read. Drivers load no program with such a parameter (580: CUDA_ERROR_INVALID_IMAGE). Yet
 * it is PTX, the drivers' own assembler takes it, and compilers for OpenCL write it. The
 * declaration is only a hint: with or without it, the word is an address of shared memory. All
 * other text keeps its place, so that an error has the client's line number.
 */
void cuda_ptx_blank_shared(char *text, const struct cuda_ptx *ptx);

/* The only copy of the record in a linked program, for functions that are no kernels. */
#define CUDA_RECORD_COPY ".shared .align 8 .b8 sycl_launch_copy"

/*
 * Completes NVRTC's text of a portable source compiled for 1 to 3 dimensions. `names[i]`: the new
 * symbol of entry i. A required shape that the prelude marked becomes .reqntid, and is stored in
 * ptx->entries[i].required. The new text is malloc'ed, ended by a 0 that is not counted, and the
 * caller's. -EINVAL: a kernel cannot be completed, *entry_out is its number; -ENOMEM.
 */
int cuda_ptx_complete(const char *text, size_t bytes, struct cuda_ptx *ptx, unsigned dimensions,
		      const char *const *names, char **text_out, size_t *bytes_out,
		      uint32_t *entry_out);

#endif
