/* The types in a mangled symbol, with their template arguments and substitutions. */
#include "cuda/program/symbol_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 32u

void symbol_set_text(char *text, size_t bytes, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	/* clang-tidy 14 takes va_start for no initialisation on this target.
	 * NOLINTNEXTLINE(clang-analyzer-valist.*) */
	int length = vsnprintf(text, bytes, format, arguments);
	va_end(arguments);
	if (length < 0)
		text[0] = '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int symbol_remember_type(struct symbol_reader *reader, const struct cuda_type *type)
{
	if (reader->substitution_count == SYMBOL_SUBSTITUTIONS_MAX)
		return -EINVAL;
	reader->substitutions[reader->substitution_count++] = *type;
	return 0;
}

int symbol_read_source_name(struct symbol_reader *reader, char *text, size_t bytes)
{
	size_t length = 0, left = strlen(reader->at);

	while (is_digit(*reader->at) && length < left)
		length = length * 10 + (size_t)(*reader->at++ - '0');
	left = strlen(reader->at);
	if (length == 0 || length > left)
		return -EINVAL;
	/* A namespace without a name has a symbol that differs from file to file, and no source
	 * names it. */
	bool nameless = length >= 11 && memcmp(reader->at, "_GLOBAL__N_", 11) == 0;
	symbol_set_text(text, bytes, "%.*s", nameless ? 0 : (int)(length < 1000 ? length : 1000),
			reader->at);
	reader->at += length;
	return 0;
}

/* Reads an index behind S (digits of base 36) or T (base 10), and its "_": "_" is 0, "0_" is 1. */
static int read_index(struct symbol_reader *reader, unsigned base, uint32_t *index_out)
{
	uint32_t index = 0;
	bool any = false;

	while (*reader->at != '_') {
		char c = *reader->at;
		unsigned digit = is_digit(c)            ? (unsigned)(c - '0')
				 : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 10
							: 99;
		if (digit >= base || index > 4096)
			return -EINVAL;
		index = index * base + digit;
		any = true;
		reader->at++;
	}
	reader->at++;
	*index_out = any ? index + 1 : 0;
	return 0;
}

/* Reads a literal, from behind its 'L' to its 'E': "Li3" is 3. */
static int read_literal(struct symbol_reader *reader, struct cuda_type *type)
{
	struct cuda_type of;
	char text[CUDA_SYMBOL_TYPE_BYTES];
	size_t length = 0;

	if (*reader->at == '_' || symbol_read_type(reader, &of) < 0)
		return -EINVAL;
	while (*reader->at && *reader->at != 'E') {
		char c = *reader->at++;
		if (c == 'n')
			c = '-';
		if (length + 1 < sizeof(text))
			text[length++] = c;
	}
	text[length] = '\0';
	*type = (struct cuda_type){.kind = CUDA_TYPE_VALUE};
	if (strcmp(of.text, "bool") == 0)
		symbol_set_text(type->text, sizeof(type->text), "%s",
				strcmp(text, "0") == 0 ? "false" : "true");
	else
		memcpy(type->text, text, length + 1);
	return symbol_take_char(reader, 'E') ? 0 : -EINVAL;
}

int symbol_read_arguments(struct symbol_reader *reader, char *text, size_t bytes,
			  struct cuda_type *first_out, struct cuda_type *list, uint32_t *count_out)
{
	uint32_t count = 0;
	size_t used = 0;

	text[0] = '\0';
	while (!symbol_take_char(reader, 'E')) {
		struct cuda_type argument;
		int error = symbol_take_char(reader, 'L') ? read_literal(reader, &argument)
							  : symbol_read_type(reader, &argument);
		if (error < 0)
			return error;
		if (count == 0 && first_out)
			*first_out = argument;
		if (list && count < SYMBOL_ARGUMENTS_MAX)
			list[count] = argument;
		count++;
		symbol_set_text(text + used, bytes - used, "%s%s", count > 1 ? ", " : "",
				argument.text);
		used += strlen(text + used);
	}
	if (count_out)
		*count_out = count < SYMBOL_ARGUMENTS_MAX ? count : SYMBOL_ARGUMENTS_MAX;
	return 0;
}

void symbol_join_names(char *text, size_t bytes, const char *scope, const char *name)
{
	char joined[CUDA_SYMBOL_NAME_BYTES];

	symbol_set_text(joined, sizeof(joined), "%s%s%s", scope, scope[0] && name[0] ? "::" : "",
			name);
	symbol_set_text(text, bytes, "%s", joined);
}

/* The prelude's images are templates with the number of dimensions as argument. */
static bool read_image(struct cuda_type *type, const char *name, const char *dimensions)
{
	static const char *const names[][3] = {
		{"sycl_image_read_", "READ", ""},
		{"sycl_image_write_", "WRITE", ""},
		{"sycl_image_sampled_", "SAMPLED", ""},
		{"sycl_image_read_layered_", "READ", "_LAYERED"},
		{"sycl_image_write_layered_", "WRITE", "_LAYERED"},
		{"sycl_image_sampled_layered_", "SAMPLED", "_LAYERED"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i][0]) != 0)
			continue;
		type->kind = CUDA_TYPE_IMAGE;
		type->points_to_const = i % 3 != 1;
		symbol_set_text(type->text, sizeof(type->text), "SYCL_IMAGE_%s_%.10sD%s",
				names[i][1], dimensions, names[i][2]);
		return true;
	}
	return false;
}

