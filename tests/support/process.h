/*
 * Child processes of a test: start, watch and end them. Everything that waits has a deadline.
 * Functions that return int return 0 (or a count) or a negative errno.
 */
#ifndef SYCL_TESTS_PROCESS_H
#define SYCL_TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SECONDS_NS(n) ((uint64_t)(n)*1000000000ull)

/* Returns true once the condition holds. It is called repeatedly. */
typedef bool condition(void *context);
/* Waits until the condition holds. Returns false if it does not within timeout_ns. */
bool wait_until(condition *holds, void *context, uint64_t timeout_ns);

struct child {
	pid_t pid;       /* 0 when it has been reaped */
	int out;         /* its output, non-blocking; -1: it is not read */
	int in;          /* the other end of its standard input; -1: closed */
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
 * Starts a program. `argv` and `environment` end with NULL. An entry of `environment` is
 * "NAME=VALUE", or "NAME" to remove it; NULL: unchanged. Its stdout and stderr are read through
 * `out`; `in` writes to its stdin. It dies with the test.
 */
int child_start(const char *const *argv, const char *const *environment, struct child *child_out);
/* The same, but its output is appended to a file: for a program with much output that no test
 * reads. */
int child_start_logged(const char *const *argv, const char *const *environment, const char *path,
		       struct child *child_out);
/* Reads the next line, without its end. 1: there is one; 0: the child closed its output;
 * -ETIMEDOUT. */
int child_read_line(struct child *child, char *line_out, size_t size, uint64_t timeout_ns);
/* Reads all output until the child closes it, and adds a 0 byte. Returns its size, -ETIMEDOUT or
 * -EMSGSIZE. */
ssize_t child_read_all(struct child *child, char *text_out, size_t size, uint64_t timeout_ns);
/* Reads on until a line that begins with `start`. 0, -ETIMEDOUT, or -EPIPE if the child closed its
 * output. */
int child_expect(struct child *child, const char *start, char *line_out, size_t size,
		 uint64_t timeout_ns);
/* Writes a line (its end is added) to the child's standard input. 0 or a negative errno. */
int child_say(struct child *child, const char *line);
/* Reaps the child. Returns its exit status (128 + signal if it was killed), or -ETIMEDOUT. Further
 * output is discarded. */
int child_wait(struct child *child, uint64_t timeout_ns);
/* Sends SIGKILL, reaps and closes. It also accepts a child that never started. */
void child_end(struct child *child);

/* A number of a running process; a negative errno if it has ended. */
int process_count_descriptors(pid_t pid);
int process_count_mappings(pid_t pid);
int64_t process_resident_bytes(pid_t pid);
/* Returns true if the process exists and is no zombie. */
bool process_exists(pid_t pid);
/* Returns its start time in the kernel's ticks, which distinguishes it from a later process with
 * the same number. 0: it has ended. */
uint64_t process_start(pid_t pid);
/* Finds the direct children of a process. Fills at most `capacity`, and returns how many there
 * are. */
int process_children(pid_t parent, pid_t *pids_out, int capacity);

#endif
