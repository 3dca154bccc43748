/*
 * Finds a service: the system's, or this user's; if there is none, starts this user's.
 *
 * Starts it without races. The process that holds the lock file first checks again whether a
 * service answers. Only then it removes a socket without a listener, binds its own and starts
 * sycld. Descriptor 3 is the listening socket. Descriptor 4 is the lock, which sycld holds until it
 * ends. All other processes connect at once. Their connections wait in the new socket's queue until
 * sycld accepts them.
 */
#include "connection/connection.h"

#include "clock.h"
#include "base/paths.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#define LISTEN_BACKLOG 128
#define RETRY_NS_FIRST 1000000ull
#define RETRY_NS_MAX   50000000ull
#define FIRST_FREE_FD  10 /* above every number of a descriptor in the child */

extern char **environ;

/* As packet_socket_connect, but waits only until the deadline for a service whose queue is full:
 * -EAGAIN then. */
static int connect_until(const char *path, uint64_t deadline_ns, int *socket_out)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (!*path) /* an empty path would name an abstract socket, which no folder protects */
		return -EINVAL;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	uint64_t now = clock_now_ns();
	uint64_t rest_us = deadline_ns > now ? (deadline_ns - now) / 1000 : 0;
	struct timeval limit = {.tv_sec = (time_t)(rest_us / 1000000),
				.tv_usec = (suseconds_t)(rest_us % 1000000)};
	if (rest_us == 0)
		limit.tv_usec = 1; /* 0 would be without end */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	while (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	*socket_out = take_fd(&fd);
	return 0;
}

/* 0; -ECONNREFUSED or -ENOENT if no process listens; -EACCES if the server's user is neither root
 * nor this user. */
static int connect_trusted(const char *path, uint64_t deadline_ns, int *socket_out)
{
	CLEANUP(close_fd) int fd = -1;
	int r = connect_until(path, deadline_ns, &fd);
	if (r < 0)
		return r;
	pid_t pid = 0;
	uid_t uid = 0;
	gid_t gid = 0;
	r = packet_socket_peer(fd, &pid, &uid, &gid);
	if (r < 0)
		return r;
	if (uid != 0 && uid != geteuid())
		return -EACCES;
	*socket_out = take_fd(&fd);
	return 0;
}

sycl_result connection_connect_path(const char *path, uint64_t deadline_ns, int *socket_out)
{
	int r = connect_trusted(path, deadline_ns, socket_out);
	if (r == 0)
		return SYCL_SUCCESS;
	if (r == -EAGAIN)
		return error_set(SYCL_ERROR_TIMEOUT, "the service at %.200s accepts no connection",
				 path);
	if (r == -EACCES)
		return error_set(
			SYCL_ERROR_CONNECTION_LOST,
			"%.200s: no permission, or its server is neither root nor this user", path);
	char buffer[128];
	return error_set(SYCL_ERROR_CONNECTION_LOST, "no service answers at %.200s: %s", path,
			 strerror_r(-r, buffer, sizeof(buffer)));
}

