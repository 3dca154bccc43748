/* Additional actions of a build: lines "#build WORD [VALUE]" of the source, for tests of the build
 * service. */
#include "fake_internal.h"

#include "cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define EAT_BYTES (1u << 20)

static void build_script_use_up_memory(void)
{
	char *piece;

	/* This is linked, so that the compiler keeps memory that is never read. */
	static void *last;
	while ((piece = malloc(EAT_BYTES))) {
		memset(piece, 1, EAT_BYTES);
		memcpy(piece, &last, sizeof(last));
		last = piece;
	}
	(void)fputs("out of memory\n", stderr);
	abort();
}

static void build_script_touch(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		(void)!write(fd, "x", 1);
}

static void build_script_keep(const char *directory, const char *name, char **log_out)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (!directory || asprintf(&path, "%s/%s", directory, name) < 0) {
		path = NULL;
		return;
	}
	/* It stays empty: with large pages, a byte in each of thousands takes gigabytes. */
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		free(*log_out);
		*log_out = strdup("the file cannot be made");
	}
}

/* Blocks until another process opens the other end. */
static void wait_for_fifo(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	(void)fd;
}

static bool is_warm;

int fake_warm(struct backend *backend, uint32_t device, struct backend_fault *fault_out)
{
	(void)backend;
	(void)device;
	(void)fault_out;
	is_warm = true;
	return 0;
}

/* In a fork of a warm process the parent is that process, otherwise the helper. */
static void build_script_tell_parent(char **log_out)
{
	char *log = NULL;
	if (asprintf(&log, "%s %d", is_warm ? "warm" : "cold", (int)getppid()) < 0)
		return;
	free(*log_out);
	*log_out = log;
}

static void build_script_run_word(const char *word, const char *value, const char *cache_directory,
				  char **log_out)
{
	if (strcmp(word, "log") == 0) {
		free(*log_out);
		*log_out = strdup(value);
	} else if (strcmp(word, "print") == 0) {
		(void)fputs(value, stderr);
	} else if (strcmp(word, "crash") == 0) {
		(void)raise(SIGSEGV);
	} else if (strcmp(word, "hang") == 0) {
		for (;;)
			(void)pause();
	} else if (strcmp(word, "fork") == 0) {
		/* This stands for a tool that the compiler starts. It holds the file open until it
		 * is ended, too. */
		int fd = open(value, O_WRONLY | O_CLOEXEC);
		if (fork() == 0)
			for (;;)
				(void)pause();
		close_fd(&fd);
	} else if (strcmp(word, "eat") == 0) {
		build_script_use_up_memory();
	} else if (strcmp(word, "exit") == 0) {
		_exit((int)strtol(value, NULL, 10));
	} else if (strcmp(word, "touch") == 0) {
		build_script_touch(value);
	} else if (strcmp(word, "keep") == 0) {
		build_script_keep(cache_directory, value, log_out);
	} else if (strcmp(word, "parent") == 0) {
		build_script_tell_parent(log_out);
	} else if (strcmp(word, "kill") == 0) {
		(void)kill((pid_t)strtol(value, NULL, 10), SIGKILL);
	} else if (strcmp(word, "wait") == 0) {
		wait_for_fifo(value);
	}
}

void fake_build_script(const char *source, size_t source_bytes, const char *cache_directory,
		       char **log_out)
{
	static const char prefix[] = "#build ";
	CLEANUP(free_pointer) char *text = strndup(source, source_bytes);
	char *rest = text;

	for (char *line; (line = strsep(&rest, "\n"));) {
		if (strncmp(line, prefix, sizeof(prefix) - 1) != 0)
			continue;
		char *value = line + sizeof(prefix) - 1;
		const char *word = strsep(&value, " ");
		build_script_run_word(word, value ? value : "", cache_directory, log_out);
	}
}
