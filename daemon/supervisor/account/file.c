#include "account/file.h"

#include "account/tenant_forget.h"
#include "account/account.h"
#include "admin.pb-c.h"
#include "cleanup.h"
#include "service/engine_state.h"
#include "base/kept_file.h"
#include "base/log.h"
#include "service/supervisor.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME  "accounts"
#define FILE_MAGIC 0x0001746363617973ull /* "syacct", and the version of its format */

enum {
	FILE_BYTES_MAX = 128 << 20,
	GROUPS_MAX = 8192,
};

/* The message with its rows, and the arrays of their parts. */
struct batch {
	Sycl__V1__KeptAccounts message;
	size_t row_room, session_room;
	Sycl__V1__AccountRow *rows, **row_list;
	Sycl__V1__DeviceUsage *used;
	Sycl__V1__KeptSession *sessions, **session_list;
};

static void batch_fini(struct batch *batch)
{
	free(batch->rows);
	free((void *)batch->row_list);
	free(batch->used);
	free(batch->sessions);
	free((void *)batch->session_list);
}

static bool batch_init(struct batch *batch, size_t rows, size_t sessions)
{
	*batch = (struct batch){.row_room = rows, .session_room = sessions};
	sycl__v1__kept_accounts__init(&batch->message);
	batch->rows = calloc(rows + 1, sizeof(*batch->rows));
	batch->row_list = calloc(rows + 1, sizeof(void *));
	batch->used = calloc(rows + 1, sizeof(*batch->used));
	batch->sessions = calloc(sessions + 1, sizeof(*batch->sessions));
	batch->session_list = calloc(sessions + 1, sizeof(void *));
	batch->message.rows = batch->row_list;
	batch->message.sessions = batch->session_list;
	return batch->rows && batch->row_list && batch->used && batch->sessions &&
	       batch->session_list;
}

static void batch_add_row(struct batch *batch, const struct account_row *row)
{
	size_t at = batch->message.n_rows;
	if (at == batch->row_room)
		return;
	Sycl__V1__AccountRow *out = batch->row_list[at] = &batch->rows[at];
	Sycl__V1__DeviceUsage *used = &batch->used[at];
	sycl__v1__account_row__init(out);
	sycl__v1__device_usage__init(used);
	out->uid = row->key.uid;
	out->cgroup = (char *)(uintptr_t)row->key.cgroup;
	out->job = row->key.job;
	out->sessions = row->sums.sessions;
	out->faults = row->sums.faults;
	out->used = used;
	used->backend = (Sycl__V1__Backend)row->key.backend;
	used->index = row->key.index;
	used->commands = row->sums.commands;
	used->failed = row->sums.failed;
	used->device_ns = row->sums.device_ns;
	used->bytes_to_device = row->sums.bytes_to_device;
	used->bytes_to_host = row->sums.bytes_to_host;
	used->spills = row->sums.spills;
	used->spilled_bytes = row->sums.spilled_bytes;
	used->memory_peak_bytes = row->sums.memory_peak_bytes;
	used->n_delays = delay_span(&row->sums.delays, &used->first_delay);
	used->delays =
		(uint64_t *)(uintptr_t)&row->sums.delays.counts[used->first_delay % DELAY_BUCKETS];
	batch->message.n_rows++;
}

static void batch_add_group(struct batch *batch, uint64_t session, const char *cgroup)
{
	size_t at = batch->message.n_sessions;
	if (at == batch->session_room || !*cgroup)
		return;
	Sycl__V1__KeptSession *out = batch->session_list[at] = &batch->sessions[at];
	sycl__v1__kept_session__init(out);
	out->session = session;
	out->cgroup = (char *)(uintptr_t)cgroup;
	batch->message.n_sessions++;
}

static void batch_collect(const struct supervisor *supervisor, struct batch *batch)
{
	const struct account_groups *away = &supervisor->account_file->groups;
	const struct tenant *tenant;
	const struct engine *engine;
	const struct session *session;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link) {
		for (uint32_t i = 0; i < tenant->ledger.count; i++)
			batch_add_row(batch, &tenant->ledger.rows[i]);
		TAILQ_FOREACH (engine, &tenant->engines, link)
			TAILQ_FOREACH (session, &engine->sessions, link)
				batch_add_group(batch, session->id, session->peer.cgroup);
	}
	for (uint32_t i = 0; tenants_have_returning_engine(supervisor) && i < away->count; i++)
		batch_add_group(batch, away->groups[i].session, away->groups[i].cgroup);
}

static int account_file_write(const struct supervisor *supervisor, struct batch *batch)
{
	size_t rows = 0,
	       sessions = supervisor->session_count + supervisor->account_file->groups.count;
	const struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		rows += tenant->ledger.count;
	if (!batch_init(batch, rows, sessions < GROUPS_MAX ? sessions : GROUPS_MAX))
		return -ENOMEM;
	batch_collect(supervisor, batch);
	size_t size = sycl__v1__kept_accounts__get_packed_size(&batch->message);
	CLEANUP(free_pointer)
	uint8_t *bytes =
		size > FILE_BYTES_MAX ? NULL : malloc(sizeof(struct kept_file_head) + size);
	if (!bytes)
		return size > FILE_BYTES_MAX ? -EFBIG : -ENOMEM;
	(void)sycl__v1__kept_accounts__pack(&batch->message, bytes + sizeof(struct kept_file_head));
	kept_file_write_head(bytes, sizeof(struct kept_file_head) + size, FILE_MAGIC);
	return kept_file_replace(supervisor->directory.fd, FILE_NAME, bytes,
				 sizeof(struct kept_file_head) + size);
}

