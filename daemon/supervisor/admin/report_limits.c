#include "admin/report_limits.h"

#include "account/tenant_identity.h"
#include "protocol_limits.h"
#include "service/engine_state.h"
#include "service/supervisor.h"
#include "service/tenant_share.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000u

enum {
	DEFAULT = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_DEFAULT,
	CONFIGURED = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_CONFIGURATION,
	ORDERED = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_ORDER,
};

/* All limits, and sessions_per_tenant, share_min, share_max, devices, mps. */
enum { ROWS_OF_ONE = CONFIGURATION_LIMITS + 5 };

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

/* Adds a value that an operator has ordered. */
static void limits_add_ordered(Sycl__V1__AdminReply *reply, struct report_limits *limits,
			       const char *name, uint64_t value, const struct order_origin *by,
			       const struct tenant *tenant)
{
	struct limit_text *text = limits_add_row(reply, limits, name, value, ORDERED, tenant);
	if (by->since_unix_seconds == 0)
		return;
	sycl__v1__order_origin__init(&text->ordered_by);
	text->ordered_by.uid = by->uid;
	text->ordered_by.since_unix_seconds = by->since_unix_seconds;
	limits->list[reply->n_limits - 1]->ordered_by = &text->ordered_by;
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

static void limits_add_mps(const struct configuration *configuration,
			   const struct configuration_limit *mps, struct report_limits *limits,
			   Sycl__V1__AdminReply *reply, const struct tenant *tenant)
{
	static char yes[] = "yes", no[] = "no";
	(void)limits_add_configured(configuration, mps->origin, reply, limits, "mps", mps->value,
				    tenant);
	limits->list[reply->n_limits - 1]->text = mps->value ? yes : no;
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
		limits_add_ordered(reply, limits, "share_min", least, &orders->least_by, tenant);
	else if (!tenant || configured->given)
		(void)limits_add_configured(configuration, origin, reply, limits, "share_min",
					    least, tenant);
	if (orders->share_most)
		limits_add_ordered(reply, limits, "share_max", most, &orders->most_by, tenant);
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
			limits_add_ordered(reply, limits, name, orders->limits[i],
					   &orders->limits_by[i], NULL);
		else
			(void)limits_add_configured(configuration, limit->origin, reply, limits,
						    name, limit->given ? limit->value : defaults[i],
						    NULL);
	}
	if (orders->sessions_most)
		limits_add_ordered(reply, limits, "sessions_per_tenant", orders->sessions_most,
				   &orders->sessions_by, NULL);
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
			limits_add_ordered(reply, limits, configuration_limit_names[i],
					   tenant->orders.limits[i], &tenant->orders.limits_by[i],
					   tenant);
		else if (settings->limits[i].given)
			(void)limits_add_configured(configuration, settings->limits[i].origin,
						    reply, limits, configuration_limit_names[i],
						    settings->limits[i].value, tenant);
	if (tenant->orders.sessions_most)
		limits_add_ordered(reply, limits, "sessions_per_tenant",
				   tenant->orders.sessions_most, &tenant->orders.sessions_by,
				   tenant);
	else if (settings->sessions.given)
		(void)limits_add_configured(configuration, settings->sessions.origin, reply, limits,
					    "sessions_per_tenant", settings->sessions.value,
					    tenant);
	limits_add_share(tenant->supervisor, &tenant->share, &share, &tenant->orders, limits, reply,
			 tenant);
	if (settings->devices.given)
		limits_add_devices(configuration, &settings->devices, limits, reply, tenant);
	if (settings->mps.given)
		limits_add_mps(configuration, &settings->mps, limits, reply, tenant);
}

