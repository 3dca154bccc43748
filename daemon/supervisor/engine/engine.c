#include "engine/engine.h"

#include "engine/orphans.h"
#include "engine/groups.h"
#include "account/account.h"
#include "cleanup.h"
#include "clock.h"
#include "engine/control.h"
#include "engine/death.h"
#include "engine/lost.h"
#include "engine/process.h"
#include "engine/return.h"
#include "engine/room.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "base/refusal.h"
#include "base/runtime_directory.h"
#include "engine/sharing.h"
#include "engine/standby.h"
#include "service/supervisor.h"
#include "service/unsettled.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>

#define MILLISECOND_NS 1000000ull

enum {
	MESSAGES_PER_TURN = 64,
	MESSAGES_AT_END = 4096,
	STOP_GRACE_MS = 2000,
	KILL_GRACE_MS = 1000,
	ADOPTION_MS = 5000
};

/* The per-uid folder for built kernels, made if missing. False: the engine keeps no built kernels.
 */
static bool engine_cache_directory(const struct supervisor *supervisor, uid_t uid, gid_t gid,
				   char *path_out, size_t size)
{
	const char *base = supervisor->cache_path;
	if (!*base)
		return false;
	int length = supervisor->options.user
			     ? snprintf(path_out, size, "%s", base)
			     : snprintf(path_out, size, "%s/%lu", base, (unsigned long)uid);
	if (length < 0 || (size_t)length >= size)
		return false;
	CLEANUP(close_fd)
	int fd = directory_open_private(path_out, supervisor->privileged ? uid : geteuid(),
					supervisor->privileged ? gid : getegid());
	if (fd < 0)
		log_warning("engine", "no cache for uid %lu in %s: %s", (unsigned long)uid,
			    path_out, strerror(-fd));
	return fd >= 0;
}

/* Root is a tenant like the others: its engine keeps no capability either. */
static struct engine_launch engine_make_launch(const struct supervisor *supervisor,
					       const char *cache)
{
	return (struct engine_launch){
		.program = supervisor->engine_program,
		.cache_directory = cache,
		.user_mode = supervisor->options.user || geteuid() != 0,
		.drop = supervisor->privileged,
		.configuration = &supervisor->configuration,
	};
}

static int engine_launch_process(const struct tenant *tenant, struct engine_process *process_out)
{
	const struct supervisor *supervisor = tenant->supervisor;
	char cache[PATH_MAX];
	bool has_cache =
		engine_cache_directory(supervisor, tenant->uid, tenant->gid, cache, sizeof(cache));
	struct engine_launch how = engine_make_launch(supervisor, has_cache ? cache : NULL);
	how.uid = tenant->uid;
	how.gid = tenant->gid;
	how.warm_devices = tenant->warm_devices;
	return engine_process_start(&how, process_out);
}

int engine_launch_standby(struct supervisor *supervisor, struct engine_process *process_out)
{
	char cache[PATH_MAX];
	/* The owner of its cache is not known yet, unless there is only one user. */
	bool has_cache =
		!supervisor->privileged &&
		engine_cache_directory(supervisor, geteuid(), getegid(), cache, sizeof(cache));
	struct engine_launch how = engine_make_launch(supervisor, has_cache ? cache : NULL);
	how.standby = true;
	return engine_process_start(&how, process_out);
}

/* False: there is no standby that could become the tenant's engine. */
static bool engine_adopt_standby(const struct tenant *tenant, struct engine_process *process_out)
{
	struct supervisor *supervisor = tenant->supervisor;
	struct engine_process process;
	char cache[PATH_MAX];
	if (clock_now_ns() < tenant->no_standby_until_ns || !standby_take(supervisor, &process))
		return false;
	bool has_cache =
		engine_cache_directory(supervisor, tenant->uid, tenant->gid, cache, sizeof(cache));
	if (engine_send_adopt(&process, tenant, has_cache ? cache : NULL) < 0) {
		engine_process_kill(&process);
		standby_failed(
			supervisor,
			"the standby does not take the message that makes it this user's engine");
		return false;
	}
	*process_out = process;
	return true;
}

