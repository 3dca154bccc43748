/*
 * Lines of the log that whoever reads it has not taken yet. The service has one thread, and must
 * not wait for a reader that pauses: a terminal that was stopped, a pipe that is full. Lines are
 * written at once as long as nothing waits, else in order as soon as there is room. Beyond
 * LOG_QUEUE_BYTES they are lost, and one line says how many. O_NONBLOCK is never set for a
 * descriptor that others have, too.
 */
#ifndef SYCLD_SUPERVISOR_LOG_QUEUE_H
#define SYCLD_SUPERVISOR_LOG_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

enum {
	LOG_QUEUE_BYTES = 256 << 10, /* of lines that wait, with what keeps them */
	LOG_QUEUE_TURN_MS = 50,      /* while some wait: so often it is tried again */
	LOG_QUEUE_FINISH_MS = 500,   /* longest that the end of the service waits for the reader */
	LOG_LINE_BYTES = 1024,
};

/* A line, with its end, that says that so many are lost. Its bytes. */
typedef size_t log_queue_lost_line(char line_out[LOG_LINE_BYTES], unsigned long count);

/*
 * From now on lines for the descriptor, which stays the caller's, go through here in this process.
 * Once in a process. Lines that wait are written while the loop runs; who closes all handles of the
 * loop closes the queue's timer, too. 0 or a negative errno.
 */
int log_queue_open(uv_loop_t *loop, int fd, log_queue_lost_line *lost_line);

/* False: there is no queue in this process (yet, or it is a forked child): the caller writes by
 * itself. On the loop's thread; never blocks. */
bool log_queue_write(const char *line, size_t bytes);

/* The loop has ended: write what waits, for as long as LOG_QUEUE_FINISH_MS. Lines that come later
 * are written at once or lost. */
void log_queue_finish(void);

#endif
