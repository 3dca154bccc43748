/* A tenant is a uid. It has one engine that takes new sessions, or one engine for each session
 * (isolation = session), and perhaps older ones that are ending. */
#ifndef SYCLD_SUPERVISOR_TENANT_H
#define SYCLD_SUPERVISOR_TENANT_H

#include "base/order_origin.h"
#include "base/account_table.h"
#include "base/configuration.h"
#include "base/log_window.h"
#include "service/service_state.h"
#include "service/session.h"
#include "service/tenant_limits.h"
#include "base/refusal.h"
#include "status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct engine;
struct supervisor;
struct user_lookup;

/* account/tenant_forget.h: limits of all tenants, and of those with uids that are not in the user
 * database. */
enum { TENANTS_MAX = 2048, TENANTS_UNKNOWN_MAX = 256, TENANT_FAILURE_BYTES = REFUSAL_CAUSE_BYTES };

/* No user's uid: the tenant with the figures of tenants that no longer have their own row. */
#define TENANT_OTHERS ((uid_t)-1)

TAILQ_HEAD(engine_list, engine);

struct tenant {
	TAILQ_ENTRY(tenant) link;
	struct supervisor *supervisor;
	uid_t uid;
	/* From the user database; never the peer's, which a set-group-id program may have. */
	gid_t gid;
	/* account/tenant_identity.h */
	struct user_lookup *lookup; /* the current look-up; NULL: none */
	bool is_identified;         /* `gid`, `share` and the next member are known */
	bool is_unknown;            /* the uid is not in the user database, by the last look-up */
	bool was_found;             /* a look-up since the service started has found the uid */
	bool is_stale;              /* sections with names have changed since the last look-up */
	uint64_t identified_ns;
	uint64_t failed_ns; /* when the latest look-up failed; 0: it did not fail */
	/* engine/tenant_arrivals.h */
	struct session_list arriving;
	unsigned arriving_count;
	/* The end of an engine was requested to make room for this tenant's, if one engine has all
	 * its sessions. */
	bool made_room;
	struct engine_list engines;
	/* Room of its engines in the log; unknown users share `unknown_log`. */
	struct engine_log_window log;
	struct engine *current; /* takes new sessions; NULL: none, and one is started on demand */
	unsigned session_count;
	/* Sessions that are not open yet; each holds descriptors of the supervisor. */
	unsigned unsettled_count;
	unsigned start_failures; /* successive engines that died before they were ready */
	unsigned crashes;        /* crashes of ready engines in the present window */
	uint64_t crash_window_ns;
	uint64_t retry_at_ns; /* no engine is started before this */
	uint64_t last_use_ns;
	char last_failure[TENANT_FAILURE_BYTES];
	struct service_state_account account; /* use of the sessions that have ended */
	struct account_table ledger;          /* the same by control group and device */
	/* Orders of operators to this service or an earlier one. A tenant with an order is not
	 * forgotten. */
	bool drained; /* no new session is accepted */
	struct order_origin drained_by;
	struct limit_orders orders;
	struct configuration_share
		share; /* As configured for this user; not given: as for all users. */
	struct tenant_settings settings; /* as configured for this user and the user's groups */
	uint64_t sections;               /* bit n: section n is in `settings` */
	uint64_t warm_devices;           /* devices to open at the start of the next engine */
	/* The tenant may not open the prepared devices (never again), or a standby failed to become
	 * its engine. 0: it may have a standby. */
	uint64_t no_standby_until_ns;
};

TAILQ_HEAD(tenant_list, tenant);

/* Adds a tenant to the list; no check. NULL: no memory. */
struct tenant *tenant_add(struct supervisor *supervisor, uid_t uid);

/* Frees the tenant and all its state. It must have no engine. */
void tenant_remove(struct tenant *tenant);

/* Returns the tenant if it is known, else NULL. */
struct tenant *tenant_find(struct supervisor *supervisor, uid_t uid);

/* True if an operator has given an order that must be kept. */
bool tenant_has_orders(const struct tenant *tenant);

/* Count a session, and stop counting it. */
void tenant_session_joined(struct tenant *tenant);
void tenant_session_left(struct tenant *tenant, struct session *session);

/* Called when an engine of the tenant died: decides how soon the next one may start. */
void tenant_engine_died(struct tenant *tenant, bool was_ready, bool abnormal, const char *how);

/* True if there are as many engines as configured. Held ones do not count. */
bool tenants_have_all_engines(const struct supervisor *supervisor);

/* True if an engine of the last service has not returned yet. It usually has sessions that this
 * service does not have. */
bool tenants_have_returning_engine(const struct supervisor *supervisor);

/* Frees every tenant; none may have an engine. */
void tenants_free(struct supervisor *supervisor);

#endif
