/*
 * Reports of the lower folders to the folders above them. The composition root
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
	/* `session_count` or `engine_count` has changed: for the idle exit, the status line and the
	 * end. The engine that ended may have been the last one of its tenant, and the tenant may
	 * be freed by the call. */
	void (*sessions_changed)(struct supervisor *supervisor);
	void (*engine_ended)(struct supervisor *supervisor);
	/* Engines have started or left service: the file for the next service is written. */
	void (*engines_changed)(struct supervisor *supervisor);
	/* The same, after a delay: the accounts of tenants have changed. */
	void (*accounts_changed)(struct supervisor *supervisor);
	/* A session has lost its engine before the engine read anything of it. Takes the session.
	 */
	void (*session_unplaced)(struct tenant *tenant, struct session *session);
	/* A device has failed the tenant's engine: start another one, with these devices open. */
	void (*engine_wanted)(struct tenant *tenant, uint64_t devices);
	/* A session that is not open has to be given up; `text` is for its client. */
	void (*session_overdue)(struct session *session, const char *text);
	/* The client of a silent session has sent something or has hung up. */
	void (*session_readable)(struct session *session);
	/* Messages of the engine can be read, `most` at most. */
	void (*received)(struct engine *engine, unsigned most);

	/* The engine takes messages now, and the first one is sent from here. */
	void (*starts_taking)(struct engine *engine);
	/* The engine has come back from an earlier service. */
	void (*returned)(struct engine *engine);
	/* The engine accepts requests. */
	void (*ready)(struct engine *engine);
	/* The engine replies to nothing any more. */
	void (*gone)(struct engine *engine);
	/* The engine has sent its whole reply to this request. */
	void (*answered)(struct engine *engine, uint64_t request);
	/* A part of a trace has come. False: the engine sent more than was requested. */
	bool (*traced)(struct engine *engine, const Sycl__V1__EngineTrace *message);
	/* A session of some engine is over; it is freed afterwards. */
	void (*session_ended)(struct supervisor *supervisor, const struct session *session);
	/* The user database has identified the tenant's user. */
	void (*tenant_identified)(struct tenant *tenant);
};

#endif
