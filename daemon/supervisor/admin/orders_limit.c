#include "admin/orders_limit.h"

#include "account/tenant_identity.h"
#include "admin/orders_sessions.h"
#include "admin/orders_target.h"
#include "base/log.h"
#include "control.pb-c.h"
#include "engine/control.h"
#include "engine/end.h"
#include "engine/engine.h"
#include "engine/sessions.h"
#include "engine/sharing.h"
#include "nearest_word.h"
#include "service/supervisor.h"
#include "service/tenant_share.h"
#include "status.h"

#include <string.h>

enum { SESSIONS_MOST = 3000 };

void order_keep_limit(const struct target *target)
{
	if (target->session &&
	    session_keep_limit(target->session, target->limit, target->order->value,
			       order_origin_of(target)) < 0)
		log_warning("order", "no memory to show the limit of session %llu",
			    (unsigned long long)target->session->id);
}

static struct limit_orders *target_orders(const struct target *target)
{
	return target->tenant ? &target->tenant->orders : &target->supervisor->orders;
}

/* Sets the supervisor's own limit on sessions. */
static int order_limit_sessions(struct target *target)
{
	uint64_t value = target->order->value;
	if (target->session)
		return order_refuse(target, STATUS_INVALID,
				    "sessions_per_tenant is a limit of users, not of a session");
	if (value > SESSIONS_MOST)
		return order_refuse(target, STATUS_INVALID, "sessions_per_tenant is from 1 to %d",
				    SESSIONS_MOST);
	target_orders(target)->sessions_most = (unsigned)value;
	target_orders(target)->sessions_by = order_origin_of(target);
	return 0;
}

/* Sets the share of one user, or of all users without an individual share. Shares are the
 * supervisor's own limits, too. */
static int order_limit_share(struct target *target, bool is_most)
{
	uint64_t value = target->order->value;
	if (target->session)
		return order_refuse(target, STATUS_INVALID,
				    "%s is a limit of users, not of a session",
				    target->order->limit);
	if (value > 100)
		return order_refuse(target, STATUS_INVALID, "%s is a percentage, at most 100",
				    target->order->limit);
	struct configuration_share share = target->tenant ? tenant_share(target->tenant)
							  : everybodys_share(target->supervisor);
	if (!share.given)
		share.most = 100;
	if (value > 0 && (is_most ? value < share.least : value > share.most))
		return order_refuse(target, STATUS_INVALID,
				    "share_min would be more than share_max");
	struct limit_orders *orders = target_orders(target);
	*(is_most ? &orders->share_most : &orders->share_least) = (unsigned)value;
	*(is_most ? &orders->most_by : &orders->least_by) = order_origin_of(target);
	sharing_review(target->supervisor);
	return 0;
}

/* Suggests the most similar limit. */
static int order_refuse_limit(struct target *target)
{
	static const char *const others[] = {"share_min", "share_max", "sessions_per_tenant"};
	struct nearest_word nearest = {.wrong = target->order->limit};
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		nearest_word_consider(&nearest, configuration_limit_names[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		nearest_word_consider(&nearest, others[i]);
	if (nearest.found)
		return order_refuse(target, STATUS_INVALID,
				    "there is no such limit: '%s'. Did you mean '%s'?",
				    nearest.wrong, nearest.found);
	return order_refuse(target, STATUS_INVALID,
			    "there is no such limit: 'syclctl limits' lists them");
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
		return order_refuse_limit(target);
	if (order->value > configuration_limit_most[i])
		return order_refuse(target, STATUS_INVALID, "%s is %llu at most", order->limit,
				    (unsigned long long)configuration_limit_most[i]);
	if (target->session && strncmp(order->limit, "tenant_", strlen("tenant_")) == 0)
		return order_refuse(target, STATUS_INVALID,
				    "%s is a limit of users, not of a session", order->limit);
	target->limit = i;
	if (!target->session) {
		target_orders(target)->limits[i] = order->value;
		target_orders(target)->limits_by[i] = order_origin_of(target);
	}
	*is_of_engines_out = true;
	return 0;
}

/* Sends the limits that have changed. */
static void engine_review_limits(struct engine *engine)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++) {
		uint64_t value = engine_limit(engine, i);
		if (engine->limits_sent[i] == value)
			continue;
		if (engine_send_order(engine, 0, SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT,
				      configuration_limit_names[i], value) == 0) {
			engine->limits_sent[i] = value;
			continue;
		}
		log_warning("order", "the engine of uid %lu does not take its limits",
			    (unsigned long)engine->tenant->uid);
		return;
	}
}

static bool engine_has_other_devices(const struct engine *engine)
{
	const struct configuration_devices allowed = engine_devices(engine), *devices = &allowed;
	if (!engine->devices_known)
		return devices->given;
	if (devices->given != engine->allowed.given)
		return true;
	return devices->given && (!device_set_has(&devices->set, &engine->allowed.set) ||
				  !device_set_has(&engine->allowed.set, &devices->set));
}

/* An engine keeps the devices that it was started with, because sessions have objects on them. If
 * the devices have changed, new sessions get another engine. */
static void engine_review_devices(struct engine *engine)
{
	if (engine->state == ENGINE_STOPPING || !engine_has_other_devices(engine) ||
	    !engine_is_current(engine))
		return;
	log_info("engine",
		 "pid %ld of uid %lu takes no new sessions: the devices of this user have changed",
		 (long)engine->pid, (unsigned long)engine->tenant->uid);
	engine->is_retired = true;
	engine_refuse_new_sessions(engine);
	engine->tenant->supervisor->observer->engines_changed(engine->tenant->supervisor);
	engine_check_idle(engine);
}

void orders_engine_ready(struct engine *engine)
{
	if (engine->tenant->is_identified)
		engine_review_limits(engine);
}

void orders_engine_returned(struct engine *engine)
{
	struct tenant *tenant = engine->tenant;
	kept_of_sessions_recall(engine);
	if (!tenant->is_identified && !tenant->lookup)
		tenant_identify_again(tenant);
	/* Otherwise they are compared when the user's settings are known. */
	if (tenant_settings_are_known(tenant))
		engine_review_devices(engine);
}

void orders_tenant_identified(struct tenant *tenant)
{
	struct engine *engine, *next;
	/* After a failed look-up the limits and devices of this user are not known. */
	if (!tenant->is_identified)
		return;
	for (engine = TAILQ_FIRST(&tenant->engines); engine; engine = next) {
		next = TAILQ_NEXT(engine, link);
		if (engine->was_ready && engine->state == ENGINE_READY)
			engine_review_limits(engine);
		engine_review_devices(engine);
	}
}

/* A tenant that is not connected is looked up when it connects. */
static void tenant_reconsider(struct tenant *tenant)
{
	if (TAILQ_EMPTY(&tenant->engines) && !tenant->lookup)
		tenant->is_identified = false;
	else
		tenant_identify_again(tenant);
}

void orders_reloaded(struct supervisor *supervisor)
{
	struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		tenant_reconsider(tenant);
	sharing_review(supervisor);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		if (!tenant->lookup)
			orders_tenant_identified(tenant);
}
