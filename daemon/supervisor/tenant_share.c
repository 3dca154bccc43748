#include "tenant_share.h"

#include "log.h"
#include "supervisor.h"
#include "tenant.h"
#include "user_database.h"

#include <errno.h>
#include <grp.h>
#include <string.h>

enum { GROUPS_MAX = 256 };

struct names {
	bool asked, known;
	char name[CONFIGURATION_NAME_BYTES];
	gid_t groups[GROUPS_MAX];
	int group_count;
};

/* Who cannot be looked up has no share by name: that is not what was configured, and has to be known. */
static void complain(const struct tenant *tenant, const char *what, const char *name, int error)
{
	if (error != -ENOENT)
		log_warning("share", "%s%s cannot be looked up for uid %lu, and gives it no share: %s", what, name,
			    (unsigned long)tenant->uid, strerror(-error));
}

static void ask(const struct tenant *tenant, struct names *names)
{
	gid_t gid = 0;
	names->asked = true;
	names->group_count = 0;
	int r = user_database_user(tenant->uid, names->name, sizeof(names->name), &gid);
	if (r < 0) {
		complain(tenant, "the user", "", r);
		return;
	}
	names->known = true;
	names->group_count = GROUPS_MAX;
	/* Of more groups those that found room count. */
	if (getgrouplist(names->name, gid, names->groups, &names->group_count) < 0)
		names->group_count = GROUPS_MAX;
}

static bool has_group(const struct tenant *tenant, const struct names *names, const char *name)
{
	gid_t gid = 0;
	int r = user_database_group(name, &gid);
	if (r < 0) {
		complain(tenant, "group ", name, r);
		return false;
	}
	if (gid == tenant->gid)
		return true;
	for (int i = 0; i < names->group_count; i++)
		if (names->groups[i] == gid)
			return true;
	return false;
}

static bool is_of(const struct tenant *tenant, const struct configuration_share_entry *entry, struct names *names)
{
	if (entry->whose == SHARE_OF_UID)
		return entry->uid == tenant->uid;
	if (!names->asked)
		ask(tenant, names);
	if (entry->whose == SHARE_OF_USER)
		return names->known && strcmp(entry->name, names->name) == 0;
	return has_group(tenant, names, entry->name);
}

void tenant_share_look_up(struct tenant *tenant)
{
	const struct configuration_shares *shares = &tenant->supervisor->configuration.shares;
	struct names names = {.asked = false};
	tenant->share = (struct configuration_share){.given = false};
	/* The user first, whatever the order is; then groups. */
	for (int of_group = 0; of_group <= 1 && !tenant->share.given; of_group++)
		for (unsigned i = 0; i < shares->count && !tenant->share.given; i++)
			if ((shares->entries[i].whose == SHARE_OF_GROUP) == of_group &&
			    is_of(tenant, &shares->entries[i], &names))
				tenant->share = shares->entries[i].share;
}

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
	/* One of the two may be from here and the other one from there. */
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
	TAILQ_FOREACH(tenant, &supervisor->tenants, link)
	if (tenant->share_ordered.least > 0 || tenant->share_ordered.most > 0)
		return true;
	return false;
}