static int service_spawn(const char *program, char *const arguments[], int listener, int lock)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	/* The child inherits nothing of the program: no terminal, pipes, descriptors or signals. */
	for (int fd = 0; fd <= 2 && !r; fd++)
		r = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&actions, listener, 3);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&actions, lock, 4);
	if (!r)
		r = posix_spawn_file_actions_addclosefrom_np(&actions, 5);
	sigset_t none, all;
	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGKILL);
	(void)sigdelset(&all, SIGSTOP);
	if (!r)
		r = posix_spawnattr_setflags(&attributes,
					     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (!r)
		r = posix_spawnattr_setsigmask(&attributes, &none);
	if (!r)
		r = posix_spawnattr_setsigdefault(&attributes, &all);
	pid_t child = 0;
	if (!r)
		r = posix_spawn(&child, program, &actions, &attributes, arguments, environ);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (r)
		return -r;
	/* The service forks at once, and the first process ends. A program that reaps all its
	 * children may have reaped this one already. */
	int status = 0;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return 0;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

/* Copies a descriptor to a number that the child does not use. */
static int descriptor_move_up(int *fd)
{
	int copy = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	if (copy < 0)
		return -errno;
	close_fd(fd);
	*fd = copy;
	return 0;
}

/* The lock is held, so no other process runs or starts a service of this folder. */
static sycl_result start_service(const char *directory, const char *path, int *lock)
{
	char program[PATH_BYTES];
	if (path_program("sycld", program) < 0)
		return error_set(SYCL_ERROR_CONNECTION_LOST,
				 "no service runs, and sycld was not found to start one");
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set_errno(-errno, "a stale socket cannot be removed");
	CLEANUP(close_fd) int listener = -1;
	int r = packet_socket_listen(path, 0600, LISTEN_BACKLOG, &listener);
	if (r < 0)
		return error_set_errno(r, "the service's socket cannot be made");
	r = descriptor_move_up(&listener);
	if (r == 0)
		r = descriptor_move_up(lock);
	if (r == 0) {
		char *arguments[] = {program,       "--user", "--runtime-dir", (char *)directory,
				     "--listen-fd", "3",      "--detach",      "--exit-idle",
				     "60",          NULL};
		r = service_spawn(program, arguments, listener, *lock);
	}
	if (r < 0) {
		(void)unlink(path);
		if (r == -ECHILD)
			return error_set(SYCL_ERROR_CONNECTION_LOST,
					 "%.200s was started and ended at once", program);
		return error_set_errno(r, "sycld cannot be started");
	}
	return SYCL_SUCCESS;
}

/* One step: connected (socket set), not connected yet, or a failure. */
static sycl_result find_or_start(const char *directory, const char *path, uint64_t deadline_ns,
				 int *socket_out)
{
	int r = connect_trusted(path, deadline_ns, socket_out);
	if (r == 0 || r == -EAGAIN)
		return SYCL_SUCCESS; /* or if the time is over */
	if (r == -EACCES)
		return error_set(SYCL_ERROR_CONNECTION_LOST,
				 "the server at %.200s is neither root nor this user", path);
	if (getauxval(AT_SECURE))
		return error_set(SYCL_ERROR_CONNECTION_LOST,
				 "no service runs, and a privileged program does not start one");
	char lock_path[PATH_BYTES];
	if (snprintf(lock_path, sizeof(lock_path), "%.*s/lock", PATH_BYTES - 8, directory) < 0)
		return error_set(SYCL_ERROR_RUNTIME, "the name of the lock cannot be formed");
	CLEANUP(close_fd)
	int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0)
		return error_set_errno(-errno, "the lock of the runtime folder cannot be opened");
	/* Another process starts the service, or the service has just started. */
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return SYCL_SUCCESS;
	/* The service may have started and answered between the first attempt and the lock, so this
	 * tries again. */
	if (connect_trusted(path, deadline_ns, socket_out) == 0)
		return SYCL_SUCCESS;
	return start_service(directory, path, &lock);
}

static sycl_result user_service(uint64_t deadline_ns, int *socket_out, char **endpoint_out)
{
	char directory[PATH_BYTES], path[PATH_BYTES + 32];
	int r = path_user_runtime(1, directory);
	if (r < 0) {
		char buffer[128];
		return error_set(
			SYCL_ERROR_CONNECTION_LOST,
			"no service runs, and %.160s is no private folder of this user: %s; XDG_RUNTIME_DIR or HOME can name another",
			directory, strerror_r(-r, buffer, sizeof(buffer)));
	}
	(void)snprintf(path, sizeof(path), "%s/" SESSION_SOCKET_NAME, directory);
	uint64_t pause = RETRY_NS_FIRST;
	for (;;) {
		CLEANUP(close_fd) int socket = -1;
		sycl_result result = find_or_start(directory, path, deadline_ns, &socket);
		if (result)
			return result;
		if (socket >= 0) {
			if (asprintf(endpoint_out, "unix:%s", path) < 0) {
				*endpoint_out = NULL;
				return error_set(SYCL_ERROR_MEMORY_ALLOCATION,
						 "no memory for a connection");
			}
			*socket_out = take_fd(&socket);
			return SYCL_SUCCESS;
		}
		if (clock_now_ns() >= deadline_ns)
			return error_set(SYCL_ERROR_TIMEOUT,
					 "the service at %.200s did not start in time", path);
		struct timespec rest = {.tv_sec = 0, .tv_nsec = (long)pause};
		(void)ppoll(NULL, 0, &rest, NULL);
		pause = pause * 2 < RETRY_NS_MAX ? pause * 2 : RETRY_NS_MAX;
	}
}

sycl_result connection_find_service(uint64_t deadline_ns, int *socket_out, char **endpoint_out)
{
	static const char system_path[] = SYSTEM_RUNTIME_DIRECTORY "/" SESSION_SOCKET_NAME;
	CLEANUP(close_fd) int socket = -1;
	if (connect_trusted(system_path, deadline_ns, &socket) == 0) {
		if (asprintf(endpoint_out, "unix:%s", system_path) < 0) {
			*endpoint_out = NULL;
			return error_set(SYCL_ERROR_MEMORY_ALLOCATION,
					 "no memory for a connection");
		}
		*socket_out = take_fd(&socket);
		return SYCL_SUCCESS;
	}
	return user_service(deadline_ns, socket_out, endpoint_out);
}