/* Reads the arguments of a class or a template's instance, from behind 'I'. `type->text` is the
 * name before the arguments. */
static int read_instance(struct symbol_reader *reader, struct cuda_type *type)
{
	char arguments[CUDA_SYMBOL_TYPE_BYTES], name[CUDA_SYMBOL_TYPE_BYTES];
	struct cuda_type first = {0};

	memcpy(name, type->text, sizeof(name));
	int error = symbol_read_arguments(reader, arguments, sizeof(arguments), &first, NULL, NULL);
	if (error < 0)
		return error;
	if (strcmp(name, "sycl_local_") == 0) {
		type->kind = CUDA_TYPE_LOCAL;
		type->points_to_const = first.is_const;
		symbol_set_text(type->text, sizeof(type->text), "SYCL_LOCAL(%s)", first.text);
	} else if (!read_image(type, name, arguments)) {
		symbol_set_text(type->text, sizeof(type->text), "%s<%s>", name, arguments);
	}
	return symbol_remember_type(reader, type);
}

static int read_substitution(struct symbol_reader *reader, struct cuda_type *type)
{
	uint32_t index = 0;

	if (*reader->at >= 'a' && *reader->at <= 'z') /* a name of the standard library */
		return -EINVAL;
	if (read_index(reader, 36, &index) < 0 || index >= reader->substitution_count)
		return -EINVAL;
	*type = reader->substitutions[index];
	return symbol_take_char(reader, 'I') ? read_instance(reader, type) : 0;
}

/* Reads from behind 'N' to its 'E'. */
static int read_nested_type(struct symbol_reader *reader, struct cuda_type *type)
{
	*type = (struct cuda_type){.kind = CUDA_TYPE_VALUE};
	while (!symbol_take_char(reader, 'E')) {
		char part[CUDA_SYMBOL_TYPE_BYTES];
		int error = 0;
		if (symbol_take_char(reader, 'I')) {
			error = read_instance(reader, type);
		} else if (symbol_take_char(reader, 'S')) {
			error = read_substitution(reader, type);
		} else {
			error = symbol_read_source_name(reader, part, sizeof(part));
			if (error == 0) {
				symbol_join_names(type->text, sizeof(type->text), type->text, part);
				error = symbol_remember_type(reader, type);
			}
		}
		if (error < 0)
			return error;
	}
	return 0;
}

static const char *builtin_name(char letter)
{
	static const char letters[] = "vwbcahstijlmxynofdegz";
	static const char *const names[] = {
		"void",        "wchar_t",
		"bool",        "char",
		"signed char", "unsigned char",
		"short",       "unsigned short",
		"int",         "unsigned int",
		"long",        "unsigned long",
		"long long",   "unsigned long long",
		"__int128",    "unsigned __int128",
		"float",       "double",
		"long double", "__float128",
		"...",
	};
	const char *found = letter ? strchr(letters, letter) : NULL;

	return found ? names[found - letters] : NULL;
}

