/* 'syclctl trace': queries the service again and again, and writes a file at the end. */
#ifndef SYCLCTL_TRACE_H
#define SYCLCTL_TRACE_H

#include <stdbool.h>

struct trace_words {
	const char *file;                      /* NULL: not given, as for the others */
	const char *seconds, *device, *format; /* as the user wrote them */
	const char *runtime_directory;
	bool json;
	bool exact;
};

/* False: *wrong_out names the error. */
bool trace_words_read(const struct trace_words *words, const char **wrong_out);
/* Records the trace, with checked words. 0, or a negative errno; the error is printed on standard
 * error. -ENOENT: no service runs. */
int trace_run(const struct trace_words *words);

#endif
