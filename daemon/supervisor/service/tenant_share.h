/* A tenant's share of devices' time: as configured for the user, for one of their groups or for all
 * users, or as ordered. */
#ifndef SYCLD_SUPERVISOR_TENANT_SHARE_H
#define SYCLD_SUPERVISOR_TENANT_SHARE_H

#include "base/configuration.h"

#include <stdbool.h>

struct supervisor;
struct tenant;

/* The tenant's share by the user database and [shares] (account/tenant_identity.h), with orders
 * applied. `given`: a share is configured or ordered for this tenant or for all users. */
struct configuration_share tenant_share(const struct tenant *tenant);
/* Does any share hold, so that devices' time has to be divided? */
bool tenant_shares_matter(const struct supervisor *supervisor);

#endif
