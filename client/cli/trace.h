/* 'syclctl trace': queries the service again and again, and writes a file at the end. */
#ifndef SYCLCTL_TRACE_H
#define SYCLCTL_TRACE_H

#include <stdbool.h>

struct trace_words {
	const char *file;             /* NULL: not given, as the others */
	const char *seconds, *device; /* as they were written */
	const char *runtime_directory;
	bool json;
};

/* False: *wrong_out says what is wrong. */
bool trace_words_read(const struct trace_words *words, const char **wrong_out);
/* Take the trace, with words that were checked. 0, or a negative errno; the error is on standard
 * error. -ENOENT: no service runs. */
int trace_run(const struct trace_words *words);

#endif
