#include "admin/report_limits.h"

#include "protocol_limits.h"
#include "service/engine_state.h"
#include "service/supervisor.h"
#include "service/tenant_share.h"

#include <stdlib.h>

#define SECOND_NS 1000000000u

enum {
	DEFAULT = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_DEFAULT,
	CONFIGURED = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_CONFIGURATION,
	ORDERED = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_ORDER,
};

/* All limits, and sessions_per_tenant, share_min, share_max, devices. */
enum { ROWS_OF_ONE = CONFIGURATION_LIMITS + 4 };

/*
 * An engine's own defaults. 0: no limit. A default that never has an effect is shown as no limit.
 */
static const uint64_t defaults[] = {
	LIMIT_OBJECTS,
	LIMIT_ARENAS,
	LIMIT_ARENA_BYTES,
	LIMIT_BUFFER_BYTES,
	LIMIT_GROUPS_IN_FLIGHT,
	LIMIT_BUILDS,
	LIMIT_SOURCE_BYTES,
	LIMIT_BUILD_NS / SECOND_NS,
	LIMIT_BUILD_MEMORY_BYTES,
	0 /* device_bytes */,
	0 /* tenant_device_bytes */,
	0 /* tenant_arena_bytes */,
	0 /* group_seconds */,
	SYCL__V1__SESSION_CLASS__SESSION_CLASS_LATENCY,
	1000 /* weight */,
	LIMIT_ORPHAN_SECONDS,
};
_Static_assert(sizeof(defaults) / sizeof(*defaults) == CONFIGURATION_LIMITS,
	       "in the order of limit_list.h");

static struct limit_text *limits_add_row(Sycl__V1__AdminReply *reply, struct report_limits *limits,
					 const char *name, uint64_t value, int source,
					 const struct tenant *tenant)
{
	Sycl__V1__LimitFacts *facts = &limits->rows[reply->n_limits];
	sycl__v1__limit_facts__init(facts);
	facts->name = (char *)(uintptr_t)name;
	facts->value = value;
	facts->source = (Sycl__V1__LimitSource)source;
	facts->of_user = tenant != NULL;
	facts->uid = tenant ? tenant->uid : 0;
	limits->list[reply->n_limits] = facts;
	return &limits->texts[reply->n_limits++];
}

/* Adds a value of the configuration. A value without a line is shown as a default. */
static struct limit_text *limits_add_configured(const struct configuration *configuration,
						struct configuration_origin origin,
						Sycl__V1__AdminReply *reply,
						struct report_limits *limits, const char *name,
						uint64_t value, const struct tenant *tenant)
{
	struct limit_text *text = limits_add_row(reply, limits, name, value,
						 origin.line ? CONFIGURED : DEFAULT, tenant);
	if (!origin.line)
		return text;
	(void)configuration_origin_text(configuration, origin, text->origin, sizeof(text->origin));
	limits->list[reply->n_limits - 1]->origin = text->origin;
	return text;
}

static void limits_add_devices(const struct configuration *configuration,
			       const struct configuration_devices *devices,
			       struct report_limits *limits, Sycl__V1__AdminReply *reply,
			       const struct tenant *tenant)
{
	struct limit_text *text = limits_add_configured(configuration, devices->origin, reply,
							limits, "devices", 0, tenant);
	limits->list[reply->n_limits - 1]->text = (char *)(uintptr_t)configuration_devices_text(
		devices, text->value, sizeof(text->value));
}

static void limits_add_share(const struct supervisor *supervisor,
			     const struct configuration_share *configured,
			     const struct configuration_share *share,
			     const struct limit_orders *orders, struct report_limits *limits,
			     Sycl__V1__AdminReply *reply, const struct tenant *tenant)
{
	const struct configuration *configuration = &supervisor->configuration;
	const struct configuration_origin nowhere = {.line = 0};
	struct configuration_origin origin = configured->given ? configured->origin : nowhere;
	unsigned least = share->given ? share->least : 0, most = share->given ? share->most : 100;
	if (orders->share_least)
		(void)limits_add_row(reply, limits, "share_min", least, ORDERED, tenant);
	else if (!tenant || configured->given)
		(void)limits_add_configured(configuration, origin, reply, limits, "share_min",
					    least, tenant);
	if (orders->share_most)
		(void)limits_add_row(reply, limits, "share_max", most, ORDERED, tenant);
	else if (!tenant || configured->given)
		(void)limits_add_configured(configuration, origin, reply, limits, "share_max", most,
					    tenant);
}

