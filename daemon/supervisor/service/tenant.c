#include "service/tenant.h"

#include "clock.h"
#include "base/log.h"
#include "service/engine_state.h"
#include "service/supervisor.h"
#include "service/unsettled.h"
#include "base/user_lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull

enum {
	/* Successive engines that may die before they are ready; after that tenants wait. */
	START_FAILURES_FREE = 3,
	RETRY_SECONDS_MAX = 30,
	CRASHES_FREE = 30, /* within CRASH_WINDOW_SECONDS */
	CRASH_WINDOW_SECONDS = 10,
	CRASH_WAIT_SECONDS = 5,
};

struct tenant *tenant_find(struct supervisor *supervisor, uid_t uid)
{
	struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		if (tenant->uid == uid)
			return tenant;
	return NULL;
}

void tenant_remove(struct tenant *tenant)
{
	TAILQ_REMOVE(&tenant->supervisor->tenants, tenant, link);
	tenant->supervisor->tenant_count--;
	tenant->lookup = user_lookup_drop(tenant->lookup);
	account_table_fini(&tenant->ledger);
	free(tenant);
}

struct tenant *tenant_add(struct supervisor *supervisor, uid_t uid)
{
	struct tenant *tenant = calloc(1, sizeof(*tenant));
	if (!tenant)
		return NULL;
	tenant->supervisor = supervisor;
	tenant->uid = uid;
	TAILQ_INIT(&tenant->engines);
	TAILQ_INIT(&tenant->arriving);
	TAILQ_INSERT_TAIL(&supervisor->tenants, tenant, link);
	supervisor->tenant_count++;
	return tenant;
}

void tenant_session_joined(struct tenant *tenant)
{
	tenant->session_count++;
	tenant->supervisor->session_count++;
	tenant->supervisor->observer->sessions_changed(tenant->supervisor);
}

void tenant_session_left(struct tenant *tenant, struct session *session)
{
	tenant->session_count--;
	unsettled_remove(session);
	tenant->supervisor->session_count--;
	tenant->supervisor->observer->sessions_changed(tenant->supervisor);
}

bool tenant_has_orders(const struct tenant *tenant)
{
	return tenant->drained || !limit_orders_are_none(&tenant->orders);
}

void tenant_engine_died(struct tenant *tenant, bool was_ready, bool abnormal, const char *how)
{
	uint64_t now = clock_now_ns();
	tenant->last_use_ns = now;
	if (!abnormal)
		return;
	(void)snprintf(tenant->last_failure, sizeof(tenant->last_failure), "%s", how);
	if (!was_ready) {
		tenant->start_failures++;
		if (tenant->start_failures < START_FAILURES_FREE)
			return;
		unsigned doublings = tenant->start_failures - START_FAILURES_FREE;
		uint64_t seconds = doublings < 5 ? 1ull << doublings : RETRY_SECONDS_MAX;
		tenant->retry_at_ns = now + seconds * SECOND_NS;
		return;
	}
	if (now - tenant->crash_window_ns > CRASH_WINDOW_SECONDS * SECOND_NS) {
		tenant->crash_window_ns = now;
		tenant->crashes = 0;
	}
	if (++tenant->crashes > CRASHES_FREE)
		tenant->retry_at_ns = now + CRASH_WAIT_SECONDS * SECOND_NS;
}

bool tenants_have_all_engines(const struct supervisor *supervisor)
{
	return supervisor->engine_count - supervisor->held_count >=
	       supervisor->configuration.engines;
}

bool tenants_have_returning_engine(const struct supervisor *supervisor)
{
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->state == ENGINE_RETURNING)
				return true;
	return false;
}

void tenants_free(struct supervisor *supervisor)
{
	struct tenant *tenant;
	while ((tenant = TAILQ_FIRST(&supervisor->tenants)))
		tenant_remove(tenant);
}
