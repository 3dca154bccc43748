/*
 * An engine process, from its start, or from its adoption when it was the standby
 * (engine/standby.h), until it is reaped. Its states are in service/engine_state.h.
 *
 * It runs its tenant's code, so its messages are claims. Malformed or unrequested messages end it.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_H
#define SYCLD_SUPERVISOR_ENGINE_H

#include "account/claims.h"
#include "base/device_set.h"
#include "engine/log.h"
#include "service/engine_state.h"
#include "memory_region.h"
#include "protocol_limits.h"
#include "service/session.h"
#include "service/tenant.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

struct engine_process;

/*
 * Start an engine for the tenant; with `may_adopt` the standby becomes the engine, if there is one.
 * 0, or a negative errno: there is no engine then.
 */
int engine_start(struct tenant *tenant, bool may_adopt, struct engine **engine_out);

/* Start the process of a standby, which standby.c manages. 0 or a negative errno. */
int engine_launch_standby(struct supervisor *supervisor, struct engine_process *process_out);

/*
 * An engine that an earlier service has started and that goes on: it gets its place with its
 * tenant, RETURNING. Takes the pidfd, on success only. 0 or a negative errno.
 */
int engine_expect(struct tenant *tenant, pid_t pid, int pidfd, uint64_t grace_ms,
		  struct engine **engine_out);

/* RETURNING: a process has connected that may be it. Takes the socket. 0 or a negative errno. */
int engine_attach(struct engine *engine, int control);

/* RETURNING: the process is another one, or is refused: hang up. Sessions that it has claimed are
 * dropped. */
void engine_detach(struct engine *engine);

/* The engine gets no new session; waiting and new ones get another engine. It keeps the sessions
 * that it has. */
void engine_refuse_new_sessions(struct engine *engine);
/* RETURNING: waiting sessions get another engine. It may still connect. */
void engine_release_waiting(struct engine *engine);

/* RETURNING: free what is known of it. Its process goes on without this service. */
void engine_forget(struct engine *engine);

/* Read its standard error from this descriptor, which is taken and may be -1. */
void engine_log_follow(struct engine *engine, int log);

/* Add a session that it had before it came back. */
void engine_session_returned(struct engine *engine, struct session *session);

/* Give it a session: handed on at once when the engine is ready, else kept until then. Takes the
 * session. */
void engine_give_session(struct engine *engine, struct session *session);

/* Refuse a session that waits for it; `text` is for the client. The session ends. */
void engine_drop_waiting(struct engine *engine, struct session *session, const char *text);

/* The engine has reported that a session is open. */
void engine_session_opened(struct session *session);

/* The engine has reported that a session is over. */
void engine_session_closed(struct engine *engine, struct session *session);

/* If it has no session: end it when that lasts as long as configured. */
void engine_check_idle(struct engine *engine);

/*
 * Request its end when its sessions have ended, within `drain_ns`; after that it is killed. It gets
 * no new sessions from now on. A RETURNING engine can only be sent a signal (SIGTERM), and ends its
 * sessions.
 */
void engine_stop(struct engine *engine, uint64_t drain_ns);

/* SIGKILL, for a reason that is logged. */
void engine_kill(struct engine *engine, const char *reason);

/* The same once its sessions have ended, or after a moment: their end was requested. It gets no new
 * ones. */
void engine_kill_soon(struct engine *engine, const char *reason);

/* The service ends: free what is known of the process, which goes on, and refuse waiting sessions.
 * The engine is off its tenant's list already. */
void engine_abandon(struct engine *engine);

/* The engine has reported that it is ready, or has come back. */
void engine_became_ready(struct engine *engine, struct memory_region *flight);

/* The engine has reported which devices it has open. */
void engine_opened_devices(struct engine *engine, const struct device_set *devices);

/* The control socket has hung up: it must end soon. */
void engine_control_lost(struct engine *engine, const char *reason);

/* The steps at the end of each engine, in this order; for engine/lost.c. Sessions of which it has
 * read nothing go to the next engine. */
void engine_move_sessions(struct engine *engine);
/* Count its end for its tenant, and report it. `wait_status` as for engine_death_describe. */
void engine_settle(struct engine *engine, int wait_status);
/* End the sessions that are left. */
void engine_end_sessions(struct engine *engine);

/* Hand on waiting sessions, as far as the control socket takes them now. */
void engine_flush(struct engine *engine);

#endif
