/* A tenant's share of devices' time. It is configured for the user, for one of the user's groups or
 * for all users, or it is ordered. */
#ifndef SYCLD_SUPERVISOR_TENANT_SHARE_H
#define SYCLD_SUPERVISOR_TENANT_SHARE_H

#include "base/configuration.h"

#include <stdbool.h>

struct supervisor;
struct tenant;

/* Returns the tenant's share by the user database and [shares] (account/tenant_identity.h), with
 * orders applied. `given`: a share is configured or ordered for this tenant or for all users. */
struct configuration_share tenant_share(const struct tenant *tenant);
/* Returns the share of users without their own share. */
struct configuration_share everybodys_share(const struct supervisor *supervisor);
/* True if any share applies, so that devices' time must be divided. */
bool tenant_shares_matter(const struct supervisor *supervisor);

#endif
