/*
 * Long names of kernels, which end the process in several drivers. PoCL makes files with the names
 * of kernels, and a file's name has at most 255 bytes; NVIDIA's driver overflows a buffer with a
 * name of more than 200 bytes. So such a name is a macro for a shorter one while a source is built.
 * What a source composes of pieces (a ## b) stays as it is.
 */
#ifndef SYCL_BACKENDS_OPENCL_LONG_NAME_H
#define SYCL_BACKENDS_OPENCL_LONG_NAME_H

#include "opencl/program/binary.h"

#include <stdbool.h>
#include <stddef.h>

/* The longest name that is kept, and room for a short one with its 0. The files of a kernel have
 * more in their names than the kernel's. */
enum { OPENCL_NAME_KEPT_MAX = 127, OPENCL_SHORT_NAME_BYTES = 128 };

/* The short name of a long one. False: the name is not long. Two long names of one source have
 * equal short ones only by accident, and then do not compile. */
bool opencl_long_name_shorten(const char *name, size_t bytes,
			      char short_name[OPENCL_SHORT_NAME_BYTES]);

/* A line of the preprocessor for each long name of a source's functions, of which 64 are taken. ""
 * if it has none. They are no options, for drivers may have no room for a long one. malloc'ed;
 * NULL: no memory. */
char *opencl_long_name_defines(const char *source, size_t source_bytes, unsigned long *lines_out);

/* Gives kernels with short names the long ones that a source has. 0 or -ENOMEM. */
int opencl_long_names_restore(struct opencl_binary *binary, const char *source,
			      size_t source_bytes);

#endif
