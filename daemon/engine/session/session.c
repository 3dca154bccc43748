#include "session/session.h"
#include "session/hooks.h"
#include "clock.h"
#include "fair_queue/fair_queue.h"

#include "session.pb-c.h"

#include <string.h>
#include <sys/socket.h>

/* Since Linux 6.16; the C library's headers may be older. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

static void on_handle_closed(uv_handle_t *handle)
{
	struct session *session = handle->data;
	session->handles--;
	session_step(session);
}

static void on_session_socket(uv_poll_t *poll, int status, int events)
{
	struct session *session = poll->data;
	if (status < 0 || (events & UV_DISCONNECT && !(events & UV_READABLE))) {
		session_fail(session, STATUS_CONNECTION_LOST, "the peer hung up");
		return;
	}
	if (events & UV_WRITABLE) {
		if (outbox_flush(&session->outbox) < 0)
			session_fail(session, STATUS_CONNECTION_LOST, "the peer hung up");
		session_watch_socket(session);
		session_make_hot(session);
	}
	if (events & UV_READABLE)
		(void)session_receive(session);
}

void session_watch_socket(struct session *session)
{
	int events =
		UV_READABLE | UV_DISCONNECT | (outbox_waiting(&session->outbox) ? UV_WRITABLE : 0);
	if (uv_poll_start(&session->socket_poll, events, on_session_socket) < 0)
		session_fail(session, STATUS_RUNTIME, "the session's socket cannot be watched");
}

static void session_close_handle(uv_handle_t *handle);

static void await_no_process(struct session *session)
{
	session->awaits_process = false;
	session_close_handle((uv_handle_t *)&session->pid_poll);
	close_fd(&session->pidfd);
}

static void on_peer_dead(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct session *session = poll->data;
	if (session->awaits_process)
		await_no_process(session);
	/* The process has ended, so no client reads the shared memory. */
	session->is_cut_off = false;
	session->orphan_ns = clock_now_ns();
	session->engine->hooks->review_deadlines(session->engine);
	session_set_close_policy(session, CLOSE_DROP_PRIVATE);
	session_fail(session, STATUS_CONNECTION_LOST, "the peer's process ended");
}

static void on_hello_late(uv_timer_t *timer)
{
	session_fail(timer->data, STATUS_TIMEOUT, "no hello came in time");
}

static int start_handles(struct session *session)
{
	uv_loop_t *loop = &session->engine->loop;
	int r = uv_timer_init(loop, &session->hello_timer);
	if (r < 0)
		return r;
	session->hello_timer.data = session;
	session->handles++;
	r = uv_poll_init(loop, &session->socket_poll, session->socket);
	if (r < 0)
		return r;
	session->socket_poll.data = session;
	session->handles++;
	if (session->pidfd >= 0) {
		r = uv_poll_init(loop, &session->pid_poll, session->pidfd);
		if (r < 0)
			return r;
		session->pid_poll.data = session;
		session->handles++;
		r = uv_poll_start(&session->pid_poll, UV_READABLE, on_peer_dead);
		if (r < 0)
			return r;
	}
	uint64_t timeout_ns = session->engine->options.hello_timeout_ns;
	r = uv_timer_start(&session->hello_timer, on_hello_late, (timeout_ns + 999999) / 1000000,
			   0);
	if (r < 0)
		return r;
	return uv_poll_start(&session->socket_poll, UV_READABLE | UV_DISCONNECT, on_session_socket);
}

static void session_close_handle(uv_handle_t *handle)
{
	if (handle->data && !uv_is_closing(handle))
		uv_close(handle, on_handle_closed);
}

/*
 * The supervisor accepts no descriptors, and sockets that it accepts inherit that. Here descriptors
 * are memory to import. Closing a client's descriptor may block as long as its owner chooses. That
 * harms only the owner's own user, who could also end this engine.
 */
static void allow_descriptors(int socket)
{
	int all = 1;
	(void)setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &all, sizeof(all));
}

int session_create(struct engine *engine, int socket, int pidfd, const struct session_peer *peer,
		   const char *refusal)
{
	struct session *session = calloc(1, sizeof(*session));
	struct arena **arenas = calloc(engine->options.limits.arenas, sizeof(struct arena *));
	struct sched_account *work = NULL;
	if (!session || !arenas ||
	    sched_account_create(session_work_bytes(&engine->options.limits), &work) < 0) {
		free(session);
		free(arenas);
		close_fd(&socket);
		close_fd(&pidfd);
		return -ENOMEM;
	}
	session->engine = engine;
	session->arenas = arenas;
	session->limits = engine->options.limits;
	session->arena_room = engine->options.limits.arenas;
	session->requested_class = SYCL__V1__SESSION_CLASS__SESSION_CLASS_NORMAL;
	session->requested_weight = FAIR_QUEUE_WEIGHT;
	*sched_account_device(work) = (struct sched_quota){
		.most_bytes = engine->options.limits.device_bytes, .above = &engine->device_quota};
	session->work = work;
	session->peer = *peer;
	sched_account_name(work, peer->session);
	session->start_ns = clock_now_ns();
	session->socket = socket;
	session->pidfd = pidfd;
	session->bell = -1;
	session->profile_budget = SESSION_PROFILES_MAX;
	outbox_init(&session->outbox, socket);
	object_table_init(&session->objects, (uint32_t)engine->options.limits.objects);
	list_init(&session->waiting);
	list_init(&session->open_groups);
	list_init(&session->usm_frees);
	list_init(&session->late_builds);
	list_init(&session->sub_devices);
	list_init(&session->held_tasks);
	list_init(&session->held_nodes);
	list_init(&session->hot_link);
	list_init(&session->notify_link);
	list_init(&session->doomed_link);
	allow_descriptors(socket);
	list_push_back(&engine->sessions, &session->link);
	engine->session_count++;
	if (session->limits.group_seconds > 0)
		engine->hooks->review_deadlines(engine);
	/* From here on it is a session, and reports its own end. */
	if (start_handles(session) < 0)
		session_fail(session, STATUS_RUNTIME, "the session's socket cannot be watched");
	else if (refusal)
		session_fail(session, STATUS_QUOTA, "%s", refusal);
	return 0;
}

