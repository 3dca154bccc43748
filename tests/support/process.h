/*
 * Child processes of a test: started, watched, ended. Everything that waits has a deadline.
 * Functions that return int give 0 (or a count) or a negative errno.
 */
#ifndef SYCL_TESTS_PROCESS_H
#define SYCL_TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SECONDS_NS(n) ((uint64_t)(n)*1000000000ull)

/* Is it so by now? Called again and again. */
typedef bool condition(void *context);
/* Until the condition holds; false: it did not within timeout_ns. */
bool wait_until(condition *holds, void *context, uint64_t timeout_ns);

struct child {
	pid_t pid;       /* 0 when it has been reaped */
	int out;         /* what it prints, non-blocking; -1: nobody reads */
	int in;          /* what it reads as standard input; -1: closed */
	int status;      /* of waitpid, once reaped */
	char line[4096]; /* what was read and not taken yet */
	size_t held;
};

#define CHILD_INIT                                                                                 \
	{                                                                                          \
		.out = -1, .in = -1                                                                \
	}

/* The folder of this build's programs ("bin" or "tests" beside the test's own), for argv[0]. */
int build_path(const char *folder, const char *name, char *path_out, size_t size);

/*
 * Start a program; `argv` ends with NULL, `environment` ("NAME=VALUE", or "NAME" to remove; NULL:
 * as it is) too. Its stdout and stderr are read through `out`, its stdin written through `in`. It
 * dies with the test.
 */
int child_start(const char *const *argv, const char *const *environment, struct child *child_out);
/* The same, but what it prints goes to the end of a file: for one that talks for long and that
 * nobody reads. */
int child_start_logged(const char *const *argv, const char *const *environment, const char *path,
		       struct child *child_out);
/* The next line without its end; 1 got one, 0 the child closed its output, -ETIMEDOUT. */
int child_read_line(struct child *child, char *line_out, size_t size, uint64_t timeout_ns);
/* All that it prints until it closes its output; ends with a 0 byte. Its size, or -ETIMEDOUT,
 * -EMSGSIZE. */
ssize_t child_read_all(struct child *child, char *text_out, size_t size, uint64_t timeout_ns);
/* Reads on until a line that begins with `start`; 0 or -ETIMEDOUT or -EPIPE (it closed its output).
 */
int child_expect(struct child *child, const char *start, char *line_out, size_t size,
		 uint64_t timeout_ns);
/* Write a line (its end is added) to the child's standard input. 0 or a negative errno. */
int child_say(struct child *child, const char *line);
/* Reap it; its exit status (128 + signal for a killed one), or -ETIMEDOUT. What it still prints is
 * thrown away. */
int child_wait(struct child *child, uint64_t timeout_ns);
/* SIGKILL, reap, close. Also for one that never started. */
void child_end(struct child *child);

/* A number of a running process; negative errno when it has ended. */
int process_count_descriptors(pid_t pid);
int process_count_mappings(pid_t pid);
int64_t process_resident_bytes(pid_t pid);
/* Does it exist (and is no zombie)? */
bool process_exists(pid_t pid);
/* When it was started, in the kernel's ticks, which distinguishes it from a later process with the
 * same number; 0 when it has ended. */
uint64_t process_start(pid_t pid);
/* Direct children of a process: fills at most `capacity`, returns how many there are. */
int process_children(pid_t parent, pid_t *pids_out, int capacity);

#endif
