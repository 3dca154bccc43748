#include "fake_processes.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const no_words[] = {NULL};

static int end_child(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	return waitpid((pid_t)pid, NULL, 0) == (pid_t)pid ? 0 : errno;
}

static int try_fork(void)
{
	return end_child(fork());
}

/* As fork, but without the C library and its handlers for fork. */
static int try_clone(void)
{
	return end_child(syscall(SYS_clone, (unsigned long)SIGCHLD, 0, 0, 0, 0));
}

/* The child shares the memory but is another process, so a list of threads would not contain it. */
static int try_vfork(void)
{
#ifdef SYS_vfork
	return end_child(syscall(SYS_vfork));
#else
	return EPERM;
#endif
}

/* Executes a file that does not exist. If execve is allowed, it fails with another errno and this
 * process goes on. */
static int try_execve(void)
{
	return execve("/proc/no-such-program", no_words, no_words) < 0 ? errno : 0;
}

static int try_execveat(void)
{
	return syscall(SYS_execveat, -1, "no-such-program", no_words, no_words, 0) < 0 ? errno : 0;
}

static int try_spawn(void)
{
	char name[] = "true";
	char *const words[] = {name, NULL};
	pid_t pid;
	int error = posix_spawn(&pid, "/bin/true", NULL, NULL, words, no_words);
	return error ? error : end_child(pid);
}

static void *do_nothing(void *unused)
{
	return unused;
}

static int try_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, do_nothing, NULL);
	return error ? error : pthread_join(thread, NULL);
}

/* Makes a folder beside that of MPS, where the driver looks for its server. */
static int try_mps(void)
{
	char path[PATH_MAX];
	const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
	(void)snprintf(path, sizeof(path), "%s.%ld", folder ? folder : "/tmp/nvidia-mps",
		       (long)getpid());
	return mkdir(path, 0700) < 0 || rmdir(path) < 0 ? errno : 0;
}

int fake_processes_try(const char *what)
{
	static const struct {
		const char *what;
		int (*try)(void);
	} ways[] = {
		{"fork", try_fork},     {"clone", try_clone},       {"vfork", try_vfork},
		{"execve", try_execve}, {"execveat", try_execveat}, {"posix_spawn", try_spawn},
		{"thread", try_thread}, {"mps", try_mps},
	};
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].what, what) == 0)
			return ways[i].try();
	return EINVAL;
}

int fake_processes_refuse_filters(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog whole = {.len = sizeof(code) / sizeof(*code), .filter = code};
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole) == 0
		       ? 0
		       : -EPERM;
}
