/*
 * An engine's standard error, line by line in the service's log, with the engine and its user. The
 * tenant's code may write any text, so lines are made printable and cut. Each user may write a
 * limited number of bytes in a period; further lines are lost, and the engine does not wait. It is
 * a socket, not a pipe, because a writer that splices its own memory into a pipe can block the
 * reader.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_LOG_H
#define SYCLD_SUPERVISOR_ENGINE_LOG_H

#include "base/log_window.h"

#include <uv.h>

enum {
	ENGINE_LOG_LINE_BYTES = 512,
	/* Bytes of all engines of a user within ENGINE_LOG_WINDOW_MS. */
	ENGINE_LOG_WINDOW_BYTES = 64 << 10,
	ENGINE_LOG_WINDOW_MS = 10000,
	/* Bytes that each line costs in addition to its own, because the log adds a head. */
	ENGINE_LOG_LINE_COST = 128,
	ENGINE_LOG_WHOSE_BYTES = 64,
};

struct engine_log;

/* Both ends, CLOEXEC and not blocking. 0 or a negative errno. */
int engine_log_pair(int *ours_out, int *theirs_out);

/* Takes the descriptor in any case; it may be -1. NULL: there is none, or no memory, and nothing is
 * read. */
struct engine_log *engine_log_open(uv_loop_t *loop, int fd, const char *whose,
				   struct engine_log_window *window);

/* Reads the rest after the engine has ended, up to ENGINE_LOG_WINDOW_BYTES. Logs as much as fits
 * the window. */
void engine_log_finish(struct engine_log *log);

/* Returns the last line about a failed assertion; "": there was none. */
const char *engine_log_assertion(const struct engine_log *log);

/* Returns the last line; "": there was none. */
const char *engine_log_last(const struct engine_log *log);

/* Gives the descriptor back to the caller; -1: there is none. The loop must run once more. */
int engine_log_release(struct engine_log *log);

/* As engine_log_release, and closes the descriptor. Accepts NULL, returns NULL. */
struct engine_log *engine_log_free(struct engine_log *log);

#endif
