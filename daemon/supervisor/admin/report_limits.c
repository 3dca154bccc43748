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

enum { ROWS_OF_ONE = CONFIGURATION_LIMITS + 3 }; /* sessions_per_tenant, share_min, share_max */

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

static void limits_add_row(Sycl__V1__AdminReply *reply, struct report_limits *limits,
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
	limits->list[reply->n_limits++] = facts;
}

static void limits_add_everybody(const struct configuration *configuration,
				 struct report_limits *limits, Sycl__V1__AdminReply *reply)
{
	const struct configuration_share *share = &configuration->shares.everybody;
	struct configuration before;
	configuration_defaults(&before);
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++) {
		const struct configuration_limit *limit = &configuration->limits[i];
		int said = limit->ordered ? ORDERED : CONFIGURED;
		limits_add_row(reply, limits, configuration_limit_names[i],
			       limit->given ? limit->value : defaults[i],
			       limit->given ? said : DEFAULT, NULL);
	}
	bool is_default = configuration->sessions_per_tenant == before.sessions_per_tenant;
	int said = configuration->sessions_ordered ? ORDERED : CONFIGURED;
	limits_add_row(reply, limits, "sessions_per_tenant", configuration->sessions_per_tenant,
		       is_default && said != ORDERED ? DEFAULT : said, NULL);
	said = configuration->shares_ordered ? ORDERED : CONFIGURED;
	limits_add_row(reply, limits, "share_min", share->given ? share->least : 0,
		       share->given ? said : DEFAULT, NULL);
	limits_add_row(reply, limits, "share_max", share->given ? share->most : 100,
		       share->given ? said : DEFAULT, NULL);
}

static void limits_add_tenant(const struct tenant *tenant, struct report_limits *limits,
			      Sycl__V1__AdminReply *reply)
{
	struct configuration_share share = tenant_share(tenant);
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (tenant->limits[i].given)
			limits_add_row(reply, limits, configuration_limit_names[i],
				       tenant->limits[i].value, ORDERED, tenant);
	if (tenant->sessions_most)
		limits_add_row(reply, limits, "sessions_per_tenant", tenant->sessions_most, ORDERED,
			       tenant);
	if (tenant->share_ordered.least || tenant->share.given)
		limits_add_row(reply, limits, "share_min", share.least,
			       tenant->share_ordered.least ? ORDERED : CONFIGURED, tenant);
	if (tenant->share_ordered.most || tenant->share.given)
		limits_add_row(reply, limits, "share_max", share.most,
			       tenant->share_ordered.most ? ORDERED : CONFIGURED, tenant);
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
		limits_add_row(reply, limits, configuration_limit_names[i], session->limits[i],
			       ORDERED, tenant);
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
	if (!limits->rows || !limits->list)
		return false;
	limits_add_everybody(&supervisor->configuration, limits, reply);
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
	free((void *)limits->list);
}
