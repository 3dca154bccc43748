#include "admin/orders_file.h"

#include "account/tenant_forget.h"
#include "admin.pb-c.h"
#include "admin/orders_sessions.h"
#include "cleanup.h"
#include "base/kept_file.h"
#include "base/log.h"
#include "service/engine_state.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME  "orders"
#define FILE_MAGIC 0x000164726f6c6373ull /* "sclord", and the version of its format */

enum { FILE_BYTES_MAX = 4 << 20 };

/* The drained users, and who has drained each. */
struct kept_drains {
	uint32_t *uids;
	Sycl__V1__OrderOrigin *origins;
	Sycl__V1__OrderOrigin **list;
	size_t count;
};

static void kept_drains_fini(struct kept_drains *kept)
{
	free(kept->uids);
	free(kept->origins);
	free((void *)kept->list);
}

static int kept_drains_collect(const struct supervisor *supervisor, struct kept_drains *kept)
{
	const struct tenant *tenant;
	size_t room = supervisor->tenant_count + 1u;
	kept->uids = calloc(room, sizeof(*kept->uids));
	kept->origins = calloc(room, sizeof(*kept->origins));
	kept->list = calloc(room, sizeof(void *));
	if (!kept->uids || !kept->origins || !kept->list)
		return -ENOMEM;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link) {
		if (!tenant->drained)
			continue;
		kept->uids[kept->count] = tenant->uid;
		kept_origin_fill(&kept->origins[kept->count], &tenant->drained_by);
		kept->list[kept->count] = &kept->origins[kept->count];
		kept->count++;
	}
	return 0;
}

/* One row for each ordered limit. */
struct kept_limits {
	Sycl__V1__LimitFacts *rows;
	Sycl__V1__OrderOrigin *origins;
	Sycl__V1__LimitFacts **list;
	size_t count;
};

static void kept_limits_fini(struct kept_limits *kept)
{
	free(kept->rows);
	free(kept->origins);
	free((void *)kept->list);
}

static void kept_limits_add(struct kept_limits *kept, const struct tenant *tenant, const char *name,
			    uint64_t value, const struct order_origin *by)
{
	Sycl__V1__LimitFacts *row = &kept->rows[kept->count];
	if (value == 0)
		return;
	sycl__v1__limit_facts__init(row);
	row->name = (char *)(uintptr_t)name;
	row->value = value;
	row->source = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_ORDER;
	row->of_user = tenant != NULL;
	row->uid = tenant ? tenant->uid : 0;
	kept_origin_fill(&kept->origins[kept->count], by);
	row->ordered_by = &kept->origins[kept->count];
	kept->list[kept->count++] = row;
}

static void kept_limits_add_all(struct kept_limits *kept, const struct tenant *tenant,
				const struct limit_orders *orders)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		kept_limits_add(kept, tenant, configuration_limit_names[i], orders->limits[i],
				&orders->limits_by[i]);
	kept_limits_add(kept, tenant, "sessions_per_tenant", orders->sessions_most,
			&orders->sessions_by);
	kept_limits_add(kept, tenant, "share_min", orders->share_least, &orders->least_by);
	kept_limits_add(kept, tenant, "share_max", orders->share_most, &orders->most_by);
}

static int kept_limits_collect(const struct supervisor *supervisor, struct kept_limits *kept)
{
	const struct tenant *tenant;
	size_t room = ((size_t)CONFIGURATION_LIMITS + 3) * (supervisor->tenant_count + 1u);
	kept->rows = calloc(room, sizeof(*kept->rows));
	kept->origins = calloc(room, sizeof(*kept->origins));
	kept->list = calloc(room, sizeof(void *));
	if (!kept->rows || !kept->origins || !kept->list)
		return -ENOMEM;
	kept_limits_add_all(kept, NULL, &supervisor->orders);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		kept_limits_add_all(kept, tenant, &tenant->orders);
	return 0;
}

static int kept_orders_write(const struct supervisor *supervisor, const Sycl__V1__KeptOrders *kept)
{
	size_t size = sycl__v1__kept_orders__get_packed_size(kept);
	CLEANUP(free_pointer) uint8_t *bytes = malloc(sizeof(struct kept_file_head) + size);
	if (!bytes)
		return -ENOMEM;
	(void)sycl__v1__kept_orders__pack(kept, bytes + sizeof(struct kept_file_head));
	kept_file_write_head(bytes, sizeof(struct kept_file_head) + size, FILE_MAGIC);
	return kept_file_replace(supervisor->directory.fd, FILE_NAME, bytes,
				 sizeof(struct kept_file_head) + size);
}

int orders_file_save(const struct supervisor *supervisor)
{
	CLEANUP(kept_drains_fini) struct kept_drains drains = {.count = 0};
	CLEANUP(kept_limits_fini) struct kept_limits limits = {.count = 0};
	CLEANUP(kept_of_sessions_fini) struct kept_of_sessions sessions = {.pause_count = 0};
	if (kept_drains_collect(supervisor, &drains) < 0 ||
	    kept_limits_collect(supervisor, &limits) < 0 ||
	    kept_of_sessions_collect(supervisor, &sessions) < 0)
		return -ENOMEM;
	Sycl__V1__KeptOrders kept = SYCL__V1__KEPT_ORDERS__INIT;
	Sycl__V1__OrderOrigin drained_by;
	kept_origin_fill(&drained_by, &supervisor->drained_by);
	kept.drained = supervisor->drained;
	kept.drained_by = supervisor->drained ? &drained_by : NULL;
	kept.drained_uids = drains.uids;
	kept.n_drained_uids = drains.count;
	kept.users_drained_by = drains.list;
	kept.n_users_drained_by = drains.count;
	kept.limits = limits.list;
	kept.n_limits = limits.count;
	kept_of_sessions_fill(&sessions, &kept);
	if (!kept.drained && kept.n_drained_uids == 0 && kept.n_limits == 0 && kept.n_pauses == 0 &&
	    kept.n_session_limits == 0)
		return unlinkat(supervisor->directory.fd, FILE_NAME, 0) == 0 || errno == ENOENT
			       ? 0
			       : -errno;
	return kept_orders_write(supervisor, &kept);
}

