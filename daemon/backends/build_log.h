/* Additions to a compiler's log that both backends make. Pure; any thread. */
#ifndef SYCL_BACKENDS_BUILD_LOG_H
#define SYCL_BACKENDS_BUILD_LOG_H

#include <stddef.h>

/*
 * The log with the source's line and a caret below each message about "kernel:LINE:COLUMN:", where
 * the compiler (PoCL's) does not show them itself. The source ends with a 0 that is not counted.
 * malloc'ed; NULL: no memory.
 */
char *build_log_show_lines(const char *log, const char *source, size_t source_bytes);

/* Adds a text behind the log, which is malloc'ed or NULL; without memory it is left out. */
void build_log_add(char **log, const char *text);

/* Adds warnings of a portable source's words of one language (portable_words.h), with their lines.
 */
void build_log_add_words(char **log, const char *source, size_t source_bytes);

#endif