void engine_log_follow(struct engine *engine, int log)
{
	char whose[ENGINE_LOG_WHOSE_BYTES];
	(void)snprintf(whose, sizeof(whose), "pid %ld of uid %lu", (long)engine->pid,
		       (unsigned long)engine->tenant->uid);
	(void)engine_log_free(engine->log);
	struct tenant *tenant = engine->tenant;
	struct engine_log_window *window =
		tenant->is_unknown ? &tenant->supervisor->unknown_log : &tenant->log;
	engine->log = engine_log_open(&tenant->supervisor->loop, log, whose, window);
}

static int engine_begin_process(struct engine *engine, bool may_adopt)
{
	struct engine_process process = ENGINE_PROCESS_NONE;
	engine->adopted = may_adopt && engine_adopt_standby(engine->tenant, &process);
	int r = engine->adopted ? 0 : engine_launch_process(engine->tenant, &process);
	engine->pid = process.pid;
	engine->pidfd = process.pidfd;
	engine->control = process.control;
	engine_log_follow(engine, process.log);
	return r;
}

static void engine_destroy(struct engine *engine)
{
	engine_claims_fini(&engine->claims);
	(void)memory_region_free(engine->flight);
	engine->log = engine_log_free(engine->log);
	(void)engine_share_free(engine->share);
	foreign_socket_close(&engine->control);
	close_fd(&engine->pidfd);
	free(engine);
}

static void on_engine_handle_closed(uv_handle_t *handle)
{
	struct engine *engine = handle->data;
	if (--engine->open_handles == 0)
		engine_destroy(engine);
}

static void engine_close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_engine_handle_closed);
}

static void on_control_poll_closed(uv_handle_t *handle)
{
	free(handle);
}

static void engine_close_control_poll(struct engine *engine)
{
	if (engine->control_poll)
		uv_close((uv_handle_t *)engine->control_poll, on_control_poll_closed);
	engine->control_poll = NULL;
	engine->control_events = 0;
}

static void engine_close_handles(struct engine *engine)
{
	engine_close_control_poll(engine);
	engine->log = engine_log_free(engine->log);
	engine_close_handle((uv_handle_t *)&engine->exit_poll);
	engine_close_handle((uv_handle_t *)&engine->deadline);
	engine_close_handle((uv_handle_t *)&engine->idle);
}

static void engine_session_end(struct engine *engine, struct session *session)
{
	tenant_session_left(engine->tenant, session);
	engine->tenant->supervisor->observer->session_ended(engine->tenant->supervisor, session);
	(void)session_free(session);
}

static void engine_session_refuse(struct engine *engine, struct session *session,
				  enum sycl_status code, const char *text)
{
	refuse_client(take_fd(&session->socket), code, text);
	engine_session_end(engine, session);
}

static void engine_add_session(struct engine *engine, struct session *session)
{
	TAILQ_INSERT_TAIL(&engine->sessions, session, link);
	LIST_INSERT_HEAD(&engine->places[session->id % ENGINE_PLACES], session, same_place);
	engine->sessions_count++;
}

static void engine_remove_session(struct engine *engine, struct session *session)
{
	TAILQ_REMOVE(&engine->sessions, session, link);
	LIST_REMOVE(session, same_place);
	engine->sessions_count--;
}

static struct session *engine_pop_waiting(struct engine *engine)
{
	struct session *session = TAILQ_FIRST(&engine->waiting);
	if (session) {
		TAILQ_REMOVE(&engine->waiting, session, link);
		engine->waiting_count--;
	}
	return session;
}

static void engine_refuse_waiting(struct engine *engine, const char *text)
{
	struct session *session;
	while ((session = engine_pop_waiting(engine)))
		engine_session_refuse(engine, session, STATUS_CONNECTION_LOST, text);
}

void engine_drop_waiting(struct engine *engine, struct session *session, const char *text)
{
	TAILQ_REMOVE(&engine->waiting, session, link);
	engine->waiting_count--;
	engine_session_refuse(engine, session, STATUS_CONNECTION_LOST, text);
}

