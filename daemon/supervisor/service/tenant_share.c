#include "service/tenant_share.h"

#include "service/supervisor.h"
#include "service/tenant.h"

static void share_add_orders(struct configuration_share *share, const struct limit_orders *orders)
{
	if (!share->given)
		share->most = 100;
	if (orders->share_least > 0)
		share->least = orders->share_least;
	if (orders->share_most > 0)
		share->most = orders->share_most;
	share->given |= orders->share_least > 0 || orders->share_most > 0;
	/* The two bounds may have different sources, the configuration and an order. */
	if (share->least > share->most)
		share->least = share->most;
}

struct configuration_share everybodys_share(const struct supervisor *supervisor)
{
	struct configuration_share share = supervisor->configuration.shares.everybody;
	share_add_orders(&share, &supervisor->orders);
	return share;
}

struct configuration_share tenant_share(const struct tenant *tenant)
{
	struct configuration_share share =
		tenant->share.given ? tenant->share : everybodys_share(tenant->supervisor);
	share_add_orders(&share, &tenant->orders);
	return share;
}

bool tenant_shares_matter(const struct supervisor *supervisor)
{
	const struct configuration_shares *shares = &supervisor->configuration.shares;
	const struct tenant *tenant;
	if (shares->exclusive || everybodys_share(supervisor).given || shares->count > 0)
		return true;
	const struct job *job;
	TAILQ_FOREACH (job, &supervisor->jobs.list, link)
		if (job->share.given)
			return true;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		if (tenant->orders.share_least > 0 || tenant->orders.share_most > 0)
			return true;
	return false;
}
