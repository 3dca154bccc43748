/*
 * A kernel's symbol in CUDA C++ has the kernel's name in the source and the types of its
 * parameters. PTX and cubins have less: in them a pointer is a 64-bit word. These functions read
 * mangled names of the C++ ABI. Pure: any thread, never blocks. Symbols may be hostile.
 */
#ifndef SYCL_BACKENDS_CUDA_SYMBOL_H
#define SYCL_BACKENDS_CUDA_SYMBOL_H

#include "cleanup.h"

#include <stdbool.h>
#include <stdint.h>

#define CUDA_SYMBOL_TYPE_BYTES     64u
#define CUDA_SYMBOL_NAME_BYTES     256u
#define CUDA_SYMBOL_PARAMETERS_MAX 1024u

enum cuda_type_kind {
	CUDA_TYPE_VALUE = 0,
	CUDA_TYPE_POINTER = 1,
	CUDA_TYPE_LOCAL = 2, /* the prelude's SYCL_LOCAL */
	CUDA_TYPE_IMAGE = 3, /* the prelude's images: their text is "SYCL_IMAGE_READ_2D" */
};

struct cuda_type {
	enum cuda_type_kind kind;
	bool is_const; /* the type itself is const */
	bool points_to_const;
	char text[CUDA_SYMBOL_TYPE_BYTES]; /* "float const*"; a longer text is cut off */
};

struct cuda_symbol {
	/* "space::scale<float>", without namespaces that have no name. */
	char name[CUDA_SYMBOL_NAME_BYTES];
	uint32_t parameter_count;
	struct cuda_type *parameters;
};

/* -EINVAL: the symbol is no mangled function, or uses more of the language than is read here;
 * -ENOMEM. */
int cuda_symbol_parse(const char *symbol, struct cuda_symbol **symbol_out);
/* Accepts NULL, returns NULL. */
struct cuda_symbol *cuda_symbol_free(struct cuda_symbol *symbol);
DEFINE_CLEANUP(cuda_symbol)

/* True if two names differ only in spaces. */
bool cuda_symbol_same_name(const char *a, const char *b);

#endif