/* Sessions of which an ending engine has read nothing can go on with another engine. */
void engine_move_sessions(struct engine *engine)
{
	struct session *session, *next;
	for (session = TAILQ_FIRST(&engine->sessions); session; session = next) {
		next = TAILQ_NEXT(session, link);
		if (session->phase != SESSION_HANDSHAKE || !session_is_untouched(session))
			continue;
		engine_remove_session(engine, session);
		TAILQ_INSERT_TAIL(&engine->waiting, session, link);
		engine->waiting_count++;
	}
	while ((session = engine_pop_waiting(engine))) {
		tenant_session_left(engine->tenant, session);
		engine->tenant->supervisor->observer->session_unplaced(engine->tenant, session);
	}
}

void engine_end_sessions(struct engine *engine)
{
	struct session *session;
	while ((session = TAILQ_FIRST(&engine->sessions))) {
		engine_remove_session(engine, session);
		engine_session_end(engine, session);
	}
}

/* A standby that failed to become an engine does not count as a failure of the tenant: an ordinary
 * engine is started instead. */
void engine_settle(struct engine *engine, int wait_status)
{
	struct tenant *tenant = engine->tenant;
	bool misadopted = engine->adopted && !engine->was_ready && !engine->stop_requested;
	bool has_started = engine->was_ready || !engine->is_child;
	struct engine_death death;
	engine_death_describe(engine, wait_status, &death);
	account_engine_ended(engine, death.abnormal, death.offender);
	if (misadopted)
		standby_misadopted(tenant, wait_status);
	else
		tenant_engine_died(tenant, has_started, death.abnormal, death.text);
	engine->tenant->supervisor->observer->gone(engine);

	if (!has_started && !misadopted) {
		char text[TENANT_FAILURE_BYTES + 64];
		(void)snprintf(text, sizeof(text), "the engine could not start: it %s", death.text);
		engine_refuse_waiting(engine, text);
	}
}

/* Called after it was reaped. Only its own handles may still refer to it, until they are closed. */
static void engine_process_gone(struct engine *engine, int wait_status)
{
	struct tenant *tenant = engine->tenant;
	struct supervisor *supervisor = tenant->supervisor;
	/* Messages that it sent before it died still count. */
	engine->tenant->supervisor->observer->received(engine, MESSAGES_AT_END);
	engine_log_finish(engine->log);
	sharing_engine_gone(engine);
	TAILQ_REMOVE(&tenant->engines, engine, link);
	if (tenant->current == engine)
		tenant->current = NULL;
	tenant->supervisor->engine_count--;
	if (engine->is_lost)
		engine_lost_reaped(engine);
	else
		engine_settle(engine, wait_status);
	engine_move_sessions(engine);
	engine_end_sessions(engine);
	engine_close_handles(engine);
	orphans_end(supervisor);
	supervisor->observer->engines_changed(supervisor);
	supervisor->observer->engine_ended(supervisor); /* the tenant may be freed by this call */
	standby_review(supervisor);
}

void engine_abandon(struct engine *engine)
{
	struct session *session;
	engine_lost_end(engine);
	engine_end_sessions(engine);
	/* Another service follows: a client that is hung up on without an error connects again
	 * there. */
	while (!engine->tenant->supervisor->stopping && (session = engine_pop_waiting(engine)))
		engine_session_end(engine, session);
	engine_refuse_waiting(engine, "the service is stopping");
	engine_close_handles(engine);
}

static void on_engine_exit(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct engine *engine = poll->data;
	int wait_status = 0;
	/* The process is no child of this service, and by now its number may be that of a child. */
	if (!engine->is_child) {
		engine_process_gone(engine, 0);
		return;
	}
	pid_t pid = waitpid(engine->pid, &wait_status, WNOHANG);
	if (pid == engine->pid || (pid < 0 && errno == ECHILD))
		engine_process_gone(engine, wait_status);
}

