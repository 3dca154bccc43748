#include "tally.h"

#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The uid in the service's answers for users that it no longer distinguishes. */
#define UID_OTHERS UINT32_MAX

const char *const tally_state_names[TALLY_STATES] = {"waiting", "handshake", "open",   "paused",
						     "ended",   "over",      "unknown"};

static unsigned session_state_index(const Sycl__V1__SessionFacts *session)
{
	switch (session->phase) {
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_WAITING:
		return 0;
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_HANDSHAKE:
		return 1;
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN:
		return session->ended ? 4 : session->paused ? 3 : 2;
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_OVER:
		return 5;
	default:
		return 6;
	}
}

/* --------------------------------- which users have a row --------------------------------- */

static bool tally_users_have(const struct tally_users *known, uint32_t uid)
{
	for (unsigned i = 0; i < known->count; i++)
		if (known->uids[i] == uid)
			return true;
	return false;
}

static bool is_in_answer(const Sycl__V1__AdminReply *status, uint32_t uid)
{
	for (size_t i = 0; i < status->n_accounts; i++)
		if (status->accounts[i]->uid == uid)
			return true;
	return false;
}

void tally_users_follow(struct tally_users *known, const Sycl__V1__AdminReply *status)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < known->count; i++)
		if (is_in_answer(status, known->uids[i]))
			known->uids[kept++] = known->uids[i];
	known->count = kept;
	for (size_t i = 0; i < status->n_accounts && known->count < known->most; i++) {
		uint32_t uid = status->accounts[i]->uid;
		if (uid != UID_OTHERS && !tally_users_have(known, uid))
			known->uids[known->count++] = uid;
	}
}

/* ------------------------------------------ rows ------------------------------------------ */

struct tallying {
	struct tally *tally;
	const struct tally_users *known;
	const struct users *names;
};

static struct tally_user *tally_find_user(const struct tallying *tallying, uint32_t uid)
{
	struct tally *tally = tallying->tally;
	const bool is_others =
		uid == UID_OTHERS || (tallying->known && !tally_users_have(tallying->known, uid));
	for (unsigned i = 0; i < tally->user_count; i++)
		if (tally->users[i].is_others == is_others &&
		    (is_others || tally->users[i].uid == uid))
			return &tally->users[i];
	if (tally->user_count == TALLY_USERS_MOST + 1) {
		tally->left_out++;
		return NULL;
	}
	struct tally_user *user = &tally->users[tally->user_count++];
	user->is_others = is_others;
	user->uid = uid;
	if (is_others)
		(void)snprintf(user->name, sizeof(user->name), "(others)");
	else
		(void)users_name(tallying->names, uid, user->name);
	return user;
}

static struct tally_device *tally_find_device(struct tally *tally, uint32_t backend, uint32_t index)
{
	for (unsigned i = 0; i < tally->device_count; i++)
		if (tally->devices[i].backend == backend && tally->devices[i].index == index)
			return &tally->devices[i];
	if (tally->device_count == TALLY_DEVICES) {
		tally->left_out++;
		return NULL;
	}
	struct tally_device *device = &tally->devices[tally->device_count++];
	device->backend = backend;
	device->index = index;
	(void)snprintf(device->name, sizeof(device->name), "%s:%" PRIu32,
		       backend_name((Sycl__V1__Backend)backend), index);
	return device;
}

static struct tally_use *tally_find_use(const struct tallying *tallying, uint32_t uid,
					uint32_t backend, uint32_t index)
{
	struct tally *tally = tallying->tally;
	struct tally_user *user = tally_find_user(tallying, uid);
	struct tally_device *device = tally_find_device(tally, backend, index);
	if (!user || !device)
		return NULL;
	unsigned u = (unsigned)(user - tally->users), d = (unsigned)(device - tally->devices);
	for (unsigned i = 0; i < tally->use_count; i++)
		if (tally->uses[i].user == u && tally->uses[i].device == d)
			return &tally->uses[i];
	if (tally->use_count == TALLY_USES) {
		tally->left_out++;
		return NULL;
	}
	struct tally_use *use = &tally->uses[tally->use_count++];
	use->user = u;
	use->device = d;
	return use;
}

static void add_engine(const struct tallying *tallying, const Sycl__V1__EngineFacts *engine)
{
	struct tally_user *user = tally_find_user(tallying, engine->uid);
	if (!user)
		return;
	user->engines += engine->engine_pid != 0;
	user->engines_answering += engine->engine_pid != 0 && engine->reported;
	user->resident_bytes += (double)engine->resident_bytes;
	user->waiting += engine->gate_waiting;
	user->spilled_bytes += (double)engine->spilled_now_bytes;
	if (engine->drained)
		user->drained = 1;
}

static void add_account(const struct tallying *tallying, const Sycl__V1__AccountFacts *account)
{
	struct tally_user *user = tally_find_user(tallying, account->uid);
	if (!user)
		return;
	user->sessions_ended += (double)account->sessions_ended;
	user->engines_failed += (double)account->engines_failed;
	if (!account->usage)
		return;
	user->submitted += (double)account->usage->groups_submitted;
	user->completed += (double)account->usage->groups_completed;
	user->failed += (double)account->usage->groups_failed;
}

static void raise_to(double *value, uint64_t ns)
{
	if (*value < (double)ns / 1e9)
		*value = (double)ns / 1e9;
}