static void limits_add_everybody(const struct supervisor *supervisor, struct report_limits *limits,
				 Sycl__V1__AdminReply *reply)
{
	const struct configuration *configuration = &supervisor->configuration;
	const struct limit_orders *orders = &supervisor->orders;
	const struct configuration_share share = everybodys_share(supervisor);
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++) {
		const struct configuration_limit *limit = &configuration->limits[i];
		const char *name = configuration_limit_names[i];
		if (orders->limits[i])
			(void)limits_add_row(reply, limits, name, orders->limits[i], ORDERED, NULL);
		else
			(void)limits_add_configured(configuration, limit->origin, reply, limits,
						    name, limit->given ? limit->value : defaults[i],
						    NULL);
	}
	if (orders->sessions_most)
		(void)limits_add_row(reply, limits, "sessions_per_tenant", orders->sessions_most,
				     ORDERED, NULL);
	else
		(void)limits_add_configured(configuration, configuration->sessions_origin, reply,
					    limits, "sessions_per_tenant",
					    configuration->sessions_per_tenant, NULL);
	limits_add_share(supervisor, &configuration->shares.everybody, &share, orders, limits,
			 reply, NULL);
	limits_add_devices(configuration, &configuration->devices, limits, reply, NULL);
}

static void limits_add_tenant(const struct tenant *tenant, struct report_limits *limits,
			      Sycl__V1__AdminReply *reply)
{
	const struct configuration *configuration = &tenant->supervisor->configuration;
	const struct configuration_share share = tenant_share(tenant);
	const struct tenant_settings *settings = &tenant->settings;
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (tenant->orders.limits[i])
			(void)limits_add_row(reply, limits, configuration_limit_names[i],
					     tenant->orders.limits[i], ORDERED, tenant);
		else if (settings->limits[i].given)
			(void)limits_add_configured(configuration, settings->limits[i].origin,
						    reply, limits, configuration_limit_names[i],
						    settings->limits[i].value, tenant);
	if (tenant->orders.sessions_most)
		(void)limits_add_row(reply, limits, "sessions_per_tenant",
				     tenant->orders.sessions_most, ORDERED, tenant);
	else if (settings->sessions.given)
		(void)limits_add_configured(configuration, settings->sessions.origin, reply, limits,
					    "sessions_per_tenant", settings->sessions.value,
					    tenant);
	limits_add_share(tenant->supervisor, &tenant->share, &share, &tenant->orders, limits, reply,
			 tenant);
	if (settings->devices.given)
		limits_add_devices(configuration, &settings->devices, limits, reply, tenant);
}

/* `reply` NULL: their number alone. */
static size_t limits_add_session(const struct tenant *tenant, const struct session *session,
				 struct report_limits *limits, Sycl__V1__AdminReply *reply)
{
	size_t count = 0;
	for (unsigned i = 0; session->limits && i < CONFIGURATION_LIMITS; i++) {
		if (session->limits[i] == 0)
			continue;
		count++;
		if (!reply)
			continue;
		(void)limits_add_row(reply, limits, configuration_limit_names[i],
				     session->limits[i], ORDERED, tenant);
		limits->rows[reply->n_limits - 1].session = session->id;
	}
	return count;
}

static size_t limits_add_sessions(const struct tenant *tenant, struct report_limits *limits,
				  Sycl__V1__AdminReply *reply)
{
	const struct engine *engine;
	const struct session *session;
	size_t count = 0;
	TAILQ_FOREACH (engine, &tenant->engines, link)
		TAILQ_FOREACH (session, &engine->sessions, link)
			count += limits_add_session(tenant, session, limits, reply);
	return count;
}

bool report_limits_add(const struct inquiry *inquiry, struct report_limits *limits,
		       Sycl__V1__AdminReply *reply)
{
	const struct supervisor *supervisor = inquiry->supervisor;
	const struct tenant *tenant;
	size_t room = ROWS_OF_ONE * ((size_t)supervisor->tenant_count + 1);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		room += limits_add_sessions(tenant, limits, NULL);
	limits->rows = calloc(room, sizeof(*limits->rows));
	limits->list = calloc(room, sizeof(void *));
	limits->texts = calloc(room, sizeof(*limits->texts));
	if (!limits->rows || !limits->list || !limits->texts)
		return false;
	limits_add_everybody(supervisor, limits, reply);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		if (inquiry->asker.sees_all || tenant->uid == inquiry->asker.uid) {
			limits_add_tenant(tenant, limits, reply);
			(void)limits_add_sessions(tenant, limits, reply);
		}
	reply->limits = limits->list;
	return true;
}

void report_limits_fini(struct report_limits *limits)
{
	free(limits->rows);
	free(limits->texts);
	free((void *)limits->list);
}
