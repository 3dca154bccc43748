#include "account/query.h"

#include "account/account.h"
#include "service/session.h"
#include "service/tenant.h"

#include <stdlib.h>
#include <string.h>

const char *account_terms_read(const Sycl__V1__AccountsQuery *query,
			       struct account_terms *terms_out)
{
	if (query->by > ACCOUNTS_BY_ALL)
		return "this service cannot add up accounts by that";
	if (strlen(query->cgroup) >= CGROUP_BYTES)
		return "that control group's path is too long";
	*terms_out = (struct account_terms){
		.by = query->by ? query->by : ACCOUNTS_BY_USER,
		.of_user = query->of_user,
		.of_device = query->of_device,
		.uid = query->uid,
		.backend = (uint32_t)query->backend,
		.index = query->index,
		.job = query->job,
	};
	memcpy(terms_out->cgroup, query->cgroup, strlen(query->cgroup));
	return NULL;
}

/* Otherwise figures without a device, or of several, are counted once, in the rows without device.
 * Of faults the device is not known: they are in these rows alone. */
static bool query_has_device_rows(const struct account_terms *terms)
{
	return terms->by & ACCOUNTS_BY_DEVICE || terms->of_device;
}

static bool query_matches(const struct account_terms *terms, const struct account_key *key)
{
	if (terms->job && key->job != terms->job)
		return false;
	if (terms->of_user && key->uid != terms->uid)
		return false;
	if (terms->cgroup[0] && !cgroup_is_inside(key->cgroup, terms->cgroup))
		return false;
	return !terms->of_device || (key->backend == terms->backend && key->index == terms->index);
}

/* Returns the row for a key, reduced to the query's parts. NULL: it does not match, or there is no
 * memory. */
static struct account_row *query_row(struct account_query *query, const struct account_key *key)
{
	const struct account_terms *terms = &query->terms;
	struct account_key asked = {.session = terms->by & ACCOUNTS_BY_SESSION ? key->session : 0};
	if (!query_matches(terms, key))
		return NULL;
	if (terms->by & ACCOUNTS_BY_JOB)
		asked.job = key->job;
	if (terms->by & ACCOUNTS_BY_USER)
		asked.uid = key->uid;
	if (terms->by & ACCOUNTS_BY_CGROUP)
		memcpy(asked.cgroup, key->cgroup, sizeof(asked.cgroup));
	if (terms->by & ACCOUNTS_BY_DEVICE) {
		asked.backend = key->backend;
		asked.index = key->index;
	}
	struct account_row *row = account_table_find(&query->table, &asked);
	if (row)
		return row;
	/* Nobody's sessions are hidden by another user's, so rows are first bounded for each. */
	if (query->tenant_rows < ACCOUNT_QUERY_TENANT_ROWS_MAX &&
	    query->table.count < ACCOUNT_QUERY_ROWS_MAX) {
		query->tenant_rows++;
		return account_table_get(&query->table, &asked, UINT32_MAX);
	}
	asked.session = 0;
	if (terms->by & ACCOUNTS_BY_CGROUP) {
		memset(asked.cgroup, 0, sizeof(asked.cgroup));
		memcpy(asked.cgroup, ACCOUNT_OTHERS, sizeof(ACCOUNT_OTHERS));
	}
	return account_table_get(&query->table, &asked, UINT32_MAX);
}

void account_query_begin_tenant(struct account_query *query, const struct tenant *tenant)
{
	query->tenant_rows = 0;
	/* Ended sessions have no rows of their own. */
	if (query->terms.by & ACCOUNTS_BY_SESSION)
		return;
	for (uint32_t i = 0; i < tenant->ledger.count; i++) {
		const struct account_row *kept = &tenant->ledger.rows[i];
		struct account_sums sums = kept->sums;
		if (kept->key.backend != 0 && !query_has_device_rows(&query->terms))
			sums.sessions = 0;
		if (kept->key.backend == 0 && query_has_device_rows(&query->terms)) {
			if (sums.faults == 0)
				continue;
			sums = (struct account_sums){.faults = sums.faults};
		}
		struct account_row *row = query_row(query, &kept->key);
		if (row)
			account_sums_add(&row->sums, &sums);
	}
}