static void tally_add_session(const struct tallying *tallying,
			      const Sycl__V1__SessionFacts *session)
{
	struct tally_user *user = tally_find_user(tallying, session->uid);
	if (!user)
		return;
	user->recent_commands += (double)session->delays;
	raise_to(&user->recent_wait_p50, session->delay_p50_ns);
	raise_to(&user->recent_wait_p99, session->delay_p99_ns);
	user->sessions[session_state_index(session)]++;
	if (!session->usage)
		return;
	user->held_bytes += (double)session->usage->buffer_bytes;
	user->shared_bytes += (double)session->usage->arena_bytes;
}

/* Several engines of one user on one device share one part. */
static void add_share(const struct tallying *tallying, const Sycl__V1__ShareFacts *share)
{
	struct tally_use *use =
		tally_find_use(tallying, share->uid, (uint32_t)share->backend, share->index);
	if (!use)
		return;
	use->has_share = true;
	use->least = share->min_percent / 100.0;
	use->most = share->max_percent / 100.0;
	use->granted += share->granted_permille / 1000.0;
	if (share->wants)
		use->wants = 1;
}

static void tally_add_row(const struct tallying *tallying, const Sycl__V1__AccountRow *row)
{
	const Sycl__V1__DeviceUsage *used = row->used;
	struct tally_user *user = row->faults > 0 ? tally_find_user(tallying, row->uid) : NULL;
	if (user)
		user->faults += (double)row->faults;
	/* The service does not know on which device a fault was. */
	struct tally_use *use =
		used && used->backend != SYCL__V1__BACKEND__BACKEND_UNSPECIFIED
			? tally_find_use(tallying, row->uid, (uint32_t)used->backend, used->index)
			: NULL;
	if (!use)
		return;
	/* Quantiles of several users cannot be summed. */
	use->has_wait = !tallying->tally->users[use->user].is_others && row->delays > 0;
	use->has_use = true;
	use->device_seconds += (double)used->device_ns / 1e9;
	use->commands += (double)used->commands;
	use->failed += (double)used->failed;
	use->to_device += (double)used->bytes_to_device;
	use->to_host += (double)used->bytes_to_host;
	use->spills += (double)used->spills;
	use->spilled += (double)used->spilled_bytes;
	use->waits += (double)row->delays;
	use->wait_p50 = (double)row->delay_p50_ns / 1e9;
	use->wait_p99 = (double)row->delay_p99_ns / 1e9;
}

/* ----------------------------------- engines' claims -------------------------------------- */

/* A claimed device. `turn`: the number of earlier devices of the same first user. */
struct claim {
	const Sycl__V1__KnownDevice *known;
	size_t place, turn;
};

static uint32_t first_user(const struct claim *claim)
{
	return claim->known->n_uids ? claim->known->uids[0] : UID_OTHERS;
}

static int compare_users(const void *one, const void *other)
{
	const struct claim *a = one, *b = other;
	if (first_user(a) != first_user(b))
		return first_user(a) < first_user(b) ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int compare_trust(const void *one, const void *other)
{
	const struct claim *a = one, *b = other;
	if (a->known->n_uids != b->known->n_uids)
		return a->known->n_uids > b->known->n_uids ? -1 : 1;
	if (a->turn != b->turn)
		return a->turn < b->turn ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/*
 * An engine may invent devices. So the rows first go to devices that most users' engines claim,
 * then to the users in turn. Differing claims about one device make one row, of the first claim.
 */
static bool tally_add_devices(struct tally *tally, const Sycl__V1__AdminReply *status)
{
	size_t count = 0;
	struct claim *claims = calloc(status->n_devices + 1, sizeof(*claims));
	if (!claims)
		return false;
	for (size_t i = 0; i < status->n_devices; i++)
		if (status->devices[i]->facts)
			claims[count++] = (struct claim){status->devices[i], i, 0};
	qsort(claims, count, sizeof(*claims), compare_users);
	for (size_t i = 1; i < count; i++)
		if (first_user(&claims[i]) == first_user(&claims[i - 1]))
			claims[i].turn = claims[i - 1].turn + 1;
	qsort(claims, count, sizeof(*claims), compare_trust);
	for (size_t i = 0; i < count; i++) {
		const Sycl__V1__KnownDevice *known = claims[i].known;
		struct tally_device *device = tally_find_device(tally, (uint32_t)known->backend,
								known->facts->backend_index);
		if (device && !device->known)
			device->known = known;
	}
	free(claims);
	return true;
}

static void tally_add_present(struct tally *tally, const Sycl__V1__DevicePresent *present)
{
	struct tally_device *device =
		tally_find_device(tally, (uint32_t)present->backend, present->index);
	if (device)
		device->present = present;
}

struct tally *tally_make(const Sycl__V1__AdminReply *status, const Sycl__V1__AdminReply *by_user,
			 const struct tally_users *known, const struct users *names)
{
	const struct tallying tallying = {calloc(1, sizeof(struct tally)), known, names};
	if (!tallying.tally)
		return NULL;
	if (!tally_add_devices(tallying.tally, status))
		return tally_free(tallying.tally);
	for (size_t i = 0; i < status->n_present; i++)
		tally_add_present(tallying.tally, status->present[i]);
	for (size_t i = 0; i < status->n_accounts; i++)
		add_account(&tallying, status->accounts[i]);
	for (size_t i = 0; i < status->n_engines; i++)
		add_engine(&tallying, status->engines[i]);
	for (size_t i = 0; i < status->n_sessions; i++)
		tally_add_session(&tallying, status->sessions[i]);
	for (size_t i = 0; i < status->n_shares; i++)
		add_share(&tallying, status->shares[i]);
	for (size_t i = 0; i < by_user->n_account_rows; i++)
		tally_add_row(&tallying, by_user->account_rows[i]);
	return tallying.tally;
}

struct tally *tally_free(struct tally *tally)
{
	free(tally);
	return NULL;
}
