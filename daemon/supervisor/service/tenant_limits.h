/*
 * Limits of a tenant by their sources. The first of these that has a value holds: an order for the
 * tenant; a section of sycld.conf for the user; one for a group of the user's, in the file's order;
 * an order for all users; [limits] of sycld.conf; the engine's own default.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_LIMITS_H
#define SYCLD_SUPERVISOR_TENANT_LIMITS_H

#include "base/configuration.h"

#include <stdbool.h>
#include <stdint.h>

struct supervisor;
struct tenant;

/* What operators have ordered, for a tenant or for all. 0: nothing. */
struct limit_orders {
	uint64_t limits[CONFIGURATION_LIMITS];
	unsigned sessions_most;
	unsigned share_least, share_most; /* percent */
};

bool limit_orders_are_none(const struct limit_orders *orders);

/* What sections of users and groups say for a tenant. */
struct tenant_settings {
	struct configuration_limit limits[CONFIGURATION_LIMITS];
	struct configuration_limit sessions;
	struct configuration_devices devices;
};

/* The sections that are for the tenant, a bit each. */
void tenant_take_sections(struct tenant *tenant, uint64_t sections);

/* 0: the engine's own default. */
uint64_t tenant_limit(const struct tenant *tenant, unsigned index);
/* The tenant's limit of sessions. */
unsigned tenant_sessions_most(const struct tenant *tenant);
/* The devices that the tenant's sessions may have; not given: all. */
const struct configuration_devices *tenant_devices(const struct tenant *tenant);

#endif
