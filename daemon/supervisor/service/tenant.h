/*
 * A tenant is a uid. It has one engine that takes new sessions, or one engine per session
 * (isolation = session), and perhaps older ones that are ending.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_H
#define SYCLD_SUPERVISOR_TENANT_H

#include "base/account_table.h"
#include "base/configuration.h"
#include "base/log_window.h"
#include "service/service_state.h"
#include "service/session.h"
#include "base/refusal.h"
#include "status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct engine;
struct supervisor;
struct user_lookup;

/* tenant_forget.h: of all, and of uids that the user database does not know. */
enum { TENANTS_MAX = 2048, TENANTS_UNKNOWN_MAX = 256, TENANT_FAILURE_BYTES = REFUSAL_CAUSE_BYTES };

/* No user's uid: the row that adds up the figures of tenants that have no row of their own any
 * more. */
#define TENANT_OTHERS ((uid_t)-1)

TAILQ_HEAD(engine_list, engine);

struct tenant {
	TAILQ_ENTRY(tenant) link;
	struct supervisor *supervisor;
	uid_t uid;
	gid_t gid; /* of the user database; never the peer's, who may have it from a set-group-id
		      program */
	/* tenant_identity.h */
	struct user_lookup *lookup; /* what is being asked; NULL: nothing */
	bool is_identified;         /* `gid`, `share` and the next are known */
	bool is_unknown;            /* to the user database, as far as it was asked */
	uint64_t identified_ns;
	/* tenant_arrivals.h */
	struct session_list arriving;
	unsigned arriving_count;
	bool made_room; /* an engine was told to end for one of this tenant's, where it has one for
			   all sessions */
	struct engine_list engines;
	struct engine_log_window
		log;            /* what they may say; of users who are unknown: `unknown_log` */
	struct engine *current; /* takes new sessions; NULL: start one */
	unsigned session_count;
	unsigned unsettled_count; /* sessions that are not open yet: each holds descriptors of the
				     supervisor */
	unsigned start_failures;  /* engines in a row that died before they were ready */
	unsigned crashes;         /* of ready engines, within the present window */
	uint64_t crash_window_ns;
	uint64_t retry_at_ns; /* no engine is started before this */
	uint64_t last_use_ns;
	char last_failure[TENANT_FAILURE_BYTES];
	struct service_state_account account; /* what its sessions that are over have used */
	struct account_table ledger;          /* the same by control group and device */
	/* As an operator wants it, until the service ends; a tenant with any of these is not
	 * forgotten. */
	bool drained;           /* nobody new is served */
	unsigned sessions_most; /* 0: as configured */
	struct configuration_limit limits[CONFIGURATION_LIMITS];
	struct configuration_share
		share; /* as configured for this user; not given: as for everybody */
	struct {
		unsigned least, most; /* percent; 0: as configured */
	} share_ordered;
	uint64_t warm_devices; /* for the engine that is being started */
	/* It may not open the devices that one has prepared (never), or one did not become its
	 * engine; 0: it may have one. */
	uint64_t no_standby_until_ns;
};

TAILQ_HEAD(tenant_list, tenant);

/* Adds a tenant to the list; no check. NULL: no memory. */
struct tenant *tenant_add(struct supervisor *supervisor, uid_t uid);

/* Nothing of it is left. It has no engine. */
void tenant_remove(struct tenant *tenant);

/* The tenant if it is known, else NULL. */
struct tenant *tenant_find(struct supervisor *supervisor, uid_t uid);

/* An operator has ordered something of it, which must not be forgotten. */
bool tenant_has_orders(const struct tenant *tenant);
/* How many sessions it may have: as ordered, else as configured. */
unsigned tenant_sessions_most(const struct tenant *tenant);

/* A session counts, and does not any more. */
void tenant_session_joined(struct tenant *tenant);
void tenant_session_left(struct tenant *tenant, struct session *session);

/* An engine of the tenant died: how soon may the next one start? */
void tenant_engine_died(struct tenant *tenant, bool was_ready, bool abnormal, const char *how);

/* There are as many engines as there may be; those that are held do not count. */
bool tenants_have_all_engines(const struct supervisor *supervisor);

/* Forget every tenant; none may have an engine. */
void tenants_free(struct supervisor *supervisor);

#endif
