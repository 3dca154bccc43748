/* Reads a whole mangled symbol: the function's name and its parameters. */
#include "cuda/program/symbol_reader.h"

#include <string.h>

/* Reads the function's own template arguments and appends them to `name`. */
static int read_own_arguments(struct symbol_reader *reader, char *name)
{
	char text[CUDA_SYMBOL_NAME_BYTES / 2], whole[CUDA_SYMBOL_NAME_BYTES];

	/*
	 * The symbol may refer to the name before the arguments again. No argument can refer to T_.
	 */
	struct cuda_type template = {.kind = CUDA_TYPE_VALUE};
	symbol_set_text(template.text, sizeof(template.text), "%.*s",
			(int)sizeof(template.text) - 1, name);
	int error = symbol_remember_type(reader, &template);
	if (error == 0)
		error = symbol_read_arguments(reader, text, sizeof(text), NULL, reader->arguments,
					      &reader->argument_count);
	if (error < 0)
		return error;
	symbol_set_text(whole, sizeof(whole), "%.*s<%s>", (int)sizeof(whole) / 2 - 4, name, text);
	memcpy(name, whole, sizeof(whole));
	reader->is_template = true;
	return 0;
}

/* Behind 'N': namespaces and classes, then the function. */
static int read_nested_name(struct symbol_reader *reader, char *name)
{
	name[0] = '\0';
	while (!symbol_take_char(reader, 'E')) {
		char part[CUDA_SYMBOL_NAME_BYTES];
		struct cuda_type scope = {.kind = CUDA_TYPE_VALUE};
		int error;
		if (symbol_take_char(reader, 'I')) {
			error = read_own_arguments(reader, name);
			if (error == 0)
				return symbol_take_char(reader, 'E') ? 0 : -EINVAL;
			return error;
		}
		error = symbol_read_source_name(reader, part, sizeof(part));
		if (error < 0)
			return error;
		symbol_join_names(name, CUDA_SYMBOL_NAME_BYTES, name, part);
		symbol_set_text(scope.text, sizeof(scope.text), "%.*s", (int)sizeof(scope.text) - 1,
				name);
		/*
		 * Neither the function itself nor a template's name before its arguments counts as
		 * a substitution here.
		 */
		if (*reader->at != 'E' && *reader->at != 'I' &&
		    symbol_remember_type(reader, &scope) < 0)
			return -EINVAL;
	}
	return 0;
}

static int read_name(struct symbol_reader *reader, char *name)
{
	if (symbol_take_char(reader, 'N'))
		return read_nested_name(reader, name);
	(void)symbol_take_char(reader, 'L');
	int error = symbol_read_source_name(reader, name, CUDA_SYMBOL_NAME_BYTES);
	if (error == 0 && symbol_take_char(reader, 'I'))
		error = read_own_arguments(reader, name);
	return error;
}

static int symbol_read_parameters(struct symbol_reader *reader, struct cuda_symbol *symbol)
{
	if (reader->at[0] == 'v' && reader->at[1] == '\0')
		return 0;
	while (*reader->at) {
		if (symbol->parameter_count == CUDA_SYMBOL_PARAMETERS_MAX)
			return -EINVAL;
		void *grown = reallocarray(symbol->parameters, symbol->parameter_count + 1u,
					   sizeof(*symbol->parameters));
		if (!grown)
			return -ENOMEM;
		symbol->parameters = grown;
		int error = symbol_read_type(reader, &symbol->parameters[symbol->parameter_count]);
		if (error < 0)
			return error;
		symbol->parameter_count++;
	}
	return 0;
}

int cuda_symbol_parse(const char *text, struct cuda_symbol **symbol_out)
{
	CLEANUP(cuda_symbol_cleanup) struct cuda_symbol *symbol = calloc(1, sizeof(*symbol));
	CLEANUP(free_pointer) struct symbol_reader *reader = calloc(1, sizeof(*reader));
	struct cuda_type result;

	if (!symbol || !reader)
		return -ENOMEM;
	if (strncmp(text, "_Z", 2) != 0)
		return -EINVAL;
	reader->at = text + 2;
	int error = read_name(reader, symbol->name);
	if (error == 0 && symbol->name[0] == '\0')
		error = -EINVAL;
	if (error == 0 && reader->is_template)
		error = symbol_read_type(reader, &result);
	if (error == 0)
		error = symbol_read_parameters(reader, symbol);
	if (error == 0)
		*symbol_out = TAKE(symbol);
	return error;
}

struct cuda_symbol *cuda_symbol_free(struct cuda_symbol *symbol)
{
	if (symbol)
		free(symbol->parameters);
	free(symbol);
	return NULL;
}

bool cuda_symbol_same_name(const char *a, const char *b)
{
	for (;;) {
		while (*a == ' ')
			a++;
		while (*b == ' ')
			b++;
		if (*a != *b)
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}
