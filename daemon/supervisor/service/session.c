#include "service/session.h"

#include "cleanup.h"
#include "clock.h"
#include "base/configuration.h"
#include "base/foreign_socket.h"
#include "poll_now.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define SECOND_NS 1000000000ull

void session_figures_fini(struct session_figures *claim)
{
	free(claim->devices);
	*claim = (struct session_figures){.request = 0};
}

struct session *session_new(uint64_t id, int socket, const struct peer *peer)
{
	struct session *session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	session->id = id;
	session->socket = socket;
	session->peer = *peer;
	session->since_ns = clock_now_ns();
	session->since_unix_seconds = (uint64_t)time(NULL);
	return session;
}

void session_back_date(struct session *session, uint64_t since_ns)
{
	if (since_ns >= session->since_ns)
		return;
	session->since_unix_seconds -= (session->since_ns - since_ns) / SECOND_NS;
	session->since_ns = since_ns;
}

bool session_is_untouched(const struct session *session)
{
	char byte;
	return session->socket >= 0 &&
	       recv(session->socket, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool session_has_sent_nothing(const struct session *session)
{
	struct pollfd client = {.fd = session->socket, .events = POLLIN | POLLRDHUP};
	return poll_now(&client, 1) == 0;
}

bool session_has_hung_up(const struct session *session)
{
	struct pollfd ends[] = {{.fd = session->socket, .events = POLLRDHUP},
				{.fd = session->peer.pidfd, .events = POLLIN}};
	return poll_now(ends, 2) > 0;
}

void session_close_descriptors(struct session *session)
{
	foreign_socket_close(&session->socket);
	close_fd(&session->peer.pidfd);
}

int session_keep_limit(struct session *session, unsigned index, uint64_t value,
		       struct order_origin by)
{
	if (!session->limits && value == 0)
		return 0;
	if (!session->limits)
		session->limits = calloc(CONFIGURATION_LIMITS, sizeof(*session->limits));
	if (!session->limits)
		return -ENOMEM;
	session->limits[index] = (struct session_limit){value, by};
	return 0;
}

void session_drop_limits(struct session *session)
{
	free(session->limits);
	session->limits = NULL;
}

struct session *session_free(struct session *session)
{
	if (!session)
		return NULL;
	session_close_descriptors(session);
	session_figures_fini(&session->figures);
	session_drop_limits(session);
	free(session);
	return NULL;
}
