#include "admin/orders_limit.h"

#include "account/tenant_identity.h"
#include "admin/orders_target.h"
#include "base/log.h"
#include "control.pb-c.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/sessions.h"
#include "engine/sharing.h"
#include "service/supervisor.h"
#include "service/tenant_share.h"
#include "status.h"

#include <string.h>

enum { SESSIONS_MOST = 3000 };

uint64_t order_tenant_limit(const struct tenant *tenant, unsigned index)
{
	const struct configuration_limit *limit = &tenant->limits[index];
	if (!limit->given)
		limit = &tenant->supervisor->configuration.limits[index];
	return limit->given ? limit->value : 0;
}

void order_keep_limit(const struct target *target)
{
	if (target->session &&
	    session_keep_limit(target->session, target->limit, target->order->value) < 0)
		log_warning("order", "no memory to show the limit of session %llu",
			    (unsigned long long)target->session->id);
}

/* Sets the supervisor's own limit on sessions. */
static int order_limit_sessions(struct target *target)
{
	uint64_t value = target->order->value;
	if (target->session)
		return order_refuse(target, STATUS_INVALID,
				    "sessions_per_tenant is a limit of users, not of a session");
	if (value > SESSIONS_MOST || (value == 0 && !target->tenant))
		return order_refuse(target, STATUS_INVALID, "sessions_per_tenant is from 1 to %d",
				    SESSIONS_MOST);
	if (target->tenant)
		target->tenant->sessions_most = (unsigned)value;
	else
		target->supervisor->configuration.sessions_per_tenant = (unsigned)value;
	target->supervisor->configuration.sessions_ordered |= !target->tenant;
	return 0;
}

/* Sets the share of one user, or of all users without an individual share. Shares are the
 * supervisor's own limits, too. */
static int order_limit_share(struct target *target, bool is_most)
{
	uint64_t value = target->order->value;
	struct configuration_share *everybody = &target->supervisor->configuration.shares.everybody;
	if (target->session)
		return order_refuse(target, STATUS_INVALID,
				    "%s is a limit of users, not of a session",
				    target->order->limit);
	if (value > 100)
		return order_refuse(target, STATUS_INVALID, "%s is a percentage, at most 100",
				    target->order->limit);
	struct configuration_share share =
		target->tenant ? tenant_share(target->tenant) : *everybody;
	if (!share.given)
		share.most = 100;
	if (value > 0 && (is_most ? value < share.least : value > share.most))
		return order_refuse(target, STATUS_INVALID,
				    "share_min would be more than share_max");
	if (target->tenant && is_most)
		target->tenant->share_ordered.most = (unsigned)value;
	else if (target->tenant)
		target->tenant->share_ordered.least = (unsigned)value;
	else if (is_most)
		*everybody = (struct configuration_share){true, share.least,
							  value > 0 ? (unsigned)value : 100};
	else
		*everybody = (struct configuration_share){true, (unsigned)value, share.most};
	target->supervisor->configuration.shares_ordered |= !target->tenant;
	sharing_review(target->supervisor);
	return 0;
}

int order_set_limit(struct target *target, bool *is_of_engines_out)
{
	const Sycl__V1__OrderCommand *order = target->order;
	unsigned i = 0;
	if (strcmp(order->limit, "share_min") == 0 || strcmp(order->limit, "share_max") == 0)
		return order_limit_share(target, strcmp(order->limit, "share_max") == 0);
	if (strcmp(order->limit, "sessions_per_tenant") == 0)
		return order_limit_sessions(target);
	while (i < CONFIGURATION_LIMITS && strcmp(configuration_limit_names[i], order->limit) != 0)
		i++;
	if (i == CONFIGURATION_LIMITS)
		return order_refuse(target, STATUS_INVALID, "there is no such limit");
	if (order->value > configuration_limit_most[i])
		return order_refuse(target, STATUS_INVALID, "%s is %llu at most", order->limit,
				    (unsigned long long)configuration_limit_most[i]);
	if (target->session && strncmp(order->limit, "tenant_", strlen("tenant_")) == 0)
		return order_refuse(target, STATUS_INVALID,
				    "%s is a limit of users, not of a session", order->limit);
	struct configuration_limit limit = {
		.given = order->value > 0, .ordered = true, .value = order->value};
	target->limit = i;
	if (!target->session && target->tenant)
		target->tenant->limits[i] = limit;
	else if (!target->session)
		target->supervisor->configuration.limits[i] = limit;
	*is_of_engines_out = true;
	return 0;
}

static void engine_send_limit(struct engine *engine, unsigned index,
			      const struct configuration_limit *limit)
{
	if (engine_send_order(engine, 0, SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT,
			      configuration_limit_names[index],
			      limit->given ? limit->value : 0) < 0)
		log_warning("order", "the limits cannot be sent to the engine of uid %lu",
			    (unsigned long)engine->tenant->uid);
}

void orders_engine_ready(struct engine *engine)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (engine->tenant->limits[i].given)
			engine_send_limit(engine, i, &engine->tenant->limits[i]);
}

void orders_engine_returned(struct engine *engine)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (!engine->tenant->limits[i].given)
			engine_send_limit(engine, i,
					  &engine->tenant->supervisor->configuration.limits[i]);
}

static bool limits_are_equal(const struct configuration_limit *a,
			     const struct configuration_limit *b)
{
	return a->given == b->given && (!a->given || a->value == b->value);
}

/* A tenant that is not connected is looked up when it connects. */
static void tenant_reconsider(struct tenant *tenant)
{
	if (TAILQ_EMPTY(&tenant->engines) && !tenant->lookup)
		tenant->is_identified = false;
	else
		tenant_identify_again(tenant);
}

void orders_reloaded(struct supervisor *supervisor, const struct configuration *before)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		tenant_reconsider(tenant);
	sharing_review(supervisor);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			for (unsigned i = 0; i < CONFIGURATION_LIMITS && engine->was_ready; i++)
				if (!tenant->limits[i].given &&
				    !limits_are_equal(&supervisor->configuration.limits[i],
						      &before->limits[i]))
					engine_send_limit(engine, i,
							  &supervisor->configuration.limits[i]);
}