int account_file_save(struct supervisor *supervisor)
{
	struct account_file *file = supervisor->account_file;
	struct batch batch;
	int r = account_file_write(supervisor, &batch);
	batch_fini(&batch);
	if (r < 0 && !file->has_failed)
		log_warning("service",
			    "the accounts by control group and device cannot be written to %s: %s",
			    supervisor->directory.path, strerror(-r));
	file->has_failed = r < 0;
	return r;
}

static void account_file_restore_row(struct supervisor *supervisor, const Sycl__V1__AccountRow *row)
{
	struct account_key key = {.uid = row->uid, .job = row->job};
	struct account_sums sums = {.sessions = 0};
	if (!row->used || (!supervisor->privileged && row->uid != geteuid()))
		return;
	if (row->used->backend != 0 && !account_claim(row->used, &key, &sums))
		return;
	text_copy_printable(key.cgroup, sizeof(key.cgroup), row->cgroup);
	sums.sessions = row->sessions;
	sums.faults = row->faults;
	struct tenant *tenant = tenant_restore(supervisor, row->uid);
	struct account_row *to = tenant ? account_ledger_row(tenant, &key) : NULL;
	if (to)
		account_sums_add(&to->sums, &sums);
}

static int account_groups_compare(const void *left, const void *right)
{
	const struct account_group *a = left, *b = right;
	return (a->session > b->session) - (a->session < b->session);
}

static void account_file_restore(struct supervisor *supervisor, const Sycl__V1__KeptAccounts *kept)
{
	struct account_groups *groups = &supervisor->account_file->groups;
	for (size_t i = 0; i < kept->n_rows; i++)
		account_file_restore_row(supervisor, kept->rows[i]);
	size_t count = kept->n_sessions < GROUPS_MAX ? kept->n_sessions : GROUPS_MAX;
	groups->groups = calloc(count + 1, sizeof(*groups->groups));
	for (size_t i = 0; groups->groups && i < count; i++) {
		struct account_group *group = &groups->groups[groups->count++];
		group->session = kept->sessions[i]->session;
		text_copy_printable(group->cgroup, sizeof(group->cgroup),
				    kept->sessions[i]->cgroup);
	}
	if (groups->groups)
		qsort(groups->groups, groups->count, sizeof(*groups->groups),
		      account_groups_compare);
}

/* -EBADMSG: the file is damaged, or of another release. */
static int account_file_unpack(struct supervisor *supervisor, const uint8_t *bytes, size_t size)
{
	if (!kept_file_has_head(bytes, size, FILE_MAGIC))
		return -EBADMSG;
	/* The file is the service's own, complete and of bounded size. So no other user determines
	 * its unpacked size. */
	Sycl__V1__KeptAccounts *kept = sycl__v1__kept_accounts__unpack(
		NULL, size - sizeof(struct kept_file_head), bytes + sizeof(struct kept_file_head));
	if (!kept)
		return -EBADMSG;
	account_file_restore(supervisor, kept);
	sycl__v1__kept_accounts__free_unpacked(kept, NULL);
	return 0;
}

int account_file_load(struct supervisor *supervisor)
{
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	size_t size = 0;
	int r = kept_file_read(supervisor->directory.fd, FILE_NAME, sizeof(struct kept_file_head),
			       sizeof(struct kept_file_head) + FILE_BYTES_MAX, &bytes, &size);
	if (r == 0)
		r = account_file_unpack(supervisor, bytes, size);
	if (r == -EBADMSG || r == -EPERM)
		log_warning("service",
			    "the accounts by control group and device are lost: %s/" FILE_NAME
			    " %s",
			    supervisor->directory.path,
			    r == -EPERM ? "is not this user's alone"
					: "is damaged or of another release");
	else if (r < 0 && r != -ENOENT)
		log_error("service", "%s/" FILE_NAME " cannot be read: %s",
			  supervisor->directory.path, strerror(-r));
	return r == -EBADMSG || r == -EPERM || r == -ENOENT ? 0 : r;
}

void account_file_recall(struct supervisor *supervisor, uint64_t session, struct peer *peer)
{
	const struct account_groups *groups = &supervisor->account_file->groups;
	const struct account_group wanted = {.session = session};
	const struct account_group *found =
		groups->count == 0 ? NULL
				   : bsearch(&wanted, groups->groups, groups->count,
					     sizeof(*groups->groups), account_groups_compare);
	if (found)
		memcpy(peer->cgroup, found->cgroup, sizeof(peer->cgroup));
}

void account_file_forget(struct supervisor *supervisor)
{
	struct account_groups *groups = &supervisor->account_file->groups;
	free(groups->groups);
	*groups = (struct account_groups){.count = 0};
}
