/*
 * The service's log: one line for each event on stderr, with the prefixes of sd-daemon(3) for the
 * journal. SYCLD_DEBUG=topic:level,... sets the level of a topic ("*" for all): error, warning,
 * info (the default), debug. Loop thread only. Never fails, never exits. After log_open it never
 * waits for the reader of the log (log_queue.h). The name of a user, if it is known, follows each
 * "uid NUMBER" (user_names.h).
 */
#ifndef SYCLD_SUPERVISOR_LOG_H
#define SYCLD_SUPERVISOR_LOG_H

#include "base/journal.h"

#include <uv.h>

enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7
};

/* Reads SYCLD_DEBUG and JOURNAL_STREAM. Before this call everything up to info is printed. */
void log_init(void);

/* Begin to write through the queue. Once in a process. 0 or a negative errno: lines are written as
 * before then. */
int log_open(uv_loop_t *loop);

/* Called when the loop has ended: writes the waiting lines, for half a second at most. */
void log_finish(void);

__attribute__((format(printf, 3, 4))) void log_write(enum log_level level, const char *topic,
						     const char *format, ...);

/* Like log_write, with fields. `text` is no format. */
void log_write_with(enum log_level level, const char *topic, const struct log_fields *fields,
		    const char *text);

#define log_error(topic, ...)   log_write(LOG_LEVEL_ERROR, topic, __VA_ARGS__)
#define log_warning(topic, ...) log_write(LOG_LEVEL_WARNING, topic, __VA_ARGS__)
#define log_info(topic, ...)    log_write(LOG_LEVEL_INFO, topic, __VA_ARGS__)
#define log_debug(topic, ...)   log_write(LOG_LEVEL_DEBUG, topic, __VA_ARGS__)

#endif
