/*
 * PTX as text: the parameters of its kernels, and the completion of NVRTC's output for a portable
 * source.
 *
 * A portable kernel needs more data than CUDA gives it. These are the end of a basic range inside
 * the last work-group, the offset, the folding of the grid. Its source cannot be given one more
 * parameter by macros, and a variable of the module would be shared by all launches. So the
 * compiled text is completed. Each kernel gets one more parameter, named sycl_launch, of
 * CUDA_RECORD_BYTES (program/geometry.h). At its beginning work-items that lie beyond the range
 * end. Its symbol becomes the name that the source has. The prelude reads the parameter by that
 * name. (Considered: wrapping each kernel by a template, which needs the names before it compiles;
 * one constant bank per launch, which CUDA has not.)
 *
 * Pure: no driver, any thread, never blocks. The text may be anything: what cannot be understood is
 * an error.
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
	enum cuda_ptx_space space; /* of the target that .ptr declares */
	bool may_point;            /* an untyped or unsigned 64-bit word */
	size_t said_at, said_end;  /* of ".ptr .space .align N" in the text; equal: there is none */
};

/* A kernel with a body. Offsets are into the text. */
struct cuda_ptx_entry {
	char *name;
	uint32_t parameter_count;
	struct cuda_ptx_parameter *parameters;
	uint32_t required[3], max_threads[3],
		min_groups; /* .reqntid, .maxntid, .minnctapersm; 0: absent */
	size_t name_at,
		parameters_end; /* parameters_end: of ')', or 0 where there are no parentheses */
	size_t directives_at, body_at, body_end; /* body_at: behind '{' */
	bool waits; /* griddepcontrol.wait is in its body: it waits for the kernels before it itself
		     */
};

/* A function that is no kernel: the extent of its body. */
struct cuda_ptx_function {
	size_t body_at, body_end;
};

struct cuda_ptx {
	uint32_t entry_count, function_count;
	struct cuda_ptx_entry *entries;
	struct cuda_ptx_function *functions;
	size_t header_end; /* behind .address_size, where module-scope declarations may begin */
	/* The words behind .version and .target ("7.8", "sm_90"): their offsets. */
	size_t version_at, version_end, target_at, target_end;
	/* Set before it is completed: other texts are linked to it, one of which has the copy of
	 * the record (CUDA_RECORD_COPY). */
	bool relocatable;
};

/*
 * Read a text. -EINVAL: not PTX, as far as this parses it; -E2BIG: too many kernels or parameters;
 * -ENOMEM. `line_out`: the line of a failure; may be NULL.
 */
int cuda_ptx_parse(const char *text, size_t bytes, struct cuda_ptx **ptx_out, uint32_t *line_out);
/* Accepts NULL, returns NULL. */
struct cuda_ptx *cuda_ptx_free(struct cuda_ptx *ptx);
DEFINE_CLEANUP(cuda_ptx)

/*
 * Put blanks in place of ".ptr .shared .align N" of the kernels' parameters, in a copy of the text
 * that was read. Drivers load no program that has a kernel with one (580:
 * CUDA_ERROR_INVALID_IMAGE). Yet it is PTX, their own assembler takes it, and compilers for OpenCL
 * write it. It is a hint and no more: the word is an address of shared memory with or without it.
 * Everything stays where it was, so that a complaint's line is the client's.
 */
void cuda_ptx_blank_shared(char *text, const struct cuda_ptx *ptx);

/* The one place of a linked program: where functions that are no kernels find the record. */
#define CUDA_RECORD_COPY ".shared .align 8 .b8 sycl_launch_copy"

/*
 * Complete NVRTC's text of a portable source compiled for 1 to 3 dimensions. `names[i]`: the new
 * symbol of entry i. A required shape that the prelude marked becomes .reqntid, and is stored in
 * ptx->entries[i].required. The text is malloc'ed, ended by 0 that is not counted, and the
 * caller's. -EINVAL: a kernel cannot be completed, *entry_out is its number; -ENOMEM.
 */
int cuda_ptx_complete(const char *text, size_t bytes, struct cuda_ptx *ptx, unsigned dimensions,
		      const char *const *names, char **text_out, size_t *bytes_out,
		      uint32_t *entry_out);

#endif
