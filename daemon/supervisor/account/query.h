/* Sums of use as a client requests them (AccountsQuery): of the accounts, and of open sessions. */
#ifndef SYCLD_SUPERVISOR_ACCOUNT_QUERY_H
#define SYCLD_SUPERVISOR_ACCOUNT_QUERY_H

#include "base/account_table.h"
#include "admin.pb-c.h"
#include "control.pb-c.h"

#include <stdbool.h>

struct session;
struct tenant;

enum {
	ACCOUNTS_BY_USER = 1,
	ACCOUNTS_BY_CGROUP = 2,
	ACCOUNTS_BY_DEVICE = 4,
	ACCOUNTS_BY_SESSION = 8,
	ACCOUNTS_BY_JOB = 16,
	ACCOUNTS_BY_ALL = 31
};

/* The most rows of a reply, and of one tenant in it. What has no row any more is added to a row of
 * its tenant and device: session 0, and control group ACCOUNT_OTHERS. These rows come on top. */
enum { ACCOUNT_QUERY_ROWS_MAX = 16384, ACCOUNT_QUERY_TENANT_ROWS_MAX = 2048 };

struct account_terms {
	uint32_t by;
	bool of_user, of_device;
	uint32_t uid, backend, index;
	uint64_t job;              /* 0: all */
	char cgroup[CGROUP_BYTES]; /* "": all groups */
};

struct account_query {
	struct account_terms terms;
	struct account_table table;
	uint32_t tenant_rows; /* rows that were made for the present tenant */
	/* Memory of the reply. */
	Sycl__V1__AccountRow *rows, **list;
	Sycl__V1__DeviceUsage *used;
};

/* NULL, or the reason for refusing the query. */
const char *account_terms_read(const Sycl__V1__AccountsQuery *query,
			       struct account_terms *terms_out);

/* Begins a tenant, and adds its kept account. Its sessions follow. */
void account_query_begin_tenant(struct account_query *query, const struct tenant *tenant);
/* Adds an open session of that tenant; the query refers to it until the query ends. */
void account_query_add_session(struct account_query *query, const struct session *session,
			       const Sycl__V1__SessionReport *claim);
/*
 * Puts the rows into the reply, in order of their use of devices, largest first. False: no memory.
 */
bool account_query_finish(struct account_query *query, Sycl__V1__AdminReply *reply);
void account_query_fini(struct account_query *query);

#endif
