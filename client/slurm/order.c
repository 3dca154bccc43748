#include "order.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS_MOST = 24, WORD_BYTES = 32, WHOLE = 100 };

static uint64_t now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Starts the program with its standard error in a pipe, whose reading end is returned. Its standard
 * output is dropped. A negative errno: it does not run. */
static int start_program(char *const *words, pid_t *pid_out)
{
	static char path[] = "PATH=/usr/bin:/bin";
	char *environment[] = {path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_init(&attributes);
	(void)posix_spawnattr_setsigdefault(&attributes, &all);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	int r = -posix_spawn(pid_out, words[0], &actions, &attributes, words, environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	(void)close(ends[1]);
	if (r < 0)
		(void)close(ends[0]);
	return r < 0 ? r : ends[0];
}

/* Reads until the program closes its end. False: the deadline has passed. */
static bool read_errors(int fd, unsigned deadline_ms, char text[CAUSE_BYTES])
{
	uint64_t until_ms = now_ms() + deadline_ms;
	size_t used = 0;
	text[0] = '\0';
	for (;;) {
		char rest[CAUSE_BYTES];
		uint64_t now = now_ms();
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		if (now >= until_ms || poll(&poll_fd, 1, (int)(until_ms - now)) == 0)
			return false;
		ssize_t count = read(fd, rest, sizeof(rest));
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		size_t taken = (size_t)count;
		if (taken > CAUSE_BYTES - 1 - used)
			taken = CAUSE_BYTES - 1 - used;
		memcpy(text + used, rest, taken);
		used += taken;
		text[used] = '\0';
	}
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/*
 * Runs syclctl. slurmstepd waits for any of its children, so it may reap this one: the status is
 * then unknown, and only a program that fails has written an error.
 */
static bool run_order(const struct settings *settings, char *const *words,
		      char cause_out[CAUSE_BYTES])
{
	pid_t pid = -1;
	int status = 0;
	int fd = start_program(words, &pid);
	if (fd < 0) {
		(void)snprintf(cause_out, CAUSE_BYTES, "%s: %s", words[0], strerror(-fd));
		return false;
	}
	bool in_time = read_errors(fd, settings->deadline_ms, cause_out);
	(void)close(fd);
	if (!in_time) {
		(void)kill(pid, SIGKILL);
		(void)snprintf(cause_out, CAUSE_BYTES, "the service does not answer within %u ms",
			       settings->deadline_ms);
	}
	pid_t ended;
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (!in_time)
		return false;
	if (ended == pid && status != 0 && !cause_out[0])
		(void)snprintf(cause_out, CAUSE_BYTES, "%s failed", words[0]);
	return cause_out[0] == '\0';
}

/* Words of a command line. */
struct words {
	char *list[WORDS_MOST + 1];
	unsigned count;
};

static void add_word(struct words *words, const char *word)
{
	if (words->count < WORDS_MOST)
		words->list[words->count++] = (char *)(uintptr_t)word;
}

static void add_pair(struct words *words, const char *name, const char *value)
{
	add_word(words, name);
	add_word(words, value);
}

static void begin_words(struct words *words, const struct settings *settings, const char *act,
			const char *number)
{
	add_word(words, settings->syclctl);
	add_pair(words, "job", act);
	add_word(words, number);
	if (settings->runtime_dir[0])
		add_pair(words, "--runtime-dir", settings->runtime_dir);
}

bool order_begin(const struct settings *settings, const struct facts *facts,
		 const struct job_place *place, char cause_out[CAUSE_BYTES])
{
	char number[WORD_BYTES], uid[WORD_BYTES], share[WORD_BYTES], count[WORD_BYTES];
	struct words words = {.count = 0};
	unsigned part = facts->hundredths > WHOLE ? WHOLE : facts->hundredths;
	unsigned most = settings->most > part ? settings->most : part;
	if (facts->hundredths > WHOLE && facts->hundredths % WHOLE != 0) {
		(void)snprintf(cause_out, CAUSE_BYTES,
			       "--gres=sycl:%u is no fraction of a device and no number of whole "
			       "devices: at most 100, or 200, 300 ...",
			       facts->hundredths);
		return false;
	}
	(void)snprintf(number, sizeof(number), "%lu", (unsigned long)place->job);
	(void)snprintf(uid, sizeof(uid), "%lu", (unsigned long)place->uid);
	(void)snprintf(share, sizeof(share), "%u-%u", part, most);
	(void)snprintf(count, sizeof(count), "%u", (facts->hundredths + WHOLE - 1) / WHOLE);
	begin_words(&words, settings, "begin", number);
	add_pair(&words, "--uid", uid);
	add_pair(&words, "--cgroup", place->cgroup);
	if (facts->hundredths)
		add_pair(&words, "--share", share);
	if (facts->memory[0])
		add_pair(&words, "--memory", facts->memory);
	if (facts->class[0])
		add_pair(&words, "--class", facts->class);
	if (settings->devices[0])
		add_pair(&words, "--devices", settings->devices);
	if (settings->devices[0] && facts->hundredths)
		add_pair(&words, "--count", count);
	return run_order(settings, words.list, cause_out);
}

bool order_job(const struct settings *settings, const char *act, uint32_t job,
	       char cause_out[CAUSE_BYTES])
{
	char number[WORD_BYTES];
	struct words words = {.count = 0};
	(void)snprintf(number, sizeof(number), "%lu", (unsigned long)job);
	begin_words(&words, settings, act, number);
	return run_order(settings, words.list, cause_out);
}
