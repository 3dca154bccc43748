/*
 * Words of CUDA C++ or OpenCL C in a portable source, which only some devices compile. What a
 * source has for one language alone (#ifdef SYCL_DEVICE_CUDA) is left out. Pure; any thread.
 */
#ifndef SYCL_BACKENDS_PORTABLE_WORDS_H
#define SYCL_BACKENDS_PORTABLE_WORDS_H

#include <stddef.h>

/* A line for each such word, as a compiler writes it: "warning: kernel:LINE:COLUMN: ...". At most
 * 50. malloc'ed; NULL: there are none, or no memory. */
char *portable_words_find(const char *source, size_t bytes);

#endif
