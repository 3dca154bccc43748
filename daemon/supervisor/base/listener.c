#include "base/listener.h"

#include "cleanup.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "base/turn.h"

#include <systemd/sd-daemon.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096, ACCEPTS_PER_TURN = 64, PAUSE_MS = 100 };

static int listener_prepare_socket(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	return 0;
}

/* Removes the socket that a dead service may have left. */
static int listener_remove_stale_socket(const char *path)
{
	struct stat facts;
	if (lstat(path, &facts) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(facts.st_mode))
		return -EEXIST;
	return unlink(path) < 0 ? -errno : 0;
}

/* The umask excludes other users until chmod has set the mode. */
static int listener_bind_socket(int fd, const struct sockaddr_un *address, mode_t mode)
{
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -errno;
	return chmod(address->sun_path, mode) < 0 || listen(fd, BACKLOG) < 0 ? -errno : 0;
}

/*
 * The socket gets its name when it accepts connections of all for whom it is. A client that
 * connects before gets the error for a service that does not run, and not one about its rights.
 */
static int listener_bind_path(const char *path, int type, mode_t mode, int *fd_out)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(path);
	if (length == 0 || length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	/* The kernel's lists keep this name, so it has the whole one, if there is room for more. */
	memcpy(address.sun_path, path, length + 1);
	address.sun_path[length + 1 < sizeof(address.sun_path) ? length : length - 1] = '~';
	int r = listener_remove_stale_socket(path);
	if (r == 0)
		r = listener_remove_stale_socket(address.sun_path);
	if (r < 0)
		return r;
	CLEANUP(close_fd) int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = listener_bind_socket(fd, &address, mode);
	if (r == 0 && rename(address.sun_path, path) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlink(address.sun_path);
		return r;
	}
	*fd_out = take_fd(&fd);
	return 0;
}

int listener_bind(const char *path, int type, mode_t mode, struct listener *listener_out)
{
	struct listener listener = {
		.fd = -1,
		.reserve_fd = -1,
		.origin = LISTENER_BOUND,
		.path = path,
		.type = type,
		.mode = mode,
	};
	int r = listener_bind_path(path, type, mode, &listener.fd);
	if (r == 0)
		*listener_out = listener;
	return r;
}

static int listener_use_passed_socket(int fd, struct listener *listener, char *message_out,
				      size_t message_bytes)
{
	if (sd_is_socket(fd, AF_UNIX, SOCK_SEQPACKET, 1) <= 0) {
		(void)snprintf(
			message_out, message_bytes,
			"descriptor %d is no listening AF_UNIX socket of type SOCK_SEQPACKET", fd);
		return -EINVAL;
	}
	listener->fd = fd;
	int r = listener_prepare_socket(fd);
	if (r < 0)
		(void)snprintf(message_out, message_bytes, "descriptor %d: %s", fd, strerror(-r));
	return r;
}

int listener_acquire(int passed_by_manager, int listen_fd, const char *path, mode_t mode,
		     struct listener *listener_out, char *message_out, size_t message_bytes)
{
	struct listener listener = {
		.fd = -1,
		.reserve_fd = -1,
		.path = path,
		.type = SOCK_SEQPACKET,
		.mode = mode,
	};
	int r = 0;
	if (passed_by_manager > 1) {
		(void)snprintf(message_out, message_bytes,
			       "the service manager passed %d sockets; one is wanted",
			       passed_by_manager);
		return -EINVAL;
	}
	if (passed_by_manager == 1) {
		listener.origin = LISTENER_ACTIVATED;
		r = listener_use_passed_socket(SD_LISTEN_FDS_START, &listener, message_out,
					       message_bytes);
	} else if (listen_fd >= 0) {
		listener.origin = LISTENER_PASSED;
		r = listener_use_passed_socket(listen_fd, &listener, message_out, message_bytes);
	} else {
		r = listener_bind(path, SOCK_SEQPACKET, mode, &listener);
		if (r < 0)
			(void)snprintf(message_out, message_bytes, "cannot listen at %s: %s", path,
				       strerror(-r));
	}
	if (r == 0)
		*listener_out = listener;
	return r;
}

static void on_listener_readable(uv_poll_t *poll, int status, int events);

static void on_listener_poll_closed(uv_handle_t *handle)
{
	free(handle);
}

