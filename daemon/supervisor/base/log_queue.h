/*
 * Log lines that their reader has not read yet. The service has one thread, and must not wait for a
 * reader that pauses: a stopped terminal, a full pipe. A line is written at once if no line waits.
 * Otherwise lines are written in order as soon as there is room. Lines beyond LOG_QUEUE_BYTES are
 * lost, and one line reports their number. O_NONBLOCK is never set for a descriptor that other
 * processes have, too.
 */
#ifndef SYCLD_SUPERVISOR_LOG_QUEUE_H
#define SYCLD_SUPERVISOR_LOG_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

enum {
	LOG_QUEUE_BYTES = 256 << 10, /* waiting lines, with their management data */
	LOG_QUEUE_TURN_MS = 50,      /* time between attempts while lines wait */
	/* Longest time that the end of the service waits for the reader. */
	LOG_QUEUE_FINISH_MS = 500,
	LOG_LINE_BYTES = 1024,
};

/* Makes a line, with its newline, that reports so many lost lines. Returns its size in bytes. */
typedef size_t log_queue_lost_line(char line_out[LOG_LINE_BYTES], unsigned long count);

/*
 * From now on lines for the descriptor, which the caller keeps, go through the queue in this
 * process. Once in a process. Waiting lines are written while the loop runs. Code that closes all
 * handles of the loop also closes the queue's timer. 0 or a negative errno.
 */
int log_queue_open(uv_loop_t *loop, int fd, log_queue_lost_line *lost_line);

/* False: there is no queue in this process (not opened, or a forked child), and the caller writes
 * the line itself. Loop thread; never blocks. */
bool log_queue_write(const char *line, size_t bytes);

/* Called when the loop has ended: writes the waiting lines, for at most LOG_QUEUE_FINISH_MS. Later
 * lines are written at once or lost. */
void log_queue_finish(void);

#endif
