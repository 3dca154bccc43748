#include "account/account.h"

#include "account/claims.h"
#include "service/engine_state.h"
#include "packet.h"
#include "service/session.h"
#include "service/supervisor.h"

#include <assert.h>
#include <string.h>

/* Bounded, because an engine could invent devices, and each would be a row of its tenant. */
enum { BACKENDS = SYCL__V1__BACKEND__BACKEND_FAKE + 1, DEVICES = ACCOUNT_DEVICES_MAX };
static_assert((BACKENDS - 1) * DEVICES + 1 < ACCOUNT_ROWS_LEAST,
	      "whatever is put together, each device has a row");

/* If all tenants have very many rows, each tenant keeps fewer, and its other rows are merged. */
static uint32_t ledger_rows_most(const struct supervisor *supervisor)
{
	uint32_t count = 0;
	const struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		count += tenant->ledger.count;
	return count < ACCOUNT_ROWS_ALL ? ACCOUNT_ROWS_MAX : ACCOUNT_ROWS_LEAST;
}

struct account_row *account_ledger_row(struct tenant *tenant, const struct account_key *key)
{
	struct account_row *row = account_table_find(&tenant->ledger, key);
	return row ? row
		   : account_table_get(&tenant->ledger, key, ledger_rows_most(tenant->supervisor));
}

bool account_claim(const Sycl__V1__DeviceUsage *claim, struct account_key *key_out,
		   struct account_sums *sums_out)
{
	if (claim->backend <= 0 || (unsigned)claim->backend >= BACKENDS || claim->index >= DEVICES)
		return false;
	key_out->backend = (uint32_t)claim->backend;
	key_out->index = claim->index;
	*sums_out = (struct account_sums){
		.commands = claim->commands,
		.failed = claim->failed,
		.device_ns = claim->device_ns,
		.bytes_to_device = claim->bytes_to_device,
		.bytes_to_host = claim->bytes_to_host,
		.spills = claim->spills,
		.spilled_bytes = claim->spilled_bytes,
		.memory_peak_bytes = claim->memory_peak_bytes,
	};
	delay_add(&sums_out->delays, claim->first_delay, claim->delays, claim->n_delays);
	return true;
}

static void account_count_devices(struct tenant *tenant, const struct session *session,
				  Sycl__V1__DeviceUsage *const *claims, size_t count)
{
	struct account_key key = {.uid = tenant->uid, .job = session->job};
	struct account_sums sums;
	memcpy(key.cgroup, session->peer.cgroup, sizeof(key.cgroup));
	for (size_t i = 0; i < count && i < ACCOUNT_DEVICES_MAX; i++) {
		struct account_row *row = account_claim(claims[i], &key, &sums)
						  ? account_ledger_row(tenant, &key)
						  : NULL;
		if (!row)
			continue;
		sums.sessions = 1;
		account_sums_add(&row->sums, &sums);
	}
}

/* Counts a session that has ended. `at_fault`: its command ended the engine. */
static void account_count_session(struct tenant *tenant, const struct session *session,
				  bool at_fault)
{
	struct account_key key = {.uid = tenant->uid, .job = session->job};
	memcpy(key.cgroup, session->peer.cgroup, sizeof(key.cgroup));
	struct account_row *row = account_ledger_row(tenant, &key);
	if (!row)
		return;
	account_sum(&row->sums.sessions, 1);
	account_sum(&row->sums.faults, at_fault);
}

static void usage_add(struct service_state_account *account, const Sycl__V1__Usage *usage)
{
	if (!usage)
		return;
	account_sum(&account->groups_submitted, usage->groups_submitted);
	account_sum(&account->groups_completed, usage->groups_completed);
	account_sum(&account->groups_failed, usage->groups_failed);
	account_sum(&account->device_ns, usage->device_ns);
	account_sum(&account->bytes_to_device, usage->bytes_to_device);
	account_sum(&account->bytes_to_host, usage->bytes_to_host);
}

void account_session_ended(struct tenant *tenant, const struct session *session,
			   const Sycl__V1__SessionState *state)
{
	account_sum(&tenant->account.sessions, 1);
	usage_add(&tenant->account, state->usage);
	account_count_session(tenant, session, false);
	account_count_devices(tenant, session, state->devices, state->n_devices);
	tenant->supervisor->observer->accounts_changed(tenant->supervisor);
}

void account_add_claims(struct service_state_account *account, const struct engine *engine)
{
	const struct session *session;
	TAILQ_FOREACH (session, &engine->sessions, link) {
		const struct session_figures *figures = claims_of_session(engine, session);
		if (figures && figures->has_usage)
			usage_add(account, &figures->usage);
	}
}

void account_engine_ended(struct engine *engine, bool has_failed, uint64_t offender)
{
	struct tenant *tenant = engine->tenant;
	const struct session *session;
	TAILQ_FOREACH (session, &engine->sessions, link)
		account_count_session(tenant, session, has_failed && session->id == offender);
	account_add_claims(&tenant->account, engine);
	TAILQ_FOREACH (session, &engine->sessions, link) {
		const struct session_figures *figures = claims_of_session(engine, session);
		const Sycl__V1__SessionReport *used =
			figures ? claims_devices(figures, &tenant->supervisor->arena) : NULL;
		if (used)
			account_count_devices(tenant, session, used->devices, used->n_devices);
	}
	account_sum(&tenant->account.sessions, engine->sessions_count);
	account_sum(&tenant->account.engines_failed, has_failed);
	tenant->supervisor->observer->accounts_changed(tenant->supervisor);
}

bool account_is_empty(const struct service_state_account *account)
{
	return account->sessions == 0 && account->engines_failed == 0;
}

void account_fill_usage(const struct service_state_account *account, Sycl__V1__Usage *usage_out)
{
	sycl__v1__usage__init(usage_out);
	usage_out->groups_submitted = account->groups_submitted;
	usage_out->groups_completed = account->groups_completed;
	usage_out->groups_failed = account->groups_failed;
	usage_out->device_ns = account->device_ns;
	usage_out->bytes_to_device = account->bytes_to_device;
	usage_out->bytes_to_host = account->bytes_to_host;
}
