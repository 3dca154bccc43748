#include "service/tenant_limits.h"

#include "service/supervisor.h"
#include "service/tenant.h"

bool limit_orders_are_none(const struct limit_orders *orders)
{
	bool any = orders->sessions_most > 0 || orders->share_least > 0 || orders->share_most > 0;
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		any |= orders->limits[i] > 0;
	return !any;
}

static void settings_add(struct tenant_settings *settings,
			 const struct configuration_settings *more)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (!settings->limits[i].given)
			settings->limits[i] = more->limits[i];
	if (!settings->sessions.given)
		settings->sessions = more->sessions;
	if (!settings->devices.given)
		settings->devices = more->devices;
	if (!settings->mps.given)
		settings->mps = more->mps;
}

void tenant_take_sections(struct tenant *tenant, uint64_t sections)
{
	const struct configuration_people *people = &tenant->supervisor->configuration.people;
	tenant->settings = (struct tenant_settings){.limits = {{.given = false}}};
	tenant->sections = sections;
	for (int of_group = 0; of_group <= 1; of_group++)
		for (unsigned i = 0; i < people->owners.count; i++)
			if ((people->owners.list[i].whose == SHARE_OF_GROUP) == of_group &&
			    (sections >> i & 1))
				settings_add(&tenant->settings, &people->settings[i]);
}

uint64_t tenant_limit(const struct tenant *tenant, unsigned index)
{
	const struct supervisor *supervisor = tenant->supervisor;
	const struct configuration_limit *limit = &supervisor->configuration.limits[index];
	if (tenant->orders.limits[index] > 0)
		return tenant->orders.limits[index];
	if (tenant->settings.limits[index].given)
		return tenant->settings.limits[index].value;
	if (supervisor->orders.limits[index] > 0)
		return supervisor->orders.limits[index];
	return limit->given ? limit->value : 0;
}

unsigned tenant_sessions_most(const struct tenant *tenant)
{
	const struct supervisor *supervisor = tenant->supervisor;
	if (tenant->orders.sessions_most > 0)
		return tenant->orders.sessions_most;
	if (tenant->settings.sessions.given)
		return (unsigned)tenant->settings.sessions.value;
	return supervisor->orders.sessions_most > 0 ? supervisor->orders.sessions_most
						    : supervisor->configuration.sessions_per_tenant;
}

const struct configuration_devices *tenant_devices(const struct tenant *tenant)
{
	return tenant->settings.devices.given ? &tenant->settings.devices
					      : &tenant->supervisor->configuration.devices;
}

bool tenant_uses_mps(const struct tenant *tenant)
{
	return tenant->settings.mps.given && tenant->settings.mps.value &&
	       *tenant->supervisor->configuration.mps_folder;
}
