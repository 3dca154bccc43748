/*
 * Why sources do not link, if the driver does not report it: PoCL returns no program with a log.
 * Read from the text alone, so it is a supposition: macros are not expanded, and both sides of an
 * #if are read. Pure; may be given anything as a source.
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
 * A line for each object, with the functions that it defines. Then those that are declared and
 * nowhere defined, and those that two objects define, if any. malloc'ed; NULL: no memory.
 */
char *opencl_link_words(const struct opencl_text *sources, uint32_t count);

#endif
