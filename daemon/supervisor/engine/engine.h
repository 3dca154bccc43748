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

/*
 * An engine that an earlier service has started and that goes on: it gets its place with its
 * tenant, RETURNING. Takes the pidfd, on success only. 0 or a negative errno.
 */
int engine_expect(struct tenant *tenant, pid_t pid, int pidfd, uint64_t grace_ms,
		  struct engine **engine_out);

/* RETURNING: a process has connected that may be it. Takes the socket. 0 or a negative errno. */
int engine_attach(struct engine *engine, int control);

/* Read its standard error from this descriptor, which is taken and may be -1. */
void engine_log_follow(struct engine *engine, int log);

/* The engine has reported that a session is over. */
void engine_session_closed(struct engine *engine, struct session *session);

/* If it has no session: end it when that lasts as long as configured. */
void engine_check_idle(struct engine *engine);

/* The engine has reported that it is ready, or has come back. */
void engine_became_ready(struct engine *engine, struct memory_region *flight);

/* The engine has reported which devices it has open. */
void engine_opened_devices(struct engine *engine, const struct device_set *devices);

#endif
