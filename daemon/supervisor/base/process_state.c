#include "base/process_state.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_standard_descriptors(void)
{
	for (;;) {
		int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (fd > STDERR_FILENO) {
			close_fd(&fd);
			return 0;
		}
		/* The new descriptor replaces a missing standard descriptor, so that no later
		 * descriptor gets its number. */
		if (fcntl(fd, F_SETFD, 0) < 0)
			return -errno;
	}
}

int process_state_reset(void)
{
	static const int signals[] = {SIGCHLD, SIGHUP,  SIGINT,  SIGTERM,
				      SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2};
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		(void)signal(signals[i], SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)umask(0077);

	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	return open_standard_descriptors();
}

void process_state_close_foreign(int keep)
{
	if (keep < 0) {
		(void)close_range(3, ~0u, 0);
		return;
	}
	if (keep > 3)
		(void)close_range(3, (unsigned)keep - 1, 0);
	(void)close_range((unsigned)keep + 2, ~0u, 0);
}

int process_state_detach(int log_fd)
{
	for (int round = 0; round < 2; round++) {
		pid_t pid = fork();
		if (pid < 0)
			return -errno;
		if (pid > 0)
			_exit(0);
		if (round == 0 && setsid() < 0)
			return -errno;
	}
	CLEANUP(close_fd) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return -errno;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0 ||
	    dup2(log_fd, STDERR_FILENO) < 0)
		return -errno;
	return chdir("/") < 0 ? -errno : 0;
}
