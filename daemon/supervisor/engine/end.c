/* The ends of an engine: by an order, by a kill, by loss, or by the end of its process. */
#include "engine/end.h"

#include "account/account.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "engine/control.h"
#include "engine/death.h"
#include "engine/handles.h"
#include "engine/kill.h"
#include "engine/listed.h"
#include "engine/log.h"
#include "engine/lost.h"
#include "engine/orphans.h"
#include "engine/return.h"
#include "engine/sessions.h"
#include "engine/sharing.h"
#include "engine/standby.h"
#include "memory_region.h"
#include "service/supervisor.h"
#include "service/tenant.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

enum { STOP_GRACE_MS = 2000, KILL_GRACE_MS = 1000 };

/* A standby that failed to become an engine is no failure of the tenant. An ordinary engine is
 * started instead. */
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

/* Called after the process was reaped. Only the engine's own handles may still refer to it, until
 * they are closed. */
static void engine_process_ended(struct engine *engine, int wait_status)
{
	struct tenant *tenant = engine->tenant;
	struct supervisor *supervisor = tenant->supervisor;
	/* Messages that the engine sent before it died still count. */
	engine->tenant->supervisor->observer->received(engine, ENGINE_MESSAGES_AT_END);
	engine_log_finish(engine->log);
	sharing_engine_ended(engine);
	TAILQ_REMOVE(&tenant->engines, engine, link);
	engine_leave_place(engine);
	tenant->supervisor->engine_count--;
	if (engine->is_lost)
		engine_lost_reaped(engine);
	else
		engine_settle(engine, wait_status);
	engine_move_sessions(engine);
	engine_unlist_sessions(engine);
	engine_end_sessions(engine);
	engine_close_handles(engine);
	orphans_end(supervisor);
	supervisor->observer->engines_changed(supervisor);
	supervisor->observer->engine_ended(supervisor); /* this call may free the tenant */
	standby_review(supervisor);
}

static void on_engine_exit(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct engine *engine = poll->data;
	int wait_status = 0;
	/* The process is no child of this service, so its number may already belong to a child. */
	if (!engine->is_child) {
		engine_process_ended(engine, 0);
		return;
	}
	pid_t pid = waitpid(engine->pid, &wait_status, WNOHANG);
	if (pid == engine->pid || (pid < 0 && errno == ECHILD))
		engine_process_ended(engine, wait_status);
}

void engine_watch_exit(struct engine *engine)
{
	(void)uv_poll_start(&engine->exit_poll, UV_READABLE, on_engine_exit);
}

void engine_refuse_new_sessions(struct engine *engine)
{
	engine_leave_place(engine);
	engine_move_sessions(engine);
}

void engine_release_waiting(struct engine *engine)
{
	(void)uv_timer_stop(&engine->deadline);
	engine->tenant->supervisor->observer->gone(engine);
	engine_refuse_new_sessions(engine);
	engine->tenant->supervisor->observer->engines_changed(engine->tenant->supervisor);
}

/* A standby usually hangs in a driver, which delays SIGKILL too. Its tenant gets an ordinary engine
 * meanwhile, unless the limit of engines is reached. */
static void engine_leave_hung_standby(struct engine *engine)
{
	struct tenant *tenant = engine->tenant;
	uint64_t no_standby_until_ns = tenant->no_standby_until_ns;
	if (tenants_have_all_engines(tenant->supervisor))
		return;
	/* No other standby, because it may hang as well. */
	tenant->no_standby_until_ns = UINT64_MAX;
	engine_move_sessions(engine);
	tenant->no_standby_until_ns = no_standby_until_ns;
}

static void on_engine_deadline(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	if (engine->state == ENGINE_RETURNING) {
		log_warning("engine",
			    "pid %ld of uid %lu is still running, and has not connected again yet",
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

void engine_set_deadline(struct engine *engine, uint64_t ms)
{
	(void)uv_timer_start(&engine->deadline, on_engine_deadline, ms, 0);
}

void engine_detach(struct engine *engine)
{
	engine_close_control_poll(engine);
	foreign_socket_close(&engine->control);
	engine_end_sessions(engine);
	engine->return_begun = false;
	engine->memory = (struct engine_memory){.wanted = 0};
	engine->flight = memory_region_free(engine->flight);
	sharing_engine_ended(engine);
}

void engine_abandon(struct engine *engine)
{
	struct session *session;
	engine_lost_end(engine);
	engine_end_sessions(engine);
	/*
	 * Another service follows. A client that is disconnected without an error connects to it.
	 */
	while (!engine->tenant->supervisor->stopping && (session = engine_pop_waiting(engine)))
		engine_session_end(engine, session);
	engine_refuse_waiting(engine, "the service is stopping");
	engine_close_handles(engine);
}

/* RETURNING: frees the engine's state. Its process continues without this service. */
static void engine_forget(struct engine *engine)
{
	struct tenant *tenant = engine->tenant;
	TAILQ_REMOVE(&tenant->engines, engine, link);
	engine_leave_place(engine);
	tenant->supervisor->engine_count--;
	engine->tenant->supervisor->observer->gone(engine);
	engine_unlist_sessions(engine);
	engine_detach(engine);
	engine_refuse_waiting(engine, "the service is stopping");
	engine_close_handles(engine);
}

static void engine_leave_service(struct engine *engine, uint64_t grace_ms)
{
	engine->state = ENGINE_STOPPING;
	engine_leave_place(engine);
	engine->tenant->supervisor->observer->engines_changed(engine->tenant->supervisor);
	(void)uv_timer_stop(&engine->idle);
	engine_set_deadline(engine, grace_ms);
}

/* Stops an engine that has no connection for a message. No later service would recognise it. */
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
				    : engine_milliseconds(drain_ns) + STOP_GRACE_MS;
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
	(void)engine_kill_process(engine);
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
	/* The handle is closed first, so that libuv no longer polls the descriptor when another
	 * engine gets its number. */
	engine_close_control_poll(engine);
	foreign_socket_close(&engine->control);
	if (engine->kill_reason[0])
		return;
	engine_leave_service(engine, STOP_GRACE_MS);
	if (engine_lost_is_marked(engine))
		engine_lost_begin(engine);
}