static void engine_watch_control(struct engine *engine, int events);

static void on_engine_control(uv_poll_t *poll, int status, int events)
{
	struct engine *engine = poll->data;
	if (status < 0) {
		engine->tenant->supervisor->observer->received(engine, MESSAGES_AT_END);
		engine_control_lost(engine, "its control socket fails");
		return;
	}
	if (events & UV_WRITABLE)
		engine_flush(engine);
	if (events & UV_READABLE)
		engine->tenant->supervisor->observer->received(engine, MESSAGES_PER_TURN);
}

static void engine_watch_control(struct engine *engine, int events)
{
	if (!engine->control_poll || engine->control_events == events)
		return;
	engine->control_events = events;
	(void)uv_poll_start(engine->control_poll, events, on_engine_control);
}

/*
 * A standby that hangs, hangs in a driver as a rule, and SIGKILL is delayed by that too. Its tenant
 * gets an ordinary engine meanwhile, unless the limit of engines is reached.
 */
static void engine_leave_hung_standby(struct engine *engine)
{
	struct tenant *tenant = engine->tenant;
	uint64_t no_standby_until_ns = tenant->no_standby_until_ns;
	if (tenants_have_all_engines(tenant->supervisor))
		return;
	tenant->no_standby_until_ns = UINT64_MAX; /* no other standby, which may hang as well */
	engine_move_sessions(engine);
	tenant->no_standby_until_ns = no_standby_until_ns;
}

static void on_engine_deadline(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	if (engine->state == ENGINE_RETURNING) {
		log_warning("engine", "pid %ld of uid %lu goes on, and has not come back yet",
			    (long)engine->pid, (unsigned long)engine->tenant->uid);
		engine_release_waiting(engine);
		return;
	}
	if (engine->end_reason[0]) {
		engine_kill(engine, engine->end_reason);
		return;
	}
	bool is_standby = engine->state == ENGINE_STARTING && engine->adopted;
	engine_kill(engine, engine->state == ENGINE_STARTING ? "it is not ready in time"
							     : "it does not end in time");
	if (is_standby)
		engine_leave_hung_standby(engine);
}

static void on_engine_idle(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	log_info("engine", "pid %ld of uid %lu is idle: stopping it", (long)engine->pid,
		 (unsigned long)engine->tenant->uid);
	engine_stop(engine, 0);
}

static uint64_t whole_milliseconds(uint64_t ns)
{
	return ns / MILLISECOND_NS;
}

static int engine_open_control_poll(struct engine *engine)
{
	uv_poll_t *poll = calloc(1, sizeof(*poll));
	if (!poll)
		return -ENOMEM;
	int r = uv_poll_init(&engine->tenant->supervisor->loop, poll, engine->control);
	if (r < 0) {
		free(poll);
		return r;
	}
	poll->data = engine;
	engine->control_poll = poll;
	return 0;
}

static int engine_open_handles(struct engine *engine, uv_loop_t *loop)
{
	int r = uv_poll_init(loop, &engine->exit_poll, engine->pidfd);
	if (r < 0)
		return r;
	engine->open_handles++;
	engine->exit_poll.data = engine;
	(void)uv_timer_init(loop, &engine->deadline);
	(void)uv_timer_init(loop, &engine->idle);
	engine->open_handles += 2;
	engine->deadline.data = engine;
	engine->idle.data = engine;
	return 0;
}

static uint64_t engine_start_limit_ms(const struct engine *engine)
{
	uint64_t ms = whole_milliseconds(engine->tenant->supervisor->configuration.engine_start_ns);
	/* A tenant whose standby hangs gets an ordinary engine after this time. */
	return engine->adopted && ms > ADOPTION_MS ? ADOPTION_MS : ms;
}

static struct engine *engine_new(struct tenant *tenant)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return NULL;
	engine->tenant = tenant;
	engine->pidfd = -1;
	engine->control = -1;
	TAILQ_INIT(&engine->waiting);
	TAILQ_INIT(&engine->sessions);
	return engine;
}