/* `reply` NULL: their number alone. */
static size_t limits_add_session(const struct tenant *tenant, const struct session *session,
				 struct report_limits *limits, Sycl__V1__AdminReply *reply)
{
	size_t count = 0;
	for (unsigned i = 0; session->limits && i < CONFIGURATION_LIMITS; i++) {
		if (session->limits[i].value == 0)
			continue;
		count++;
		if (!reply)
			continue;
		limits_add_ordered(reply, limits, configuration_limit_names[i],
				   session->limits[i].value, &session->limits[i].by, tenant);
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

/* -------------------------- sections of users and groups ------------------------------ */

/* Makes the latest row one of the section's user or group. */
static void limits_set_owner(struct report_limits *limits, const Sycl__V1__AdminReply *reply,
			     const struct configuration_owner *owner)
{
	Sycl__V1__LimitFacts *facts = limits->list[reply->n_limits - 1];
	struct limit_text *text = &limits->texts[reply->n_limits - 1];
	facts->of_user = true;
	facts->uid = owner->whose == SHARE_OF_UID ? owner->uid : UINT32_MAX;
	if (owner->whose == SHARE_OF_UID)
		return;
	(void)snprintf(text->owner, sizeof(text->owner), "%s %s",
		       owner->whose == SHARE_OF_USER ? "user" : "group", owner->name);
	facts->owner = text->owner;
}

/* The rows of a user whose settings are known have what sections give that user. A group may have
 * more members. */
static bool section_is_shown(const struct inquiry *inquiry, const struct configuration_owner *owner,
			     const struct configuration_origin *share, uint64_t section)
{
	const struct tenant *tenant;
	if (!inquiry->asker.sees_all &&
	    (owner->whose != SHARE_OF_UID || owner->uid != inquiry->asker.uid))
		return false;
	if (owner->whose == SHARE_OF_GROUP)
		return true;
	TAILQ_FOREACH (tenant, &inquiry->supervisor->tenants, link)
		if (tenant_settings_are_known(tenant) &&
		    (share ? tenant->share.given && tenant->share.origin.file == share->file &&
				     tenant->share.origin.line == share->line
			   : (tenant->sections & section) != 0))
			return false;
	return true;
}

static void limits_add_section(const struct configuration *configuration, unsigned section,
			       struct report_limits *limits, Sycl__V1__AdminReply *reply)
{
	const struct configuration_settings *settings = &configuration->people.settings[section];
	const struct configuration_owner *owner = &configuration->people.owners.list[section];
	for (unsigned i = 0; i <= CONFIGURATION_LIMITS; i++) {
		const struct configuration_limit *limit =
			i < CONFIGURATION_LIMITS ? &settings->limits[i] : &settings->sessions;
		if (!limit->given)
			continue;
		(void)limits_add_configured(configuration, limit->origin, reply, limits,
					    i < CONFIGURATION_LIMITS ? configuration_limit_names[i]
								     : "sessions_per_tenant",
					    limit->value, NULL);
		limits_set_owner(limits, reply, owner);
	}
	if (settings->devices.given) {
		limits_add_devices(configuration, &settings->devices, limits, reply, NULL);
		limits_set_owner(limits, reply, owner);
	}
	if (settings->mps.given) {
		limits_add_mps(configuration, &settings->mps, limits, reply, NULL);
		limits_set_owner(limits, reply, owner);
	}
}

static void limits_add_share_entry(const struct configuration *configuration,
				   const struct configuration_share_entry *entry,
				   struct report_limits *limits, Sycl__V1__AdminReply *reply)
{
	(void)limits_add_configured(configuration, entry->share.origin, reply, limits, "share_min",
				    entry->share.least, NULL);
	limits_set_owner(limits, reply, &entry->owner);
	(void)limits_add_configured(configuration, entry->share.origin, reply, limits, "share_max",
				    entry->share.most, NULL);
	limits_set_owner(limits, reply, &entry->owner);
}

/* Adds what the configuration has for users who have not connected yet, and for groups. Those of
 * users come first, because they precede those of groups. */
static void limits_add_sections(const struct inquiry *inquiry, struct report_limits *limits,
				Sycl__V1__AdminReply *reply)
{
	const struct configuration *configuration = &inquiry->supervisor->configuration;
	const struct configuration_owners *owners = &configuration->people.owners;
	const struct configuration_shares *shares = &configuration->shares;
	for (int of_group = 0; of_group <= 1; of_group++) {
		for (unsigned i = 0; i < owners->count; i++)
			if ((owners->list[i].whose == SHARE_OF_GROUP) == of_group &&
			    section_is_shown(inquiry, &owners->list[i], NULL, 1ull << i))
				limits_add_section(configuration, i, limits, reply);
		for (unsigned i = 0; i < shares->count; i++)
			if ((shares->entries[i].owner.whose == SHARE_OF_GROUP) == of_group &&
			    section_is_shown(inquiry, &shares->entries[i].owner,
					     &shares->entries[i].share.origin, 0))
				limits_add_share_entry(configuration, &shares->entries[i], limits,
						       reply);
	}
}

bool report_limits_add(const struct inquiry *inquiry, struct report_limits *limits,
		       Sycl__V1__AdminReply *reply)
{
	const struct supervisor *supervisor = inquiry->supervisor;
	const struct tenant *tenant;
	size_t room = ROWS_OF_ONE * ((size_t)supervisor->tenant_count + 1 +
				     supervisor->configuration.people.owners.count) +
		      2 * (size_t)supervisor->configuration.shares.count;
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
	limits_add_sections(inquiry, limits, reply);
	reply->limits = limits->list;
	return true;
}

void report_limits_fini(struct report_limits *limits)
{
	free(limits->rows);
	free(limits->texts);
	free((void *)limits->list);
}
