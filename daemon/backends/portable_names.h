/*
 * Names of a portable source that the device's language has, too. OpenCL C and CUDA C++ have
 * functions called mix, dot or pow, and a source may call its own so. The names that it declares
 * itself get a prefix then, and lose it again before they are reported. What the prelude makes of
 * its words stays the language's own function.
 *
 * A source is tried with and without. It may declare a function for the one language and use the
 * other's built-in function of this name. OpenCL C takes it as it is first: such a function does
 * not compile there, or is another one by its parameters. CUDA C++ takes it with the prefixes
 * first. There it would silently take the place of the built-in one, also in what the prelude's
 * words stand for.
 */
#ifndef SYCL_BACKENDS_PORTABLE_NAMES_H
#define SYCL_BACKENDS_PORTABLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define PORTABLE_NAMES_PREFIX "sycl_own_"

/* True if OpenCL C or CUDA C++ has a built-in function of this name. */
bool portable_name_is_builtin(const char *name, size_t bytes);

/*
 * The source with the prefix before each such name that it declares: functions, kernels, macros,
 * variables, parameters. malloc'ed, ended by a 0 that is not counted. NULL: it declares none, or
 * there is no memory.
 */
char *portable_names_own(const char *source, size_t source_bytes, size_t *bytes_out);

/* Takes every prefix out of a text, also inside of symbols of C++; the text gets no longer. */
void portable_names_restore(char *text);

#endif