static int read_pointer(struct symbol_reader *reader, struct cuda_type *type)
{
	char mark = *reader->at++ == 'P' ? '*' : '&';
	struct cuda_type to;
	int error = symbol_read_type(reader, &to);

	if (error < 0)
		return error;
	*type = (struct cuda_type){.kind = CUDA_TYPE_POINTER, .points_to_const = to.is_const};
	symbol_set_text(type->text, sizeof(type->text), "%s%c", to.text, mark);
	return symbol_remember_type(reader, type);
}

static int read_qualified(struct symbol_reader *reader, struct cuda_type *type)
{
	bool is_const = false;

	while (*reader->at == 'r' || *reader->at == 'V' || *reader->at == 'K')
		is_const = *reader->at++ == 'K' || is_const;
	struct cuda_type plain;
	int error = symbol_read_type(reader, &plain);
	if (error < 0)
		return error;
	*type = plain;
	type->is_const = is_const;
	symbol_set_text(type->text, sizeof(type->text), "%s%s", plain.text,
			is_const ? " const" : " volatile");
	return symbol_remember_type(reader, type);
}

/* Skips a function type, "FviE". Its parameters are not needed. */
static int read_function(struct symbol_reader *reader, struct cuda_type *type)
{
	struct cuda_type part;

	while (!symbol_take_char(reader, 'E')) {
		int error = symbol_read_type(reader, &part);
		if (error < 0)
			return error;
	}
	*type = (struct cuda_type){.text = "function"};
	return symbol_remember_type(reader, type);
}

static int read_array(struct symbol_reader *reader, struct cuda_type *type)
{
	struct cuda_type of;

	while (is_digit(*reader->at))
		reader->at++;
	if (!symbol_take_char(reader, '_'))
		return -EINVAL;
	int error = symbol_read_type(reader, &of);
	if (error < 0)
		return error;
	*type = (struct cuda_type){.is_const = of.is_const};
	symbol_set_text(type->text, sizeof(type->text), "%s[]", of.text);
	return symbol_remember_type(reader, type);
}

static int read_template_parameter(struct symbol_reader *reader, struct cuda_type *type)
{
	uint32_t index = 0;

	if (read_index(reader, 10, &index) < 0 || index >= reader->argument_count)
		return -EINVAL;
	*type = reader->arguments[index];
	return symbol_remember_type(reader, type);
}

static int read_class(struct symbol_reader *reader, struct cuda_type *type)
{
	*type = (struct cuda_type){.kind = CUDA_TYPE_VALUE};
	int error = symbol_read_source_name(reader, type->text, sizeof(type->text));
	if (error == 0)
		error = symbol_remember_type(reader, type);
	if (error == 0 && symbol_take_char(reader, 'I'))
		error = read_instance(reader, type);
	return error;
}

static int read_one_type(struct symbol_reader *reader, struct cuda_type *type)
{
	char c = *reader->at;
	const char *builtin = builtin_name(c);

	if (c == 'P' || c == 'R' || c == 'O')
		return read_pointer(reader, type);
	if (c == 'r' || c == 'V' || c == 'K')
		return read_qualified(reader, type);
	if (is_digit(c))
		return read_class(reader, type);
	reader->at += c != '\0';
	if (builtin) {
		*type = (struct cuda_type){.kind = CUDA_TYPE_VALUE};
		symbol_set_text(type->text, sizeof(type->text), "%s", builtin);
		return 0;
	}
	switch (c) {
	case 'F':
		return read_function(reader, type);
	case 'A':
		return read_array(reader, type);
	case 'S':
		return read_substitution(reader, type);
	case 'T':
		return read_template_parameter(reader, type);
	case 'N':
		return read_nested_type(reader, type);
	case 'u': /* a vendor's own type */
		return read_class(reader, type);
	default:
		return -EINVAL;
	}
}

int symbol_read_type(struct symbol_reader *reader, struct cuda_type *type)
{
	if (reader->depth == DEPTH_MAX)
		return -EINVAL;
	reader->depth++;
	int error = read_one_type(reader, type);
	reader->depth--;
	return error;
}
