/*
 * The user of a tenant in the user database: a user with its group, or a uid without a user. It is
 * looked up when the tenant first connects, and again from time to time. A result is valid until
 * the next one.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_IDENTITY_H
#define SYCLD_SUPERVISOR_TENANT_IDENTITY_H

#include <stdbool.h>

struct refusal;
struct tenant;

/*
 * 0: the user is known. -EINPROGRESS: the look-up runs, and the observer's tenant_identified is
 * called with the result. Other values: the tenant is refused, and `refusal_out` has the reason.
 * Does not block.
 */
int tenant_identify(struct tenant *tenant, struct refusal *refusal_out);

/* False: the settings are unknown, so new sessions wait for a look-up or are refused. */
bool tenant_settings_are_known(const struct tenant *tenant);

/*
 * Starts a new look-up after a change of the configuration. If sections have names, new sessions
 * wait for the result, because the sections may restrict this user. For open sessions the previous
 * result is valid until then.
 */
void tenant_identify_again(struct tenant *tenant);

#endif
