/*
 * Limits of a tenant. The first of these sources that has a value applies:
 * - an order for the tenant,
 * - sections of sycld.conf for the user,
 * - sections for the user's groups, in the file's order,
 * - an order for all users,
 * - [limits] of sycld.conf,
 * - the engine's own default.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_LIMITS_H
#define SYCLD_SUPERVISOR_TENANT_LIMITS_H

#include "base/configuration.h"
#include "base/order_origin.h"

#include <stdbool.h>
#include <stdint.h>

struct supervisor;
struct tenant;

/* Limits that operators have ordered, for a tenant or for all users. 0: no order. */
struct limit_orders {
	uint64_t limits[CONFIGURATION_LIMITS];
	unsigned sessions_most;
	unsigned share_least, share_most; /* percent */
	/* Who gave each of these orders. */
	struct order_origin limits_by[CONFIGURATION_LIMITS], sessions_by, least_by, most_by;
};

bool limit_orders_are_none(const struct limit_orders *orders);

/* The values for a tenant from sections of users and groups. */
struct tenant_settings {
	struct configuration_limit limits[CONFIGURATION_LIMITS];
	struct configuration_limit sessions;
	struct configuration_devices devices;
	struct configuration_limit mps;
};

/* Sets the tenant's settings. Bit n of `sections`: section n applies to the tenant. */
void tenant_take_sections(struct tenant *tenant, uint64_t sections);

/* Returns the limit that applies; 0: the engine's own default. */
uint64_t tenant_limit(const struct tenant *tenant, unsigned index);
/* Returns the tenant's limit on sessions. */
unsigned tenant_sessions_most(const struct tenant *tenant);
/* Returns the devices that the tenant's sessions may use; not given: all. */
const struct configuration_devices *tenant_devices(const struct tenant *tenant);
/* True if the tenant's engines are to use the MPS server of configuration.mps_folder. */
bool tenant_uses_mps(const struct tenant *tenant);

#endif