/* Frees it; some of its handles may be open. */
static void engine_drop(struct engine *engine)
{
	engine_close_control_poll(engine);
	if (engine->open_handles)
		engine_close_handles(engine);
	else
		engine_destroy(engine);
}

static void engine_join_tenant(struct engine *engine)
{
	(void)uv_poll_start(&engine->exit_poll, UV_READABLE, on_engine_exit);
	TAILQ_INSERT_TAIL(&engine->tenant->engines, engine, link);
	engine->tenant->supervisor->engine_count++;
}

int engine_start(struct tenant *tenant, bool may_adopt, struct engine **engine_out)
{
	struct supervisor *supervisor = tenant->supervisor;
	struct engine *engine = engine_new(tenant);
	if (!engine)
		return -ENOMEM;
	engine->is_replacement = tenant->warm_devices != 0;
	engine->is_child = true;
	int r = engine_begin_process(engine, may_adopt);
	if (r < 0) {
		engine_destroy(engine);
		return r;
	}
	engine->since_ns = clock_now_ns();
	engine->since_unix_seconds = (uint64_t)time(NULL);
	r = engine_open_control_poll(engine);
	if (r == 0)
		r = engine_open_handles(engine, &supervisor->loop);
	if (r < 0) {
		/* This fails only without memory or descriptors. The process is ended here, as
		 * nothing watches it yet. */
		(void)pidfd_send_signal(engine->pidfd, SIGKILL, NULL, 0);
		(void)waitpid(engine->pid, NULL, 0);
		engine_drop(engine);
		return r;
	}
	engine_groups_take(supervisor->groups, &supervisor->configuration, tenant->uid,
			   engine->pid);
	engine_watch_control(engine, UV_READABLE);
	(void)uv_timer_start(&engine->deadline, on_engine_deadline, engine_start_limit_ms(engine),
			     0);
	engine_join_tenant(engine);
	log_info("engine", "%s pid %ld for uid %lu", engine->adopted ? "adopted" : "started",
		 (long)engine->pid, (unsigned long)tenant->uid);
	*engine_out = engine;
	return 0;
}

int engine_expect(struct tenant *tenant, pid_t pid, int pidfd, uint64_t grace_ms,
		  struct engine **engine_out)
{
	struct engine *engine = engine_new(tenant);
	if (!engine)
		return -ENOMEM;
	engine->state = ENGINE_RETURNING;
	engine->pid = pid;
	engine->pidfd = pidfd;
	int r = engine_open_handles(engine, &tenant->supervisor->loop);
	if (r < 0) {
		engine->pidfd = -1; /* still the caller's */
		engine_drop(engine);
		return r;
	}
	engine_join_tenant(engine);
	(void)uv_timer_start(&engine->deadline, on_engine_deadline, grace_ms, 0);
	*engine_out = engine;
	return 0;
}

int engine_attach(struct engine *engine, int control)
{
	engine->control = control;
	int r = engine_open_control_poll(engine);
	if (r < 0)
		foreign_socket_close(&engine->control);
	else
		engine_watch_control(engine, UV_READABLE);
	return r;
}

void engine_detach(struct engine *engine)
{
	engine_close_control_poll(engine);
	foreign_socket_close(&engine->control);
	engine_end_sessions(engine);
	engine->return_begun = false;
	engine->flight = memory_region_free(engine->flight);
	sharing_engine_gone(engine);
}

void engine_refuse_new_sessions(struct engine *engine)
{
	if (engine->tenant->current == engine)
		engine->tenant->current = NULL;
	engine_move_sessions(engine);
}

void engine_release_waiting(struct engine *engine)
{
	(void)uv_timer_stop(&engine->deadline);
	engine->tenant->supervisor->observer->gone(engine);
	engine_refuse_new_sessions(engine);
	engine->tenant->supervisor->observer->engines_changed(engine->tenant->supervisor);
}

