/* How an engine ends: it gets an order to, is killed, is lost, or its process is gone. */
#ifndef SYCLD_ENGINE_END_H
#define SYCLD_ENGINE_END_H

#include "service/engine_state.h"

#include <stdint.h>

/* Messages that are read at most when it ends. */
enum { ENGINE_MESSAGES_AT_END = 4096 };

/* From now on the end of the engine's process is reported. */
void engine_watch_exit(struct engine *engine);

/* After so long it is killed; or, RETURNING, no longer waited for. */
void engine_set_deadline(struct engine *engine, uint64_t ms);

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

/* The control socket has hung up: it must end soon. */
void engine_control_lost(struct engine *engine, const char *reason);

/* The service ends: free what is known of the process, which goes on, and refuse waiting sessions.
 * The engine is off its tenant's list already. */
void engine_abandon(struct engine *engine);

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

/* Count its end for its tenant, and report it; for engine/lost.c. `wait_status` as for
 * engine_death_describe. */
void engine_settle(struct engine *engine, int wait_status);

#endif
