/*
 * What each tenant has used, over all of its engines, and over restarts of the service (service_state.h). It is what engines say
 * of their tenant's own sessions: at a session's end, and of sessions whose engine died what it reported last.
 */
#ifndef SYCLD_SUPERVISOR_ACCOUNT_H
#define SYCLD_SUPERVISOR_ACCOUNT_H

#include "control.pb-c.h"
#include "service_state.h"

#include <stdbool.h>

struct engine;
struct tenant;

/* A session is over. `usage` NULL: nothing is known of it. */
void account_session_ended(struct tenant *tenant, const Sycl__V1__Usage *usage);

/* An engine is gone, with the sessions that it still has. */
void account_engine_ended(struct engine *engine, bool has_failed);

/* Has it used anything at all? */
bool account_is_empty(const struct service_state_account *account);

/* Add what a report of the engine says of sessions that it still has: what has ended since is counted already. */
void account_add_report(struct service_state_account *account, struct engine *engine,
			const Sycl__V1__EngineReport *report);
void account_fill(const struct service_state_account *account, Sycl__V1__Usage *usage_out);

#endif
