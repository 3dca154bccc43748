#include "account/tenant_forget.h"

#include "account/account.h"
#include "clock.h"
#include "base/log.h"
#include "base/refusal.h"
#include "service/supervisor.h"
#include "service/tenant.h"

#include <string.h>

/*
 * True if the tenant has no engine, and no order or limit that must apply when it connects again.
 */
static bool tenant_is_away(const struct tenant *tenant)
{
	return tenant->uid != TENANT_OTHERS && TAILQ_EMPTY(&tenant->engines) &&
	       tenant->session_count == 0 && !tenant->lookup &&
	       tenant->retry_at_ns <= clock_now_ns() && !tenant_has_orders(tenant);
}

static bool tenant_is_counted(const struct tenant *tenant)
{
	return !account_is_empty(&tenant->account) || tenant->ledger.count > 0;
}

void tenant_review(struct tenant *tenant)
{
	if (tenant_is_away(tenant) && !tenant_is_counted(tenant) && tenant->start_failures == 0)
		tenant_remove(tenant);
}

static void account_add(struct service_state_account *to, const struct service_state_account *from)
{
	account_sum(&to->sessions, from->sessions);
	account_sum(&to->engines_failed, from->engines_failed);
	account_sum(&to->groups_submitted, from->groups_submitted);
	account_sum(&to->groups_completed, from->groups_completed);
	account_sum(&to->groups_failed, from->groups_failed);
	account_sum(&to->device_ns, from->device_ns);
	account_sum(&to->bytes_to_device, from->bytes_to_device);
	account_sum(&to->bytes_to_host, from->bytes_to_host);
}

/* Moves one tenant's rows to another. False: no memory. Rows that were moved then count there, and
 * the rest still count here. */
static bool ledger_move(struct tenant *to, struct tenant *from)
{
	for (uint32_t i = 0; i < from->ledger.count; i++) {
		struct account_row *row = &from->ledger.rows[i];
		struct account_key key = row->key;
		key.uid = to->uid;
		struct account_row *total = account_ledger_row(to, &key);
		if (!total)
			return false;
		account_sums_add(&total->sums, &row->sums);
		memset(&row->sums, 0, sizeof(row->sums));
	}
	return true;
}

/* Frees the tenant and adds its figures to TENANT_OTHERS. False: no memory, and the tenant still
 * exists. */
static bool tenant_join_others(struct tenant *tenant)
{
	struct supervisor *supervisor = tenant->supervisor;
	if (tenant_is_counted(tenant)) {
		struct tenant *others = tenant_restore(supervisor, TENANT_OTHERS);
		if (!others || !ledger_move(others, tenant))
			return false;
		account_add(&others->account, &tenant->account);
		log_info("tenant",
			 "the figures of uid %lu are counted with those of others from now on",
			 (unsigned long)tenant->uid);
		supervisor->observer->accounts_changed(supervisor);
	}
	tenant_remove(tenant);
	return true;
}

/* Compares two absent tenants: true if the first one is removed first. */
static bool tenant_is_forgotten_before(const struct tenant *tenant, const struct tenant *than)
{
	if (tenant_is_counted(tenant) != tenant_is_counted(than))
		return !tenant_is_counted(tenant);
	if (tenant->is_unknown != than->is_unknown)
		return tenant->is_unknown;
	return tenant->last_use_ns < than->last_use_ns;
}

/* For a newcomer, considers only tenants that are not in the user database either. */
static struct tenant *tenant_to_forget_next(const struct supervisor *supervisor,
					    const struct tenant *newcomer)
{
	struct tenant *least = NULL, *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		if (tenant != newcomer && tenant_is_away(tenant) &&
		    (!newcomer || tenant->is_unknown) &&
		    (!least || tenant_is_forgotten_before(tenant, least)))
			least = tenant;
	return least;
}

/*
 * Makes room for one more tenant. False: all tenants have engines or orders, or there is no memory.
 */
static bool tenants_make_room(struct supervisor *supervisor)
{
	while (supervisor->tenant_count >= TENANTS_MAX) {
		struct tenant *tenant = tenant_to_forget_next(supervisor, NULL);
		if (!tenant || !tenant_join_others(tenant))
			return false;
	}
	return true;
}

void tenants_merge_unknown(const struct tenant *newcomer)
{
	struct supervisor *supervisor = newcomer->supervisor;
	unsigned count = 0;
	struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		count += tenant->is_unknown && tenant->uid != TENANT_OTHERS;
	for (; count > TENANTS_UNKNOWN_MAX; count--) {
		tenant = tenant_to_forget_next(supervisor, newcomer);
		if (!tenant || !tenant_join_others(tenant))
			return;
	}
}

/* Users that cannot be distinguished could read each other's sessions. */
static bool uid_is_user(const struct supervisor *supervisor, uid_t uid, struct refusal *refusal_out)
{
	if (uid == TENANT_OTHERS)
		refusal_set(refusal_out, STATUS_INVALID, "there is no such user");
	else if (uid == supervisor->overflow_uid)
		refusal_set(
			refusal_out, STATUS_RUNTIME,
			"the service runs in a user namespace in which uid %lu stands for every user that it does not have, and these "
			"cannot be distinguished",
			(unsigned long)uid);
	return uid != TENANT_OTHERS && uid != supervisor->overflow_uid;
}

struct tenant *tenant_restore(struct supervisor *supervisor, uid_t uid)
{
	struct tenant *tenant = tenant_find(supervisor, uid);
	if (!tenant && (uid == TENANT_OTHERS || tenants_make_room(supervisor)))
		tenant = tenant_add(supervisor, uid);
	if (tenant)
		tenant->last_use_ns = clock_now_ns();
	return tenant;
}

struct tenant *tenant_get(struct supervisor *supervisor, uid_t uid, struct refusal *refusal_out)
{
	if (!uid_is_user(supervisor, uid, refusal_out))
		return NULL;
	struct tenant *tenant = tenant_restore(supervisor, uid);
	if (!tenant)
		refusal_set(refusal_out, STATUS_QUOTA,
			    "the service has as many tenants as it can have");
	return tenant;
}
