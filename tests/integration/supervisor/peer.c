/* The peer of a connection, according to the kernel: its process, user and control group. There is
 * none if the process has ended meanwhile. */
#include "base/peer.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_MOST = 512 };

/* A group may have any name. */
#define HOSTILE_NAME "sycld-test-\033[31m\xff"
#define SHOWN_NAME   "sycld-test-?[31m?"

static char group_path[PATH_MOST * 2]; /* a group that is to be removed; "": none */

static void remove_group(void)
{
	if (group_path[0])
		(void)rmdir(group_path);
}

TestSuite(peer, .fini = remove_group, .timeout = 20);

static int listening(struct sockaddr_un *address_out, socklen_t *size_out)
{
	*address_out = (struct sockaddr_un){.sun_family = AF_UNIX};
	*size_out = sizeof(*address_out);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	/* A name that the kernel chooses. */
	cr_assert(eq(int, bind(fd, (struct sockaddr *)address_out, sizeof(sa_family_t)), 0));
	cr_assert(eq(int, getsockname(fd, (struct sockaddr *)address_out, size_out), 0));
	cr_assert(eq(int, listen(fd, 1), 0));
	return fd;
}

/* Starts a process that enters that group ("": stays) and connects. It stays until it is killed, or
 * ends at once. Returns its pid. */
static pid_t begin_client(const struct sockaddr_un *address, socklen_t size, const char *group,
			  bool stays)
{
	char path[PATH_MOST * 3];
	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	int procs = *group ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	if (*group && write(procs, "0", 1) != 1)
		_exit(2);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connect(fd, (const struct sockaddr *)address, size) < 0)
		_exit(3);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
	while (stays)
		(void)pause();
	_exit(0);
}

static void end_client(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
}

/* This process' own group; "": there is no version 2. */
static void own_group(char path[PATH_MOST])
{
	char line[PATH_MOST];
	FILE *file = fopen("/proc/self/cgroup", "re");
	path[0] = '\0';
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "0::", 3))
			(void)snprintf(path, PATH_MOST, "%.*s", (int)strcspn(line + 3, "\n"),
				       line + 3);
	if (file)
		(void)fclose(file);
}

/* Makes a group inside of this process' own. False: that is not possible here. */
static bool make_group(const char *own)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		char procs[PATH_MOST * 3];
		(void)snprintf(group_path, sizeof(group_path), "%s%s/cgroup.procs", mounts[i],
			       strcmp(own, "/") ? own : "");
		if (access(group_path, W_OK) < 0)
			continue;
		(void)snprintf(group_path, sizeof(group_path), "%s%s/" HOSTILE_NAME, mounts[i],
			       strcmp(own, "/") ? own : "");
		if (mkdir(group_path, 0700) < 0 && errno != EEXIST)
			continue;
		(void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", group_path);
		if (access(procs, W_OK) == 0)
			return true;
		(void)rmdir(group_path);
	}
	group_path[0] = '\0';
	return false;
}

Test(peer, a_process_that_is_there_is_named)
{
	struct sockaddr_un address;
	socklen_t size;
	char own[PATH_MOST], shown[PATH_MOST + sizeof(SHOWN_NAME) + 1];
	own_group(own);
	bool has_group = *own && make_group(own);
	CLEANUP(close_fd) int listener = listening(&address, &size);
	pid_t pid = begin_client(&address, size, has_group ? group_path : "", true);
	CLEANUP(close_fd) int connection = accept(listener, NULL, NULL);
	struct peer peer = {.pidfd = -1};
	cr_assert(eq(int, peer_identify(connection, &peer), 0));
	cr_expect(eq(int, peer.pid, pid));
	cr_expect(eq(uint, peer.uid, geteuid()));
	cr_expect(ge(int, peer.pidfd, 0));
	(void)snprintf(shown, sizeof(shown), "%s%s", has_group && !strcmp(own, "/") ? "" : own,
		       has_group ? "/" SHOWN_NAME : "");
	if (strlen(shown) < CGROUP_BYTES)
		cr_expect(eq(str, peer.cgroup, shown));
	close_fd(&peer.pidfd);
	end_client(pid);
}

/* A file that is read by its number could belong to another process by now. */
Test(peer, one_that_has_gone_is_nobody)
{
	struct sockaddr_un address;
	socklen_t size;
	CLEANUP(close_fd) int listener = listening(&address, &size);
	pid_t pid = begin_client(&address, size, "", false);
	CLEANUP(close_fd) int connection = accept(listener, NULL, NULL);
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
	struct peer peer = {.pidfd = -1};
	cr_assert(eq(int, peer_identify(connection, &peer), -ESRCH));
	cr_assert(eq(int, peer.pidfd, -1));
	cr_assert(eq(str, peer.cgroup, (char *)(uintptr_t) ""));
}

/* It is not reaped yet. It still has its number, but files of that number no longer describe it. */
Test(peer, one_that_is_ending_is_nobody)
{
	struct sockaddr_un address;
	socklen_t size;
	siginfo_t info;
	CLEANUP(close_fd) int listener = listening(&address, &size);
	pid_t pid = begin_client(&address, size, "", false);
	CLEANUP(close_fd) int connection = accept(listener, NULL, NULL);
	cr_assert(eq(int, waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0));
	struct peer peer = {.pidfd = -1};
	cr_assert(eq(int, peer_identify(connection, &peer), -ESRCH));
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
}

static void ignore_signal(int number)
{
	(void)number;
}

/* The service gets a signal whenever an engine ends, also while a client connects. The timer fires
 * in every few rounds, and some of its signals arrive while the kernel looks at the process. */
Test(peer, signals_do_not_end_a_process_that_is_there)
{
	enum { ROUNDS = 20000 };
	const struct itimerval often = {{0, 200}, {0, 200}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
	struct sockaddr_un address;
	socklen_t size;
	int failed = 0;
	CLEANUP(close_fd) int listener = listening(&address, &size);
	pid_t pid = begin_client(&address, size, "", true);
	CLEANUP(close_fd) int connection = accept(listener, NULL, NULL);
	cr_assert(eq(int, sigaction(SIGALRM, &action, NULL), 0));
	cr_assert(eq(int, setitimer(ITIMER_REAL, &often, NULL), 0));
	for (int i = 0; i < ROUNDS; i++) {
		struct peer peer = {.pidfd = -1};
		failed += peer_identify(connection, &peer) != 0;
		close_fd(&peer.pidfd);
	}
	cr_assert(eq(int, setitimer(ITIMER_REAL, &never, NULL), 0));
	end_client(pid);
	cr_expect(eq(int, failed, 0));
}
