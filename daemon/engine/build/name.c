#include "build/name.h"

#include <ctype.h>
#include <string.h>

/* The word that begins a kernel, for each language with a text. */
static const char *kernel_first_word(enum backend_source_kind kind)
{
	switch (kind) {
	case BACKEND_SOURCE_PORTABLE:
		return "SYCL_KERNEL";
	case BACKEND_SOURCE_OPENCL_C:
		return "kernel"; /* also finds __kernel */
	case BACKEND_SOURCE_CUDA_CPP:
		return "__global__";
	case BACKEND_SOURCE_PTX:
		return ".entry";
	default:
		return NULL;
	}
}

static bool text_is_of_name(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

static bool name_is_space(char character)
{
	return isspace((unsigned char)character) != 0;
}

/* The place behind the bracket that closes the bracket at `at`, or `end`. */
static const char *name_skip_brackets(const char *at, const char *end)
{
	size_t depth = 0;
	for (; at < end; at++) {
		depth += *at == '(';
		depth -= *at == ')';
		if (depth == 0)
			return at + 1;
	}
	return end;
}

/* The word before the first '(', except words of the compiler's own: __attribute__((...)),
 * __launch_bounds__(...). */
static bool find_kernel_name(const char *from, const char *end, char out[BUILD_NAME_BYTES])
{
	const char *bracket;
	while ((bracket = memchr(from, '(', (size_t)(end - from))) != NULL) {
		const char *behind = bracket, *begin;
		while (behind > from && name_is_space(behind[-1]))
			behind--;
		for (begin = behind; begin > from && text_is_of_name(begin[-1]);)
			begin--;
		size_t size = (size_t)(behind - begin);
		if (size == 0)
			return false;
		if (size < 2 || strncmp(begin, "__", 2) != 0) {
			size = size < BUILD_NAME_BYTES ? size : BUILD_NAME_BYTES - 1;
			memcpy(out, begin, size);
			out[size] = '\0';
			return true;
		}
		from = name_skip_brackets(bracket, end);
	}
	return false;
}

void build_name(enum backend_source_kind kind, const char *source, size_t source_bytes,
		char out[BUILD_NAME_BYTES])
{
	const char *word = kernel_first_word(kind), *end = source + source_bytes, *at = source;
	out[0] = '\0';
	while (word && (at = memmem(at, (size_t)(end - at), word, strlen(word))) != NULL) {
		at += strlen(word);
		if (at < end && name_is_space(*at) && find_kernel_name(at, end, out))
			return;
	}
}