static void session_drop_tasks(struct session *session)
{
	struct backend_fault fault;
	if (session->close_policy == CLOSE_DRAIN || session->groups_open == 0)
		return;
	fault_write(&fault, STATUS_CONNECTION_LOST, "its session has ended: %s", session->reason);
	(void)scheduler_drop(session->engine->scheduler, session->work,
			     session->close_policy == CLOSE_DROP_ALL ? SCHEDULER_DROP_ALL
								     : SCHEDULER_DROP_UNSEEN,
			     &fault);
}

void session_set_close_policy(struct session *session, enum close_policy policy)
{
	if (policy <= session->close_policy)
		return;
	session->close_policy = policy;
	if (session->state == SESSION_CLOSING)
		session_drop_tasks(session);
}

/* Sends the reason, then closes. Reads pending datagrams first. Otherwise the kernel would send the
 * peer a reset in place of the reason. */
static void close_socket(struct session *session)
{
	Sycl__V1__SessionError error = SYCL__V1__SESSION_ERROR__INIT;
	error.code = session->close_status;
	error.text = session->reason;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_ERROR;
	packet.error = &error;
	(void)message_send(session->socket, &packet.base, NULL, 0, MSG_DONTWAIT);
	(void)shutdown(session->socket, SHUT_RD);
	ssize_t size;
	do {
		CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
		size = packet_socket_receive(session->socket, session->engine->record,
					     PACKET_BYTES_MAX, &fds, MSG_DONTWAIT);
	} while (size > 0 || size == -EPROTO || size == -EMSGSIZE);
	close_fd(&session->socket);
}

void session_close(struct session *session)
{
	session->state = SESSION_CLOSING;
	if (session->engine->last_read == session)
		session->engine->last_read = NULL;
	list_remove(&session->doomed_link);
	list_remove(&session->hot_link);
	list_remove(&session->notify_link);
	if (session->bell >= 0)
		session->engine->hooks->remove_bell(session->engine, session->bell);
	session_close_handle((uv_handle_t *)&session->hello_timer);
	session_close_handle((uv_handle_t *)&session->socket_poll);
	close_socket(session);
	close_fd(&session->bell);
	outbox_fini(&session->outbox);
	session_grants_drop(session);
	session_drop_waiting(session);
	session->awaits_process = session->pidfd >= 0 && session->pid_poll.data &&
				  session->close_policy == CLOSE_DRAIN;
	if (!session->awaits_process || session->groups_open == 0)
		await_no_process(session);
	session_kept_forget(session);
	session_drop_tasks(session);
	session->engine->hooks->abandon_host_tasks(session);
	session->engine->hooks->end_late_builds(session);
	objects_release_all(session);
	session_step(session);
}

static void free_session(struct session *session)
{
	for (uint32_t i = 0; i < SHAPES_MAX; i++) {
		session->shapes[i] = shape_free(session->shapes[i]);
		free(session->checked[i]);
	}
	free(session->arenas);
	free(session->deferred);
	object_table_fini(&session->objects);
	usm_table_fini(&session->usm);
	for (uint32_t i = 0; i < session->gone_count; i++)
		failure_list_fini(&session->gone[i].failures);
	free(session->gone);
	if (!session->is_cut_off)
		memory_region_empty(session->ring);
	(void)memory_region_free(session->ring);
	(void)sched_account_drop(session->work);
	free(session);
}

void session_step(struct session *session)
{
	if (session->state != SESSION_CLOSING || session->groups_open || session->objects.count)
		return;
	if (session->awaits_process)
		await_no_process(session);
	if (session->handles)
		return;
	struct engine *engine = session->engine;
	uint64_t number = session->peer.session;
	char command[sizeof(session->command)], reason[sizeof(session->reason)];
	memcpy(command, session->command, sizeof(command));
	memcpy(reason, session->reason, sizeof(reason));
	list_remove(&session->link);
	scheduler_resume(engine->scheduler, session->work); /* nothing is left that could wait */
	session_arenas_free(session);
	Sycl__V1__Usage usage;
	Sycl__V1__DeviceUsage rows[SESSION_DEVICES_REPORTED];
	session_usage_fill(session, &usage);
	struct device_usages devices = {.rows = rows, .count = session_devices_fill(session, rows)};
	struct sched_account *work = session->work;
	sched_account_hold(work); /* the rows point into the account */
	bool had_deadline = session->limits.group_seconds > 0 || session->orphan_ns != 0;
	free_session(session);
	engine->session_count--;
	if (had_deadline)
		engine->hooks->review_deadlines(engine);
	/* The end is reported when all memory of the session is free again. */
	if (engine->observer.session_closed)
		engine->observer.session_closed(engine->observer.context, number, command, reason,
						&usage, &devices);
	(void)sched_account_drop(work);
}