static void listener_close_poll(struct listener *listener)
{
	if (listener->poll)
		uv_close((uv_handle_t *)listener->poll, on_listener_poll_closed);
	listener->poll = NULL;
}

static int listener_open_poll(struct listener *listener)
{
	uv_poll_t *poll = calloc(1, sizeof(*poll));
	if (!poll)
		return -ENOMEM;
	int r = uv_poll_init(listener->loop, poll, listener->fd);
	if (r < 0) {
		free(poll);
		return r;
	}
	poll->data = listener;
	listener->poll = poll;
	return uv_poll_start(poll, UV_READABLE, on_listener_readable);
}

static void on_accept_pause_over(uv_timer_t *timer)
{
	struct listener *listener = timer->data;
	if (listener->poll)
		(void)uv_poll_start(listener->poll, UV_READABLE, on_listener_readable);
}

/*
 * Stops polling, because the socket stays readable while connections wait, and the loop would spin.
 */
static void listener_pause_accepting(struct listener *listener)
{
	if (listener->poll)
		(void)uv_poll_stop(listener->poll);
	(void)uv_timer_start(&listener->pause, on_accept_pause_over, PAUSE_MS, 0);
}

/* Called when no descriptors are left. One is kept in reserve, so that the client gets a refusal
 * instead of waiting. */
static void listener_accept_starved(struct listener *listener)
{
	log_error("listener", "no descriptors left: connections are refused");
	if (listener->reserve_fd >= 0) {
		close_fd(&listener->reserve_fd);
		int socket = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (socket >= 0)
			listener->starved(listener->context, socket);
	}
	listener->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	listener_pause_accepting(listener);
}

/* Accepts one connection. Returns true if there may be more. */
static bool listener_accept_one(struct listener *listener)
{
	int socket = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (socket >= 0) {
		listener->connected(listener->context, socket);
		return true;
	}
	switch (errno) {
	case EINTR:
	case ECONNABORTED:
		return true;
	case EAGAIN:
		return false;
	case EMFILE:
	case ENFILE:
		listener_accept_starved(listener);
		return false;
	default:
		log_error("listener", "cannot accept a connection: %s", strerror(errno));
		listener_pause_accepting(listener);
		return false;
	}
}

static void on_listener_readable(uv_poll_t *poll, int status, int events)
{
	(void)events;
	struct listener *listener = poll->data;
	if (status < 0) {
		log_error("listener", "cannot poll the socket: %s", uv_strerror(status));
		listener_pause_accepting(listener);
		return;
	}
	/* A connection may start an engine, which takes much longer than the rest. */
	for (int i = 0; i < ACCEPTS_PER_TURN && listener->poll == poll; i++)
		if (!listener_accept_one(listener) || turn_is_long(poll->loop))
			return;
}

int listener_start(struct listener *listener, uv_loop_t *loop)
{
	foreign_socket_refuse_descriptors(listener->fd);
	listener->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)uv_timer_init(loop, &listener->pause);
	listener->pause.data = listener;
	listener->loop = loop;
	return listener_open_poll(listener);
}

bool listener_retire(struct listener *listener)
{
	if (!listener->poll || listener->origin == LISTENER_ACTIVATED)
		return false;
	listener_close_poll(listener);
	listener_forget(listener);
	/* From here on connect() is refused, and accept() still returns connections that were made
	 * before. */
	(void)shutdown(listener->fd, SHUT_RD);
	bool some = false;
	for (;;) {
		int socket = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (socket < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (socket < 0)
			break;
		some = true;
		listener->connected(listener->context, socket);
	}
	foreign_socket_close(&listener->fd);
	return some;
}

int listener_reopen(struct listener *listener)
{
	int r = listener_bind_path(listener->path, listener->type, listener->mode, &listener->fd);
	if (r < 0)
		return r;
	foreign_socket_refuse_descriptors(listener->fd);
	return listener_open_poll(listener);
}

void listener_forget(const struct listener *listener)
{
	if (listener->origin != LISTENER_ACTIVATED)
		(void)unlink(listener->path);
}

void listener_close(struct listener *listener)
{
	listener_close_poll(listener);
	if (listener->loop)
		uv_close((uv_handle_t *)&listener->pause, NULL);
	listener->loop = NULL;
	foreign_socket_close(&listener->fd);
	close_fd(&listener->reserve_fd);
}
