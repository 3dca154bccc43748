/*
 * Reads the parts of a mangled symbol: types, names and template arguments. symbol.c puts them
 * together. Each function moves the reader behind the part that it has read. It returns 0, or
 * -EINVAL if the part is malformed or not known here.
 */
#ifndef SYCL_BACKENDS_CUDA_SYMBOL_READER_H
#define SYCL_BACKENDS_CUDA_SYMBOL_READER_H

#include "cuda/program/symbol.h"

#include <stddef.h>

#define SYMBOL_SUBSTITUTIONS_MAX 256u
#define SYMBOL_ARGUMENTS_MAX     32u

struct symbol_reader {
	const char *at;
	unsigned depth; /* depth of nested types */
	/* Types and names that the rest of the symbol may refer to by their number (S_, S0_). */
	uint32_t substitution_count;
	struct cuda_type substitutions[SYMBOL_SUBSTITUTIONS_MAX];
	/* The arguments of the function's own template, to which T_ refers. */
	uint32_t argument_count;
	struct cuda_type arguments[SYMBOL_ARGUMENTS_MAX];
	/* The function is an instance of a template, so its return type is in the symbol. */
	bool is_template;
};

/* Skips the character if it is the next one. */
static inline bool symbol_take_char(struct symbol_reader *reader, char c)
{
	if (*reader->at != c)
		return false;
	reader->at++;
	return true;
}

/* Works as snprintf. The callers cut long parts beforehand, so that every text fits. */
void symbol_set_text(char *text, size_t bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes "scope::name", or only one of the two if the other one is empty. */
void symbol_join_names(char *text, size_t bytes, const char *scope, const char *name);

int symbol_read_type(struct symbol_reader *reader, struct cuda_type *type);
/* Reads a name with its length before it: "3foo". */
int symbol_read_source_name(struct symbol_reader *reader, char *text, size_t bytes);
/* Reads the arguments of a template, from behind their 'I' to their 'E'. `text` becomes "float, 3".
 * first_out and `list` may be NULL. */
int symbol_read_arguments(struct symbol_reader *reader, char *text, size_t bytes,
			  struct cuda_type *first_out, struct cuda_type *list, uint32_t *count_out);
/* Adds a type to the substitutions. */
int symbol_remember_type(struct symbol_reader *reader, const struct cuda_type *type);

#endif
