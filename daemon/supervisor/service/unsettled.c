#include "service/unsettled.h"

#include "cleanup.h"
#include "clock.h"
#include "base/refusal.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	LEAST_OF_ONE = 256, /* sessions of one tenant, in any case */
	LEAST_OF_ALL = 512,
	/* Sessions of one tenant may use the service's descriptors divided by this. */
	DESCRIPTORS_EACH = 2,
	PART_OF_ONE =
		8, /* sessions of one tenant may use the service's descriptors divided by this, */
	PART_LEFT = 4,   /* and a part of the descriptors is left for others, if they are few */
	PART_OF_ALL = 2, /* those of all tenants may use the descriptors divided by this */
	ENDED_PER_TURN = 64,
	LOOK_MS = 1000,
};

/*
 * If an engine takes long to start, or was lost with a device, all sessions of its tenant may
 * arrive at the same time. They should wait rather than be refused. But one user must not take the
 * descriptors that connections of others need. All users together must not take those that engines
 * and operators need.
 */
static unsigned unsettled_descriptor_limit(unsigned part, unsigned least)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return least;
	rlim_t all = files.rlim_cur / DESCRIPTORS_EACH;
	rlim_t room = all / part, most = all - all / PART_LEFT;
	if (room < least)
		room = least < most ? least : most;
	return room > UINT32_MAX ? UINT32_MAX : (unsigned)room;
}

static unsigned unsettled_tenant_limit(const struct supervisor *supervisor)
{
	unsigned most = unsettled_descriptor_limit(
		supervisor->privileged ? PART_OF_ONE : PART_OF_ALL, LEAST_OF_ONE);
	unsigned sessions = supervisor->configuration.sessions_per_tenant;
	if (most > sessions)
		most = sessions;
	return most > LEAST_OF_ONE ? most : LEAST_OF_ONE;
}

/* Returns the time by which the session must be open, counted from the moment at which an engine
 * could open it. The engine's own deadline detects a start that fails. */
static uint64_t unsettled_due_ns(const struct session *session)
{
	const struct configuration *configuration = &session->tenant->supervisor->configuration;
	bool has_engine = session->phase != SESSION_WAITING || session->is_silent;
	uint64_t start_ns = has_engine ? 0 : configuration->engine_start_ns;
	return session->unsettled_since_ns + start_ns + configuration->handshake_ns;
}

/* In the epoll set a session stands for its process, and this bit is added for its socket. */
#define SOCKET_BIT 1ull

static uint64_t unsettled_socket_key(const struct session *session)
{
	return (uint64_t)(uintptr_t)session | SOCKET_BIT;
}

/* The engine has the same socket, so closing it here would not remove it from the set. */
static void stop_awaiting_client(struct session *session)
{
	if (!session->is_silent)
		return;
	session->is_silent = false;
	(void)epoll_ctl(session->tenant->supervisor->unsettled.processes, EPOLL_CTL_DEL,
			session->socket, NULL);
}

int unsettled_await_client(struct session *session)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP,
				    .data.u64 = unsettled_socket_key(session)};
	if (session->is_silent)
		return 0;
	if (epoll_ctl(session->tenant->supervisor->unsettled.processes, EPOLL_CTL_ADD,
		      session->socket, &event) < 0)
		return -errno;
	session->is_silent = true;
	unsettled_restart_deadline(session);
	return 0;
}

static void on_session_event(struct supervisor *supervisor, uint64_t key)
{
	struct session *session = (struct session *)(uintptr_t)(key & ~SOCKET_BIT);
	if (!(key & SOCKET_BIT)) {
		supervisor->observer->session_overdue(session,
						      "the process that connected has ended");
		return;
	}
	stop_awaiting_client(session);
	supervisor->observer->session_readable(session);
}

/* Handles one event at a time, because one event may end other sessions, whose events must then be
 * ignored. */
static void on_client_event(uv_poll_t *poll, int status, int events)
{
	struct supervisor *supervisor = poll->data;
	struct epoll_event event;
	(void)status;
	(void)events;
	for (int i = 0;
	     i < ENDED_PER_TURN && epoll_wait(supervisor->unsettled.processes, &event, 1, 0) == 1;
	     i++)
		on_session_event(supervisor, event.data.u64);
}

static void on_unsettled_deadline(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	uint64_t now_ns = clock_now_ns();
	struct session *session, *next;
	for (session = TAILQ_FIRST(&supervisor->unsettled.sessions); session; session = next) {
		next = TAILQ_NEXT(session, unsettled);
		if (unsettled_due_ns(session) <= now_ns)
			supervisor->observer->session_overdue(
				session,
				session->is_silent
					? "the client has sent no hello in time"
					: "the engine of this user does not take the session in time");
	}
}