void engine_forget(struct engine *engine)
{
	struct tenant *tenant = engine->tenant;
	TAILQ_REMOVE(&tenant->engines, engine, link);
	if (tenant->current == engine)
		tenant->current = NULL;
	tenant->supervisor->engine_count--;
	engine->tenant->supervisor->observer->gone(engine);
	engine_detach(engine);
	engine_refuse_waiting(engine, "the service is stopping");
	engine_close_handles(engine);
}

void engine_session_returned(struct engine *engine, struct session *session)
{
	engine_add_session(engine, session);
	engine->had_session = true;
	tenant_session_joined(engine->tenant);
}

void engine_flush(struct engine *engine)
{
	struct session *session;
	while (engine->state == ENGINE_READY && (session = TAILQ_FIRST(&engine->waiting))) {
		int r = engine_send_session(engine, session);
		if (r == -EAGAIN) {
			engine_watch_control(engine, UV_READABLE | UV_WRITABLE);
			return;
		}
		if (r < 0) {
			/* Its end is near; waiting sessions go to the next engine. */
			engine_control_lost(engine, "it does not take a session");
			return;
		}
		(void)engine_pop_waiting(engine);
		session->phase = SESSION_HANDSHAKE;
		unsettled_restart_deadline(session);
		engine_add_session(engine, session);
		engine->had_session = true;
	}
	engine_watch_control(engine, UV_READABLE);
}

void engine_give_session(struct engine *engine, struct session *session)
{
	(void)uv_timer_stop(&engine->idle);
	session->phase = SESSION_WAITING;
	TAILQ_INSERT_TAIL(&engine->waiting, session, link);
	engine->waiting_count++;
	tenant_session_joined(engine->tenant);
	unsettled_add(engine->tenant, engine, session);
	engine_flush(engine);
}

void engine_session_opened(struct session *session)
{
	session->phase = SESSION_OPEN;
	unsettled_remove(session);
	session_close_descriptors(session);
}

void engine_session_closed(struct engine *engine, struct session *session)
{
	engine_remove_session(engine, session);
	engine_session_end(engine, session);
	if (engine->end_reason[0] && engine->sessions_count == 0)
		engine_kill(engine, engine->end_reason);
	engine_check_idle(engine);
}

void engine_check_idle(struct engine *engine)
{
	if (engine->state != ENGINE_READY || engine->sessions_count || engine->waiting_count)
		return;
	const struct configuration *configuration = &engine->tenant->supervisor->configuration;
	bool served_its_one = engine->had_session && engine->tenant->current != engine;
	engine->idle_since_ns = clock_now_ns();
	uint64_t idle_ns = served_its_one ? 0 : configuration->engine_idle_ns;
	(void)uv_timer_start(&engine->idle, on_engine_idle, whole_milliseconds(idle_ns), 0);
}

void engine_became_ready(struct engine *engine, struct memory_region *flight)
{
	engine->flight = flight;
	engine->was_ready = true;
	if (engine->state != ENGINE_STARTING && engine->state != ENGINE_RETURNING)
		return;
	engine->state = ENGINE_READY;
	/* Once more, for the build helper, which may not have been there the first time. */
	engine_groups_take(engine->tenant->supervisor->groups,
			   &engine->tenant->supervisor->configuration, engine->tenant->uid,
			   engine->pid);
	engine->tenant->start_failures = 0;
	(void)uv_timer_stop(&engine->deadline);
	log_debug("engine", "pid %ld is ready after %llu ms", (long)engine->pid,
		  (unsigned long long)whole_milliseconds(clock_now_ns() - engine->since_ns));
	engine->tenant->supervisor->observer->starts_taking(engine);
	sharing_engine_ready(engine);
	engine_flush(engine);
	engine->tenant->supervisor->observer->ready(engine);
	engine_check_idle(engine);
	if (engine->adopted)
		standby_succeeded(engine->tenant->supervisor);
	standby_review(engine->tenant->supervisor);
}

void engine_opened_devices(struct engine *engine, const struct device_set *devices)
{
	engine->devices = *devices;
	engine_lost_is_followed(engine->tenant);
	standby_review(engine->tenant->supervisor);
}

