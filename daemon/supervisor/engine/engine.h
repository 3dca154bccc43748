/*
 * An engine process, from its start, or from its adoption if it was the standby (engine/standby.h),
 * until it is reaped. Its states are in service/engine_state.h.
 *
 * The engine runs its tenant's code, so its messages are claims. Malformed or unrequested messages
 * end it.
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

/* Starts an engine for the tenant, or for its job (not NULL). With `may_adopt` the standby becomes
 * the engine, if there is one. 0, or a negative errno: there is no engine then. */
int engine_start(struct tenant *tenant, struct job *job, bool may_adopt,
		 struct engine **engine_out);

/* Adds an engine that an earlier service has started and that continues. It is RETURNING. Takes the
 * pidfd, on success only. 0 or a negative errno. */
int engine_expect(struct tenant *tenant, pid_t pid, int pidfd, uint64_t grace_ms,
		  struct engine **engine_out);

/* RETURNING: a process has connected that may be the engine. Takes the socket. 0 or a negative
 * errno. */
int engine_attach(struct engine *engine, int control);

/* Reads the engine's standard error from this descriptor, which is taken and may be -1. */
void engine_log_follow(struct engine *engine, int log);

/* Called when the engine has reported the end of a session. */
void engine_session_closed(struct engine *engine, struct session *session);

/* If the engine has no session, starts the configured time after which it ends. */
void engine_check_idle(struct engine *engine);

/* Called when the engine has reported that it is ready, or has returned. */
void engine_became_ready(struct engine *engine, struct memory_region *flight);

/* Called when the engine has reported its open devices. */
void engine_opened_devices(struct engine *engine, const struct device_set *devices);

#endif
