/*
 * Explains why sources do not link, if the driver does not report it: PoCL returns no program with
 * a log. Only the text is read, so the result is a guess: macros are not expanded, and both sides
 * of an #if are read. Pure; a source may be any text.
 */
#ifndef SYCL_BACKENDS_OPENCL_LINK_WORDS_H
#define SYCL_BACKENDS_OPENCL_LINK_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct opencl_text {
	const char *text;
	size_t bytes;
};

/*
 * A line for each object, with the functions that it defines. Then functions that are declared but
 * defined nowhere, and functions that two objects define, if there are any. malloc'ed; NULL: no
 * memory.
 */
char *opencl_link_words(const struct opencl_text *sources, uint32_t count);

#endif