static void engine_leave_service(struct engine *engine, uint64_t grace_ms)
{
	engine->state = ENGINE_STOPPING;
	if (engine->tenant->current == engine)
		engine->tenant->current = NULL;
	engine->tenant->supervisor->observer->engines_changed(engine->tenant->supervisor);
	(void)uv_timer_stop(&engine->idle);
	(void)uv_timer_start(&engine->deadline, on_engine_deadline, grace_ms, 0);
}

/* The engine has no connection for a message, and no later service would recognise it. */
static void engine_stop_absent(struct engine *engine, uint64_t grace_ms)
{
	log_info("engine", "ending pid %ld of uid %lu, which has not come back", (long)engine->pid,
		 (unsigned long)engine->tenant->uid);
	if (pidfd_send_signal(engine->pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH) {
		log_error("engine", "pid %ld cannot be ended: %s", (long)engine->pid,
			  strerror(errno));
		engine_forget(engine);
		return;
	}
	engine_detach(engine);
	engine_leave_service(engine, grace_ms);
	engine_refuse_waiting(engine, "the service is stopping");
}

void engine_stop(struct engine *engine, uint64_t drain_ns)
{
	engine_lost_end(engine);
	if (engine->kill_reason[0] || engine->is_lost)
		return;
	uint64_t grace_ms = drain_ns > UINT64_MAX / 2
				    ? UINT64_MAX / 2
				    : whole_milliseconds(drain_ns) + STOP_GRACE_MS;
	engine->stop_requested = true;
	if (engine->state == ENGINE_RETURNING) {
		engine_stop_absent(engine, grace_ms);
		return;
	}
	bool starting = engine->state == ENGINE_STARTING;
	engine_leave_service(engine, grace_ms);
	if (starting || engine_send_stop(engine, drain_ns) < 0)
		engine_kill(engine, "the service stops it");
	else
		engine_refuse_waiting(engine, "the service is stopping");
}

void engine_kill(struct engine *engine, const char *reason)
{
	engine_lost_end(engine);
	if (engine->kill_reason[0] || engine->is_lost)
		return;
	(void)snprintf(engine->kill_reason, sizeof(engine->kill_reason), "%s", reason);
	log_write(engine->stop_requested ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "engine",
		  "killing pid %ld of uid %lu: %s", (long)engine->pid,
		  (unsigned long)engine->tenant->uid, reason);
	engine_leave_service(engine, UINT64_MAX / 2);
	if (engine->control_poll)
		(void)uv_poll_stop(engine->control_poll);
	engine->control_events = 0;
	if (pidfd_send_signal(engine->pidfd, SIGKILL, NULL, 0) < 0)
		log_error("engine", "pid %ld cannot be killed: %s", (long)engine->pid,
			  strerror(errno));
	engine_groups_kill(engine->tenant->supervisor->groups, engine->tenant->uid, engine->pid);
}

void engine_kill_soon(struct engine *engine, const char *reason)
{
	engine_lost_end(engine);
	if (engine->kill_reason[0] || engine->is_lost)
		return;
	(void)snprintf(engine->end_reason, sizeof(engine->end_reason), "%s", reason);
	engine_leave_service(engine, KILL_GRACE_MS);
}

void engine_control_lost(struct engine *engine, const char *reason)
{
	if (engine->control < 0)
		return;
	if (!engine->stop_requested)
		log_debug("engine", "pid %ld of uid %lu: %s", (long)engine->pid,
			  (unsigned long)engine->tenant->uid, reason);
	if (engine->state == ENGINE_RETURNING) {
		engine_return_lost(engine);
		return;
	}
	/* The handle is closed first, so that libuv has forgotten the descriptor before another
	 * engine can get its number. */
	engine_close_control_poll(engine);
	foreign_socket_close(&engine->control);
	if (engine->kill_reason[0])
		return;
	engine_leave_service(engine, STOP_GRACE_MS);
	if (engine_lost_is_marked(engine))
		engine_lost_begin(engine);
}
