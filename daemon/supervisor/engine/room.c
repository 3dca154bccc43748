#include "engine/room.h"

#include "engine/end.h"
#include "base/log.h"
#include "service/supervisor.h"
#include "service/tenant.h"

#include <stdio.h>

enum { PARTS = 4 };

/*
 * Returns the most engines of one user, or of all users together that are not in the user database.
 */
static unsigned engine_part_most(const struct supervisor *supervisor)
{
	unsigned engines = supervisor->configuration.engines;
	if (!supervisor->privileged)
		return engines;
	return engines > PARTS ? engines / PARTS : 1;
}

static bool tenant_is_of_part(const struct tenant *other, const struct tenant *tenant)
{
	return other == tenant || (tenant->is_unknown && other->is_unknown);
}

static unsigned engine_part_count(const struct tenant *tenant)
{
	unsigned count = 0;
	const struct tenant *other;
	const struct engine *engine;
	TAILQ_FOREACH (other, &tenant->supervisor->tenants, link)
		if (tenant_is_of_part(other, tenant))
			TAILQ_FOREACH (engine, &other->engines, link)
				count += !engine->is_held;
	return count;
}

static bool engine_part_is_full(const struct tenant *tenant)
{
	return engine_part_count(tenant) >= engine_part_most(tenant->supervisor);
}

bool engine_room_has(const struct tenant *tenant, struct refusal *refusal_out)
{
	const struct supervisor *supervisor = tenant->supervisor;
	bool part_full = engine_part_is_full(tenant), all = tenants_have_all_engines(supervisor);
	refusal_out->code = STATUS_QUOTA;
	if (all)
		(void)snprintf(refusal_out->text, sizeof(refusal_out->text),
			       "the service runs as many engines as it may (%u)",
			       supervisor->configuration.engines);
	else if (part_full)
		(void)snprintf(refusal_out->text, sizeof(refusal_out->text),
			       "%s as many engines as %s may (%u of %u)",
			       tenant->is_unknown
				       ? "users that are not in the user database have, together,"
				       : "this user has",
			       tenant->is_unknown ? "they" : "one", engine_part_most(supervisor),
			       supervisor->configuration.engines);
	return !part_full && !all;
}

static bool engine_is_idle(const struct engine *engine)
{
	return engine->state == ENGINE_READY && engine->sessions_count == 0 &&
	       engine->waiting_count == 0;
}

bool engine_room_make(const struct tenant *tenant, bool *asked)
{
	bool of_part = engine_part_is_full(tenant);
	unsigned ending = 0;
	struct engine *engine, *longest = NULL;
	const struct tenant *other;
	TAILQ_FOREACH (other, &tenant->supervisor->tenants, link) {
		if (of_part && !tenant_is_of_part(other, tenant))
			continue;
		TAILQ_FOREACH (engine, &other->engines, link) {
			ending += engine->state == ENGINE_STOPPING && !engine->is_held;
			if (engine_is_idle(engine) &&
			    (!longest || engine->idle_since_ns < longest->idle_since_ns))
				longest = engine;
		}
	}
	if (!longest || (*asked && ending > 0))
		return ending > 0;
	log_info("engine", "pid %ld of uid %lu has been idle for longest: stopping it for uid %lu",
		 (long)longest->pid, (unsigned long)longest->tenant->uid,
		 (unsigned long)tenant->uid);
	engine_stop(longest, 0);
	*asked = true;
	return true;
}
