#include "account/tenant_identity.h"

#include "clock.h"
#include "base/log.h"
#include "service/supervisor.h"
#include "service/tenant.h"
#include "account/tenant_forget.h"
#include "base/user_lookup.h"
#include "base/user_names.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/*
 * The database is queried again after this time, because users are added, and their groups change.
 */
#define FRESH_NS 60000000000ull
/* A failed query is not repeated for this time. Meanwhile sessions that need it are refused. */
#define FAILED_NS 1000000000ull

static void tenant_apply_answer(struct tenant *tenant, const struct user_answer *answer)
{
	if (answer->trouble[0])
		log_warning("share", "%s", answer->trouble);
	if (answer->name[0])
		user_names_keep(tenant->uid, answer->name);
	bool has_failed = answer->has_failed || answer->sections_failed;
	tenant->identified_ns = has_failed ? 0 : clock_now_ns();
	tenant->failed_ns = has_failed ? clock_now_ns() : 0;
	/* A failed look-up does not change an earlier result. If there is none, the user's settings
	 * are unknown, and may restrict the user. */
	if (tenant->is_identified ? answer->has_failed : answer->sections_failed)
		return;
	bool was_unknown = tenant->is_identified && tenant->is_unknown;
	tenant->is_identified = true;
	tenant->is_unknown = !answer->is_known;
	tenant->was_found |= answer->is_known;
	tenant->gid = answer->gid;
	tenant->share = answer->share;
	if (!answer->sections_failed) {
		tenant_take_sections(tenant, answer->sections);
		tenant->is_stale = false;
	}
	if (tenant->is_unknown && !was_unknown)
		tenants_merge_unknown(tenant);
}

static void on_identity_answered(void *context, const struct user_answer *answer)
{
	struct tenant *tenant = context;
	struct supervisor *supervisor = tenant->supervisor;
	tenant->lookup = NULL;
	tenant_apply_answer(tenant, answer);
	supervisor->observer->tenant_identified(tenant); /* this may free the tenant */
}

/* 0: the result is known, or will arrive; else a negative errno. */
static int tenant_request_identity(struct tenant *tenant)
{
	const struct supervisor *supervisor = tenant->supervisor;
	struct user_question question = {
		.uid = tenant->uid,
		.is_own = tenant->uid == geteuid(),
		.own_gid = getegid(),
		.was_found = tenant->was_found,
		.shares = supervisor->configuration.shares,
		.owners = supervisor->configuration.people.owners,
	};
	if (user_question_needs_database(&question))
		return user_lookup_begin(&question, on_identity_answered, tenant, &tenant->lookup);
	struct user_answer answer;
	user_question_answer(&question, &answer);
	tenant_apply_answer(tenant, &answer);
	return 0;
}

static int identity_refuse(struct refusal *refusal, enum sycl_status code, int r, const char *text,
			   uid_t uid)
{
	refusal->code = code;
	(void)snprintf(refusal->text, sizeof(refusal->text), text, (unsigned long)uid);
	return r;
}

/* The texts have a place for the uid. */
static const char *identity_trouble(int r)
{
	switch (r) {
	case -ECHILD:
		return "the service cannot start a thread that queries the user database, as its processes (TasksMax=) or its memory are used up; uid %lu is not identified";
	case 0:
		return "the user database reports an error, so the settings of uid %lu in the configuration are not known; try again later";
	case -ENOMEM:
		return "the service has no memory to query the user database; uid %lu is not identified";
	default:
		return "too many users wait for the user database, which does not answer; uid %lu is not identified";
	}
}

bool tenant_settings_are_known(const struct tenant *tenant)
{
	return tenant->is_identified && !tenant->is_stale;
}

int tenant_identify(struct tenant *tenant, struct refusal *refusal_out)
{
	uint64_t now_ns = clock_now_ns();
	bool is_known = tenant_settings_are_known(tenant);
	bool is_fresh = is_known && now_ns - tenant->identified_ns < FRESH_NS;
	bool has_failed =
		!is_known && tenant->failed_ns > 0 && now_ns - tenant->failed_ns < FAILED_NS;
	int r = is_fresh || has_failed || tenant->lookup ? 0 : tenant_request_identity(tenant);
	is_known = tenant_settings_are_known(tenant);
	if (!is_known && tenant->lookup)
		return -EINPROGRESS;
	if (!is_known)
		return identity_refuse(refusal_out, STATUS_QUOTA, r < 0 ? r : -EAGAIN,
				       identity_trouble(r), tenant->uid);
	if (tenant->is_unknown && tenant->supervisor->configuration.refuse_unknown)
		return identity_refuse(
			refusal_out, STATUS_RUNTIME, -EACCES,
			"uid %lu is not in the user database, and only users in it are served (unknown_users = refuse)",
			tenant->uid);
	return 0;
}

/* Applies sections [uid NUMBER] if no section has a name: only names need the database. */
static void tenant_take_numbered_sections(struct tenant *tenant)
{
	const struct configuration_owners *owners =
		&tenant->supervisor->configuration.people.owners;
	uint64_t sections = 0;
	bool has_names = false;
	for (unsigned i = 0; i < owners->count; i++) {
		const struct configuration_owner *owner = &owners->list[i];
		has_names |= owner->whose != SHARE_OF_UID;
		if (owner->whose == SHARE_OF_UID && owner->uid == tenant->uid)
			sections |= 1ull << i;
	}
	tenant->is_stale = has_names;
	if (!has_names)
		tenant_take_sections(tenant, sections);
}

void tenant_identify_again(struct tenant *tenant)
{
	tenant_take_numbered_sections(tenant);
	tenant->lookup = user_lookup_drop(tenant->lookup);
	if (tenant_request_identity(tenant) < 0)
		tenant->identified_ns = 0; /* the next session queries again */
}