static struct account_row *query_session_row(struct account_query *query,
					     const struct session *session,
					     const struct account_key *key)
{
	struct account_row *row = key->backend != 0 || !query_has_device_rows(&query->terms)
					  ? query_row(query, key)
					  : NULL;
	/* A merged row has no session. */
	if (row && row->key.session == session->id) {
		row->pid = session->peer.pid;
		row->command = session->peer.command;
	}
	return row;
}

void account_query_add_session(struct account_query *query, const struct session *session,
			       const Sycl__V1__SessionReport *used)
{
	struct account_key key = {
		.uid = session->peer.uid, .session = session->id, .job = session->job};
	struct account_sums sums;
	memcpy(key.cgroup, session->peer.cgroup, sizeof(key.cgroup));
	/* An open session has a row even before it has used a device. */
	(void)query_session_row(query, session, &key);
	for (size_t i = 0; used && i < used->n_devices && i < ACCOUNT_DEVICES_MAX; i++) {
		struct account_row *row = account_claim(used->devices[i], &key, &sums)
						  ? query_session_row(query, session, &key)
						  : NULL;
		if (row)
			account_sums_add(&row->sums, &sums);
	}
}

static void row_fill_message(const struct account_query *query, const struct account_row *row,
			     Sycl__V1__AccountRow *out, Sycl__V1__DeviceUsage *used)
{
	const struct account_sums *sums = &row->sums;
	sycl__v1__account_row__init(out);
	sycl__v1__device_usage__init(used);
	out->uid = row->key.uid;
	out->cgroup = (char *)(uintptr_t)row->key.cgroup;
	out->session = row->key.session;
	out->job = row->key.job;
	if (query->terms.by & ACCOUNTS_BY_SESSION && row->command) {
		out->pid = (uint32_t)row->pid;
		out->command = (char *)(uintptr_t)row->command;
	}
	out->used = used;
	out->sessions = sums->sessions;
	out->faults = sums->faults;
	out->delays = delay_total(&sums->delays);
	out->delay_p50_ns = delay_quantile(&sums->delays, 500);
	out->delay_p99_ns = delay_quantile(&sums->delays, 990);
	used->backend = (Sycl__V1__Backend)row->key.backend;
	used->index = row->key.index;
	used->commands = sums->commands;
	used->failed = sums->failed;
	used->device_ns = sums->device_ns;
	used->bytes_to_device = sums->bytes_to_device;
	used->bytes_to_host = sums->bytes_to_host;
	used->spills = sums->spills;
	used->spilled_bytes = sums->spilled_bytes;
	used->memory_peak_bytes = sums->memory_peak_bytes;
}

static int compare_rows_by_use(const void *one, const void *other)
{
	const Sycl__V1__AccountRow *a = *(Sycl__V1__AccountRow *const *)one,
				   *b = *(Sycl__V1__AccountRow *const *)other;
	if (a->used->device_ns != b->used->device_ns)
		return a->used->device_ns > b->used->device_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

bool account_query_finish(struct account_query *query, Sycl__V1__AdminReply *reply)
{
	size_t count = query->table.count;
	query->rows = calloc(count + 1u, sizeof(*query->rows));
	query->list = calloc(count + 1u, sizeof(void *));
	query->used = calloc(count + 1u, sizeof(*query->used));
	if (!query->rows || !query->list || !query->used)
		return false;
	for (size_t i = 0; i < count; i++) {
		row_fill_message(query, &query->table.rows[i], &query->rows[i], &query->used[i]);
		query->list[i] = &query->rows[i];
	}
	qsort((void *)query->list, count, sizeof(void *), compare_rows_by_use);
	reply->n_account_rows = count;
	reply->account_rows = query->list;
	reply->accounts_by = query->terms.by;
	return true;
}

void account_query_fini(struct account_query *query)
{
	account_table_fini(&query->table);
	free(query->rows);
	free((void *)query->list);
	free(query->used);
}
