/* The ends of an engine: by an order, by a kill, by loss, or by the end of its process. */
#ifndef SYCLD_ENGINE_END_H
#define SYCLD_ENGINE_END_H

#include "service/engine_state.h"

#include <stdint.h>

/* Most messages that are read at the engine's end. */
enum { ENGINE_MESSAGES_AT_END = 4096 };

/* From now on the end of the engine's process is reported. */
void engine_watch_exit(struct engine *engine);

/* After so long the engine is killed; a RETURNING engine is no longer waited for. */
void engine_set_deadline(struct engine *engine, uint64_t ms);

/*
 * Requests the engine's end when its sessions have ended, within `drain_ns`; after that it is
 * killed. It gets no new sessions from now on. A RETURNING engine can only be sent a signal
 * (SIGTERM), which ends its sessions.
 */
void engine_stop(struct engine *engine, uint64_t drain_ns);

/* Sends SIGKILL, for a reason that is logged. */
void engine_kill(struct engine *engine, const char *reason);

/* Kills the engine when its sessions, whose end was requested, have ended, or after a short time.
 * It gets no new ones. */
void engine_kill_soon(struct engine *engine, const char *reason);

/* Called when the control socket has hung up, so that the engine must end soon. */
void engine_control_lost(struct engine *engine, const char *reason);

/* Called at the service's end: frees the state of the process, which continues, and refuses waiting
 * sessions. The tenant's list no longer has the engine. */
void engine_abandon(struct engine *engine);

/* RETURNING: closes the connection of a wrong or refused process. Drops the sessions that it has
 * claimed. */
void engine_detach(struct engine *engine);

/* Prevents new sessions in the engine; waiting and new ones get another engine. It keeps its own
 * sessions. */
void engine_refuse_new_sessions(struct engine *engine);

/* RETURNING: passes waiting sessions to another engine. This one may still connect. */
void engine_release_waiting(struct engine *engine);

/* Counts the engine's end for its tenant, and reports it; for engine/lost.c. `wait_status` as for
 * engine_death_describe. */
void engine_settle(struct engine *engine, int wait_status);

#endif
