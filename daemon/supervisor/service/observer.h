/*
 * Reports of the lower folders to higher folders. The composition root (process/supervisor.c) fills
 * the table before the first engine starts, so that no lower folder names a higher one. Every
 * function runs on the loop's thread, and none may block.
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
	/*
	 * `session_count` or `engine_count` has changed; used for the idle exit, the status line
	 * and the end. The engine that ended may have been its tenant's last one, and the call may
	 * free the tenant.
	 */
	void (*sessions_changed)(struct supervisor *supervisor);
	void (*engine_ended)(struct supervisor *supervisor);
	/* Engines have started or left service, so the file for the next service is written. */
	void (*engines_changed)(struct supervisor *supervisor);
	/* The accounts of tenants have changed, so the file is written after a delay. */
	void (*accounts_changed)(struct supervisor *supervisor);
	/*
	 * A session has lost its engine before the engine read any of its data. Takes the session.
	 */
	void (*session_unplaced)(struct tenant *tenant, struct session *session);
	/* The tenant's engine has lost a device: starts another engine with these devices open. */
	void (*engine_wanted)(struct tenant *tenant, uint64_t devices);
	/* A session that is not open must be given up; `text` is for its client. */
	void (*session_overdue)(struct session *session, const char *text);
	/* The client of a silent session has sent data or has hung up. */
	void (*session_readable)(struct session *session);
	/* Reads messages of the engine, `most` at most. */
	void (*received)(struct engine *engine, unsigned most);

	/* The engine accepts messages, and this call sends the first one. */
	void (*starts_taking)(struct engine *engine);
	/* The engine has returned from an earlier service. */
	void (*returned)(struct engine *engine);
	/* The engine accepts requests. */
	void (*ready)(struct engine *engine);
	/* The engine will not reply any more. */
	void (*gone)(struct engine *engine);
	/* The engine has sent its complete reply to this request. */
	void (*answered)(struct engine *engine, uint64_t request);
	/* A part of a trace has arrived. False: the engine sent more than was requested. */
	bool (*traced)(struct engine *engine, const Sycl__V1__EngineTrace *message);
	/* A session of some engine has ended; it is freed afterwards. */
	void (*session_ended)(struct supervisor *supervisor, const struct session *session);
	/* The user database has identified the tenant's user. */
	void (*tenant_identified)(struct tenant *tenant);
};

#endif
