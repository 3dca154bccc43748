/*
 * One engine process, from the start, or from its adoption when it was the standby (standby.h), to
 * the reaping of it.
 *
 * It runs its tenant's code, so what it sends is a claim, and malformed or unasked-for messages end
 * it.
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
 * Start one for the tenant; with `may_adopt` the standby, if there is one. 0, or a negative errno:
 * then there is no engine.
 */
int engine_start(struct tenant *tenant, bool may_adopt, struct engine **engine_out);

/* The process of a standby, which standby.c looks after. 0 or a negative errno. */
int engine_launch_standby(struct supervisor *supervisor, struct engine_process *process_out);

/*
 * One that an earlier service has started and that goes on: takes its place with its tenant,
 * RETURNING. Takes the pidfd, on success only. 0 or a negative errno.
 */
int engine_expect(struct tenant *tenant, pid_t pid, int pidfd, uint64_t grace_ms,
		  struct engine **engine_out);

/* RETURNING: here it is, perhaps; takes the socket. 0 or a negative errno. */
int engine_attach(struct engine *engine, int control);

/* RETURNING: this is not it, or is not to be: hang up. Sessions that it has claimed are dropped. */
void engine_detach(struct engine *engine);

/* Waiting and new sessions get another engine. It keeps the sessions that it has taken. */
void engine_gets_nobody_new(struct engine *engine);
/* RETURNING: it is not waited for any more, but may still connect. Sessions that waited get another
 * engine. */
void engine_stays_away(struct engine *engine);

/* RETURNING: let go of it: it goes on, and is nothing to this service any more. */
void engine_forget(struct engine *engine);

/* What it writes to its standard error comes from there; takes the descriptor, which may be -1. */
void engine_log_follow(struct engine *engine, int log);

/* A session that it had before it came back. */
void engine_session_returned(struct engine *engine, struct session *session);

/* Give it a session: handed on at once when it is ready, else kept until then. Takes the session.
 */
void engine_give(struct engine *engine, struct session *session);

/* One of those that wait for it is told why it is not served. The session ends. */
void engine_drop_waiting(struct engine *engine, struct session *session, const char *text);

/* The engine says that a session is open. */
void engine_session_opened(struct session *session);

/* The engine says that a session is over. */
void engine_session_closed(struct engine *engine, struct session *session);

/* No sessions: end when this lasts as long as configured. */
void engine_check_idle(struct engine *engine);

/*
 * Ask it to end when its sessions have, within `drain_ns`; then it is killed. Takes no new sessions
 * from now on. One that is RETURNING can only be told by a signal (SIGTERM), and ends its sessions.
 */
void engine_stop(struct engine *engine, uint64_t drain_ns);

/* SIGKILL, for a reason that is logged. */
void engine_kill(struct engine *engine, const char *reason);

/* The same once its sessions have ended, or in a moment: it has been told to end them. Takes no new
 * ones. */
void engine_kill_soon(struct engine *engine, const char *reason);

/* The service ends: let go of the process, which goes on; refuse who waits. Off its tenant's list
 * already. */
void engine_abandon(struct engine *engine);

/* It has said that it is ready, or is back. */
void engine_became_ready(struct engine *engine, struct memory_region *flight);

/* It says which devices it has open. */
void engine_opened_devices(struct engine *engine, const struct device_set *devices);

/* The control socket has hung up: it must end soon. */
void engine_control_lost(struct engine *engine, const char *reason);

/* What is done once for each engine that ends, in this order; for engine_lost.c. Sessions that it
 * has not looked at are the next one's. */
void engine_move_sessions(struct engine *engine);
/* What its end means to its tenant is counted and told. `wait_status` as engine_death_describe. */
void engine_settle(struct engine *engine, int wait_status);
/* Sessions that are left are over. */
void engine_end_sessions(struct engine *engine);

/* Hand on what waits, as far as the control socket takes it now. */
void engine_flush(struct engine *engine);

#endif
