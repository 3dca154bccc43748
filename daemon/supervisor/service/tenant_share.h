/* What part of devices' time is a tenant's: as configured for the user, for one of their groups or
 * for everybody, or as ordered. */
#ifndef SYCLD_SUPERVISOR_TENANT_SHARE_H
#define SYCLD_SUPERVISOR_TENANT_SHARE_H

#include "base/configuration.h"

#include <stdbool.h>

struct supervisor;
struct tenant;

/* As the user database and [shares] have it (tenant_identity.h), with what was ordered. `given`:
 * something was said, of this tenant or of everybody. */
struct configuration_share tenant_share(const struct tenant *tenant);
/* Is anything said of anybody, so that devices' time is to be divided? */
bool tenant_shares_matter(const struct supervisor *supervisor);

#endif
