#include "process.h"

#include "cleanup.h"
#include "clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { POLL_MS = 5 };

static void pause_shortly(void)
{
	(void)poll(NULL, 0, POLL_MS);
}

bool wait_until(condition *holds, void *context, uint64_t timeout_ns)
{
	uint64_t deadline = clock_deadline_ns(timeout_ns);
	while (!holds(context)) {
		if (clock_now_ns() >= deadline)
			return false;
		pause_shortly();
	}
	return true;
}

int build_path(const char *folder, const char *name, char *path_out, size_t size)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		return -errno;
	self[length] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(self, '/');
		if (!slash)
			return -ENOENT;
		*slash = '\0';
	}
	int written = snprintf(path_out, size, "%s/%s/%s", self, folder, name);
	return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
}

/* Only functions that are safe between fork and exec are called here. */
static void process_run_program(const char *const *argv, const char *const *environment, int in,
				int out, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	(void)dup2(in, STDIN_FILENO);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(out, STDERR_FILENO);
	for (; environment && *environment; environment++) {
		if (strchr(*environment, '='))
			(void)putenv((char *)(uintptr_t)*environment);
		else
			(void)unsetenv(*environment);
	}
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* `out`: the child's stdout and stderr. */
static int start_child(const char *const *argv, const char *const *environment, int out,
		       struct child *child_out)
{
	int in[2];
	pid_t parent = getpid();
	if (pipe2(in, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0)
		process_run_program(argv, environment, in[0], out, parent);
	int error = errno;
	(void)close(in[0]);
	if (pid < 0) {
		(void)close(in[1]);
		return -error;
	}
	*child_out = (struct child){.pid = pid, .out = -1, .in = in[1]};
	return 0;
}

int child_start(const char *const *argv, const char *const *environment, struct child *child_out)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	int r = start_child(argv, environment, out[1], child_out);
	(void)close(out[1]);
	if (r < 0) {
		(void)close(out[0]);
		return r;
	}
	(void)fcntl(out[0], F_SETFL, O_NONBLOCK);
	child_out->out = out[0];
	return 0;
}

int child_start_logged(const char *const *argv, const char *const *environment, const char *path,
		       struct child *child_out)
{
	CLEANUP(close_fd) int out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return out < 0 ? -errno : start_child(argv, environment, out, child_out);
}

/* Takes a whole line out of the received bytes; with `all` also a rest without an end. */
static bool take_line(struct child *child, bool all, char *line_out, size_t size)
{
	char *end = memchr(child->line, '\n', child->held);
	if (!end && !(all && child->held > 0) && child->held < sizeof(child->line))
		return false;
	size_t length = end ? (size_t)(end - child->line) : child->held;
	size_t kept = length < size - 1 ? length : size - 1;
	memcpy(line_out, child->line, kept);
	line_out[kept] = '\0';
	size_t used = end ? length + 1 : length;
	memmove(child->line, child->line + used, child->held - used);
	child->held -= used;
	return true;
}

int child_read_line(struct child *child, char *line_out, size_t size, uint64_t timeout_ns)
{
	uint64_t deadline = clock_deadline_ns(timeout_ns);
	for (;;) {
		if (take_line(child, child->out < 0, line_out, size))
			return 1;
		if (child->out < 0)
			return 0;
		ssize_t got = read(child->out, child->line + child->held,
				   sizeof(child->line) - child->held);
		if (got > 0) {
			child->held += (size_t)got;
			continue;
		}
		if (got == 0) {
			close_fd(&child->out);
			continue;
		}
		uint64_t now = clock_now_ns();
		if (now >= deadline)
			return -ETIMEDOUT;
		uint64_t left_ms = (deadline - now) / 1000000u;
		struct pollfd wait = {.fd = child->out, .events = POLLIN};
		(void)poll(&wait, 1, left_ms < 1000 ? (int)left_ms + 1 : 1000);
	}
}

ssize_t child_read_all(struct child *child, char *text_out, size_t size, uint64_t timeout_ns)
{
	uint64_t deadline = clock_deadline_ns(timeout_ns);
	size_t used = 0;
	while (used + 1 < size) {
		ssize_t got = read(child->out, text_out + used, size - used - 1);
		if (got == 0) {
			text_out[used] = '\0';
			return (ssize_t)used;
		}
		if (got > 0)
			used += (size_t)got;
		else if (clock_now_ns() >= deadline)
			return -ETIMEDOUT;
		else
			(void)poll(&(struct pollfd){.fd = child->out, .events = POLLIN}, 1,
				   POLL_MS);
	}
	return -EMSGSIZE;
}

int child_expect(struct child *child, const char *start, char *line_out, size_t size,
		 uint64_t timeout_ns)
{
	uint64_t deadline = clock_deadline_ns(timeout_ns);
	for (;;) {
		uint64_t now = clock_now_ns();
		int r = child_read_line(child, line_out, size, now < deadline ? deadline - now : 0);
		if (r <= 0)
			return r == 0 ? -EPIPE : r;
		if (strncmp(line_out, start, strlen(start)) == 0)
			return 0;
	}
}

int child_say(struct child *child, const char *line)
{
	char text[512];
	int length = snprintf(text, sizeof(text), "%s\n", line);
	if (length < 0 || (size_t)length >= sizeof(text))
		return -EMSGSIZE;
	/* The line is shorter than a pipe's atomic write, so all of it or nothing is written. A
	 * child that has ended must not end the test. */
	sighandler_t before = signal(SIGPIPE, SIG_IGN);
	ssize_t written = write(child->in, text, (size_t)length);
	int error = errno;
	(void)signal(SIGPIPE, before);
	return written < 0 ? -error : 0;
}

int child_wait(struct child *child, uint64_t timeout_ns)
{
	uint64_t deadline = clock_deadline_ns(timeout_ns);
	while (child->pid > 0) {
		/* A full pipe must not prevent the child from ending. */
		char line[256];
		while (child->out >= 0 && child_read_line(child, line, sizeof(line), 0) > 0)
			;
		pid_t ended = waitpid(child->pid, &child->status, WNOHANG);
		if (ended < 0)
			return -errno;
		if (ended > 0)
			child->pid = 0;
		else if (clock_now_ns() >= deadline)
			return -ETIMEDOUT;
		else
			pause_shortly();
	}
	return WIFEXITED(child->status) ? WEXITSTATUS(child->status)
					: 128 + WTERMSIG(child->status);
}

void child_end(struct child *child)
{
	if (child->pid > 0) {
		(void)kill(child->pid, SIGKILL);
		(void)waitpid(child->pid, &child->status, 0);
		child->pid = 0;
	}
	close_fd(&child->in);
	close_fd(&child->out);
}

int process_count_descriptors(pid_t pid)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *folder = opendir(path);
	if (!folder)
		return -errno;
	int count = 0;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		count += entry->d_name[0] != '.';
	(void)closedir(folder);
	return count;
}

