/*
 * Lines of the log that its reader has not read yet. The service has one thread, and must not wait
 * for a reader that pauses: a stopped terminal, a full pipe. Lines are written at once as long as
 * none waits, else in order as soon as there is room. Beyond LOG_QUEUE_BYTES they are lost, and one
 * line has their number. O_NONBLOCK is never set for a descriptor that other processes have, too.
 */
#ifndef SYCLD_SUPERVISOR_LOG_QUEUE_H
#define SYCLD_SUPERVISOR_LOG_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

enum {
	LOG_QUEUE_BYTES = 256 << 10, /* lines that wait, with the bytes that manage them */
	LOG_QUEUE_TURN_MS = 50,      /* period of the next attempt while lines wait */
	LOG_QUEUE_FINISH_MS = 500,   /* longest that the end of the service waits for the reader */
	LOG_LINE_BYTES = 1024,
};

/* Makes a line, with its newline, about so many lost lines. Returns its size in bytes. */
typedef size_t log_queue_lost_line(char line_out[LOG_LINE_BYTES], unsigned long count);

/*
 * From now on lines for the descriptor, which stays the caller's, go through the queue in this
 * process. Once in a process. Lines that wait are written while the loop runs. Code that closes all
 * handles of the loop closes the queue's timer, too. 0 or a negative errno.
 */
int log_queue_open(uv_loop_t *loop, int fd, log_queue_lost_line *lost_line);

/* False: there is no queue in this process (not opened, or a forked child), and the caller writes
 * by itself. On the loop's thread; never blocks. */
bool log_queue_write(const char *line, size_t bytes);

/* The loop has ended: write the lines that wait, for at most LOG_QUEUE_FINISH_MS. Later lines are
 * written at once or lost. */
void log_queue_finish(void);

#endif
