#include "service/tenant_share.h"

#include "service/supervisor.h"
#include "service/tenant.h"

struct configuration_share tenant_share(const struct tenant *tenant)
{
	const struct configuration_shares *shares = &tenant->supervisor->configuration.shares;
	struct configuration_share share = tenant->share.given ? tenant->share : shares->everybody;
	if (!share.given)
		share.most = 100;
	if (tenant->share_ordered.least > 0)
		share.least = tenant->share_ordered.least;
	if (tenant->share_ordered.most > 0)
		share.most = tenant->share_ordered.most;
	share.given |= tenant->share_ordered.least > 0 || tenant->share_ordered.most > 0;
	/* The two bounds may have different sources, the configuration and an order. */
	if (share.least > share.most)
		share.least = share.most;
	return share;
}

bool tenant_shares_matter(const struct supervisor *supervisor)
{
	const struct configuration_shares *shares = &supervisor->configuration.shares;
	const struct tenant *tenant;
	if (shares->exclusive || shares->everybody.given || shares->count > 0)
		return true;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		if (tenant->share_ordered.least > 0 || tenant->share_ordered.most > 0)
			return true;
	return false;
}