/* Skips a limit that this release does not have: another release may have written the file. */
static void limit_orders_restore(struct limit_orders *orders, const Sycl__V1__LimitFacts *kept)
{
	const struct order_origin by = kept_origin_read(kept->ordered_by);
	bool is_percent = kept->value <= 100;
	if (!strcmp(kept->name, "share_min") && is_percent) {
		orders->share_least = (unsigned)kept->value;
		orders->least_by = by;
	} else if (!strcmp(kept->name, "share_max") && is_percent) {
		orders->share_most = (unsigned)kept->value;
		orders->most_by = by;
	} else if (!strcmp(kept->name, "sessions_per_tenant") && kept->value <= UINT32_MAX) {
		orders->sessions_most = (unsigned)kept->value;
		orders->sessions_by = by;
	}
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (!strcmp(kept->name, configuration_limit_names[i]) &&
		    kept->value <= configuration_limit_most[i]) {
			orders->limits[i] = kept->value;
			orders->limits_by[i] = by;
		}
}

static void kept_orders_restore_limit(struct supervisor *supervisor,
				      const Sycl__V1__LimitFacts *kept)
{
	struct limit_orders *orders = &supervisor->orders;
	if (kept->of_user) {
		struct tenant *tenant = tenant_restore(supervisor, (uid_t)kept->uid);
		if (!tenant)
			return;
		orders = &tenant->orders;
	}
	limit_orders_restore(orders, kept);
}

static void kept_orders_restore_user(struct supervisor *supervisor, unsigned long uid,
				     struct order_origin by)
{
	struct tenant *tenant = tenant_restore(supervisor, (uid_t)uid);
	if (!tenant) {
		log_error(
			"order",
			"uid %lu is not drained any more: the service has as many tenants as it can have",
			uid);
		return;
	}
	tenant->drained = true;
	tenant->drained_by = by;
	log_info(
		"order",
		"still drained: no new session of uid %lu is accepted until 'syclctl resume --uid %lu'",
		uid, uid);
}

static void kept_orders_restore(struct supervisor *supervisor, const Sycl__V1__KeptOrders *kept)
{
	bool has_origins = kept->n_users_drained_by == kept->n_drained_uids;
	supervisor->drained = kept->drained;
	supervisor->drained_by = kept_origin_read(kept->drained_by);
	kept_of_sessions_restore(supervisor, kept);
	if (kept->drained)
		log_info("order",
			 "still drained: no new session is accepted until 'syclctl resume --all'");
	for (size_t i = 0; i < kept->n_drained_uids; i++)
		kept_orders_restore_user(
			supervisor, kept->drained_uids[i],
			kept_origin_read(has_origins ? kept->users_drained_by[i] : NULL));
	for (size_t i = 0; i < kept->n_limits; i++)
		kept_orders_restore_limit(supervisor, kept->limits[i]);
	if (kept->n_limits > 0)
		log_info("order", "limits from earlier orders still apply: %zu ('syclctl limits')",
			 kept->n_limits);
}

/* -EBADMSG: the file is damaged, or of another release. */
static int kept_orders_unpack(struct supervisor *supervisor, const uint8_t *bytes, size_t size)
{
	if (!kept_file_has_head(bytes, size, FILE_MAGIC))
		return -EBADMSG;
	/* The file is this user's own, complete and of bounded size. */
	Sycl__V1__KeptOrders *kept = sycl__v1__kept_orders__unpack(
		NULL, size - sizeof(struct kept_file_head), bytes + sizeof(struct kept_file_head));
	if (!kept)
		return -EBADMSG;
	kept_orders_restore(supervisor, kept);
	sycl__v1__kept_orders__free_unpacked(kept, NULL);
	return 0;
}

int orders_file_load(struct supervisor *supervisor)
{
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	size_t size = 0;
	int r = kept_file_read(supervisor->directory.fd, FILE_NAME, sizeof(struct kept_file_head),
			       sizeof(struct kept_file_head) + FILE_BYTES_MAX, &bytes, &size);
	if (r == 0)
		r = kept_orders_unpack(supervisor, bytes, size);
	/* A damaged file must not readmit a drained user. */
	if (r == -EBADMSG || r == -EPERM) {
		supervisor->drained = true;
		log_error("order",
			  "%s/" FILE_NAME
			  " %s: no new session is accepted until 'syclctl resume --all'",
			  supervisor->directory.path,
			  r == -EPERM ? "is not this user's alone"
				      : "is damaged or of another release");
	} else if (r < 0 && r != -ENOENT) {
		log_error("order", "%s/" FILE_NAME " cannot be read: %s",
			  supervisor->directory.path, strerror(-r));
	}
	return r == -EBADMSG || r == -EPERM || r == -ENOENT ? 0 : r;
}