int unsettled_open(struct supervisor *supervisor)
{
	struct unsettled *unsettled = &supervisor->unsettled;
	TAILQ_INIT(&unsettled->sessions);
	CLEANUP(close_fd) int processes = epoll_create1(EPOLL_CLOEXEC);
	if (processes < 0)
		return -errno;
	int r = uv_poll_init(&supervisor->loop, &unsettled->poll, processes);
	if (r < 0)
		return r;
	unsettled->processes = take_fd(&processes);
	unsettled->poll.data = supervisor;
	unsettled->is_open = true;
	(void)uv_timer_init(&supervisor->loop, &unsettled->deadline);
	unsettled->deadline.data = supervisor;
	return uv_poll_start(&unsettled->poll, UV_READABLE, on_client_event);
}

void unsettled_close(struct supervisor *supervisor)
{
	struct unsettled *unsettled = &supervisor->unsettled;
	if (!unsettled->is_open)
		return;
	unsettled->is_open = false;
	uv_close((uv_handle_t *)&unsettled->poll, NULL);
	uv_close((uv_handle_t *)&unsettled->deadline, NULL);
	close_fd(&unsettled->processes);
}

void unsettled_add(struct tenant *tenant, struct engine *engine, struct session *session)
{
	struct unsettled *unsettled = &tenant->supervisor->unsettled;
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uintptr_t)session};
	session->tenant = tenant;
	session->engine = engine;
	session->is_unsettled = true;
	session->unsettled_since_ns = clock_now_ns();
	TAILQ_INSERT_TAIL(&unsettled->sessions, session, unsettled);
	tenant->unsettled_count++;
	/* If the kernel has no memory for it, the deadline ends the session. */
	(void)epoll_ctl(unsettled->processes, EPOLL_CTL_ADD, session->peer.pidfd, &event);
	if (unsettled->count++ == 0)
		(void)uv_timer_start(&unsettled->deadline, on_unsettled_deadline, LOOK_MS, LOOK_MS);
}

void unsettled_restart_deadline(struct session *session)
{
	if (session->is_unsettled)
		session->unsettled_since_ns = clock_now_ns();
}

void unsettled_remove(struct session *session)
{
	if (!session->is_unsettled)
		return;
	struct tenant *tenant = session->tenant;
	struct unsettled *unsettled = &tenant->supervisor->unsettled;
	stop_awaiting_client(session);
	session->is_unsettled = false;
	TAILQ_REMOVE(&unsettled->sessions, session, unsettled);
	tenant->unsettled_count--;
	/* The engine has this descriptor too, so closing it here would not remove it from the epoll
	 * set. */
	(void)epoll_ctl(unsettled->processes, EPOLL_CTL_DEL, session->peer.pidfd, NULL);
	if (--unsettled->count == 0)
		(void)uv_timer_stop(&unsettled->deadline);
}

static const struct tenant *tenant_with_most_unsettled(const struct supervisor *supervisor)
{
	const struct tenant *most = NULL, *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		if (!most || tenant->unsettled_count > most->unsettled_count)
			most = tenant;
	return most;
}

/* Gives up the oldest session of the user with most of them. */
static bool unsettled_make_room(struct tenant *tenant)
{
	struct supervisor *supervisor = tenant->supervisor;
	const struct tenant *most = tenant_with_most_unsettled(supervisor);
	struct session *session;
	if (most->unsettled_count <= tenant->unsettled_count + 1)
		return false;
	TAILQ_FOREACH (session, &supervisor->unsettled.sessions, unsettled)
		if (session->tenant == most)
			break;
	supervisor->observer->session_overdue(
		session, "the service has no room for so many that connect at one time");
	return true;
}

bool unsettled_may_add(struct tenant *tenant, struct refusal *refusal_out)
{
	const char *text = NULL;
	if (tenant->unsettled_count >= unsettled_tenant_limit(tenant->supervisor))
		text = "too many processes of this user connect at one time";
	else if (tenant->supervisor->unsettled.count >=
			 unsettled_descriptor_limit(PART_OF_ALL, LEAST_OF_ALL) &&
		 !unsettled_make_room(tenant))
		text = "too many processes connect at one time";
	if (!text)
		return true;
	refusal_out->code = STATUS_QUOTA;
	(void)snprintf(refusal_out->text, sizeof(refusal_out->text), "%s", text);
	return false;
}