/* Calls `each` with every line of /proc/PID/NAME. */
static int read_lines(pid_t pid, const char *name, void (*each)(const char *line, void *context),
		      void *context)
{
	char path[64], line[512];
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	FILE *file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (each)
			each(line, context);
	(void)fclose(file);
	return 0;
}

static void count_line(const char *line, void *count)
{
	if (strchr(line, '\n'))
		++*(int *)count;
}

int process_count_mappings(pid_t pid)
{
	int count = 0;
	int r = read_lines(pid, "maps", count_line, &count);
	return r < 0 ? r : count;
}

static void take_resident(const char *line, void *bytes)
{
	long long kib;
	if (sscanf(line, "VmRSS: %lld kB", &kib) == 1)
		*(int64_t *)bytes = kib * 1024;
}

int64_t process_resident_bytes(pid_t pid)
{
	int64_t bytes = 0;
	int r = read_lines(pid, "status", take_resident, &bytes);
	return r < 0 ? r : bytes;
}

static void take_state(const char *line, void *state)
{
	(void)sscanf(line, "State: %c", (char *)state);
}

bool process_exists(pid_t pid)
{
	char state = 0;
	return read_lines(pid, "status", take_state, &state) == 0 && state != 'Z' && state != 'X';
}

/* The name may contain any character and ends at the last parenthesis. 20 words follow it. */
static void take_start(const char *line, void *start)
{
	const char *at = strrchr(line, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		*(uint64_t *)start = strtoull(at + 1, NULL, 10);
}

uint64_t process_start(pid_t pid)
{
	uint64_t start = 0;
	return read_lines(pid, "stat", take_start, &start) == 0 ? start : 0;
}

static void take_parent(const char *line, void *parent)
{
	(void)sscanf(line, "PPid: %d", (int *)parent);
}

int process_children(pid_t parent, pid_t *pids_out, int capacity)
{
	DIR *folder = opendir("/proc");
	if (!folder)
		return -errno;
	int count = 0;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		int pid = atoi(entry->d_name), of = 0;
		if (pid <= 0 || read_lines(pid, "status", take_parent, &of) < 0 || of != parent)
			continue;
		if (count < capacity)
			pids_out[count] = pid;
		count++;
	}
	(void)closedir(folder);
	return count;
}
