/* How the service's socket appears. */
#include "base/listener.h"

#include "base/log.h"
#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/sycld-listener-XXXXXX";
static char path[sizeof(folder) + sizeof("/session.sock")];
static unsigned steps; /* calls before which nobody may find the socket */
static bool listen_fails;

int __wrap_chmod(const char *of, mode_t mode);
int __real_chmod(const char *of, mode_t mode);
int __wrap_listen(int fd, int backlog);
int __real_listen(int fd, int backlog);

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	(void)level;
	(void)topic;
	(void)format;
}

static bool is_there(void)
{
	struct stat facts;
	return lstat(path, &facts) == 0;
}

int __wrap_chmod(const char *of, mode_t mode)
{
	steps++;
	cr_expect(not(is_there()), "others find it, and may not connect");
	return __real_chmod(of, mode);
}

int __wrap_listen(int fd, int backlog)
{
	steps++;
	cr_expect(not(is_there()), "others find it, and it accepts nothing");
	errno = EADDRINUSE;
	return listen_fails ? -1 : __real_listen(fd, backlog);
}

static bool turns_are_long;
static unsigned accepted;

uint64_t __real_uv_now(const uv_loop_t *loop);
uint64_t __wrap_uv_now(const uv_loop_t *loop);

uint64_t __wrap_uv_now(const uv_loop_t *loop)
{
	(void)loop;
	return turns_are_long ? 0 : UINT64_MAX / 2;
}

static void on_connected(void *context, int socket)
{
	(void)context;
	accepted++;
	(void)close(socket);
}

static void open_listener(void)
{
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	(void)snprintf(path, sizeof(path), "%s/session.sock", folder);
	(void)umask(077);
}

static void close_listener(void)
{
	(void)unlink(path);
	cr_expect(zero(int, rmdir(folder)), "something else is in the folder");
}

TestSuite(listener, .init = open_listener, .fini = close_listener, .timeout = 20);

static int connect_to(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

Test(listener, a_socket_is_found_when_it_accepts_connections_of_all_for_whom_it_is)
{
	struct listener listener = {.fd = -1};
	struct stat facts;
	for (int i = 0; i < 2; i++) { /* the second one replaces what a dead service left */
		cr_assert(zero(int, listener_bind(path, SOCK_SEQPACKET, 0666, &listener)));
		cr_expect(zero(int, connect_to()));
		cr_assert(zero(int, stat(path, &facts)));
		cr_expect(eq(uint, facts.st_mode & 0777, 0666u));
		close_fd(&listener.fd);
	}
	cr_expect(eq(uint, steps, 4u));
}

/* A user with many uids can start an engine with each connection. */
Test(listener, a_turn_of_the_loop_that_takes_long_accepts_one_connection)
{
	enum { CLIENTS = 5 };
	struct listener listener = {.fd = -1};
	uv_loop_t loop;
	cr_assert(zero(int, uv_loop_init(&loop)));
	cr_assert(zero(int, listener_bind(path, SOCK_SEQPACKET, 0666, &listener)));
	listener.connected = on_connected;
	cr_assert(zero(int, listener_start(&listener, &loop)));
	for (int i = 0; i < 2 * CLIENTS; i++)
		cr_assert(zero(int, connect_to()));
	turns_are_long = true;
	for (unsigned i = 1; i <= CLIENTS; i++) {
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		cr_expect(eq(uint, accepted, i));
	}
	turns_are_long = false;
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	cr_expect(eq(uint, accepted, 2u * CLIENTS));
	listener_close(&listener);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
}

Test(listener, a_socket_that_cannot_listen_leaves_nothing)
{
	struct listener listener = {.fd = -1};
	listen_fails = true;
	cr_expect(eq(int, listener_bind(path, SOCK_SEQPACKET, 0666, &listener), -EADDRINUSE));
	cr_expect(not(is_there()));
	cr_expect(eq(int, listener.fd, -1));
}

Test(listener, names_of_all_lengths_are_bound_or_refused)
{
	struct listener listener = {.fd = -1};
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 2];
	for (size_t length = sizeof(name) - 3; length < sizeof(name); length++) {
		memset(name, 'x', sizeof(name));
		memcpy(name, path, strlen(folder) + 1);
		name[length] = '\0';
		bool fits = length < sizeof(((struct sockaddr_un *)NULL)->sun_path);
		cr_expect(eq(int, listener_bind(name, SOCK_SEQPACKET, 0600, &listener),
			     fits ? 0 : -ENAMETOOLONG));
		close_fd(&listener.fd);
		(void)unlink(name);
	}
}
