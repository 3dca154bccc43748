/* What part of devices' time is a tenant's: as configured for the user, for one of their groups or for everybody, or as ordered. */
#ifndef SYCLD_SUPERVISOR_TENANT_SHARE_H
#define SYCLD_SUPERVISOR_TENANT_SHARE_H

#include "configuration.h"

#include <stdbool.h>

struct supervisor;
struct tenant;

/*
 * Look up what the configuration says: of the user, by number or name, else of the first of [shares] that names one of their groups.
 * Asks the user database where names have to be known.
 */
void tenant_share_look_up(struct tenant *tenant);
/* With what was ordered. `given`: something was said, of this tenant or of everybody. */
struct configuration_share tenant_share(const struct tenant *tenant);
/* Is anything said of anybody, so that devices' time is to be divided? */
bool tenant_shares_matter(const struct supervisor *supervisor);

#endif
