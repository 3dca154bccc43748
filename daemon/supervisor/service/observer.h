/*
 * What the lower rooms report to the rooms above them. The composition root
 * (process/supervisor.c) fills the table before the first engine starts, so that no lower room
 * names an upper one. Every function runs on the loop's thread, and none may block.
 */
#ifndef SYCLD_SUPERVISOR_OBSERVER_H
#define SYCLD_SUPERVISOR_OBSERVER_H

#include "control.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct session;
struct supervisor;
struct tenant;

struct service_observer {
	/* `session_count` or `engine_count` has changed: for the idle exit, the status line, the
	 * end. An engine that ended may have been the last one of its tenant, which may be gone
	 * afterwards. */
	void (*sessions_changed)(struct supervisor *supervisor);
	void (*engine_ended)(struct supervisor *supervisor);

	/* The engine takes messages now; the first message it gets is one from here. */
	void (*starts_taking)(struct engine *engine);
	/* The engine has come back from an earlier service. */
	void (*returned)(struct engine *engine);
	/* The engine has what it needs to answer questions. */
	void (*ready)(struct engine *engine);
	/* The engine answers nothing any more. */
	void (*gone)(struct engine *engine);
	/* The engine has answered this question in full. */
	void (*answered)(struct engine *engine, uint64_t request);
	/* A part of a trace has come. False: the engine sent more than it was asked for. */
	bool (*traced)(struct engine *engine, const Sycl__V1__EngineTrace *message);
	/* A session of some engine is over; it is freed afterwards. */
	void (*session_ended)(struct supervisor *supervisor, const struct session *session);
	/* The user database has said which user the tenant is. */
	void (*tenant_identified)(const struct tenant *tenant);
};

#endif
