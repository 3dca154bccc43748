/* Queries about the accounts of very many sessions. */
#include "account/query.h"

#include "account/account.h"
#include "service/session.h"
#include "service/tenant.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdbool.h>
#include <stdint.h>

enum { USERS = 16, SESSIONS = 1024, DEVICES = ACCOUNT_DEVICES_MAX };

enum { CLAIM_NS = 3 }; /* of each session on each device */

TestSuite(account_query, .timeout = 60);

bool account_claim(const Sycl__V1__DeviceUsage *claim, struct account_key *key_out,
		   struct account_sums *sums_out)
{
	key_out->backend = (uint32_t)claim->backend;
	key_out->index = claim->index;
	*sums_out = (struct account_sums){.device_ns = claim->device_ns};
	return true;
}

static void add_tenant(struct account_query *query, uint32_t uid, unsigned sessions)
{
	static Sycl__V1__DeviceUsage devices[DEVICES], *list[DEVICES];
	Sycl__V1__SessionReport report = SYCL__V1__SESSION_REPORT__INIT;
	report.n_devices = DEVICES;
	report.devices = list;
	for (unsigned i = 0; i < DEVICES; i++) {
		list[i] = &devices[i];
		sycl__v1__device_usage__init(list[i]);
		list[i]->backend = SYCL__V1__BACKEND__BACKEND_CUDA;
		list[i]->index = i;
		list[i]->device_ns = CLAIM_NS;
	}
	struct tenant tenant = {.uid = uid};
	account_query_begin_tenant(query, &tenant);
	for (unsigned i = 0; i < sessions; i++) {
		struct session session = {.id = (uint64_t)uid << 32 | (i + 1),
					  .peer = {.uid = uid, .pid = 77}};
		account_query_add_session(query, &session, &report);
	}
}

static uint64_t ns_of(const Sycl__V1__AdminReply *reply, uint32_t uid)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < reply->n_account_rows; i++)
		if (reply->account_rows[i]->uid == uid)
			sum += reply->account_rows[i]->used->device_ns;
	return sum;
}

static size_t merged_rows(const Sycl__V1__AdminReply *reply, uint32_t uid)
{
	size_t count = 0;
	for (size_t i = 0; i < reply->n_account_rows; i++) {
		const Sycl__V1__AccountRow *row = reply->account_rows[i];
		if (row->uid != uid || row->session != 0)
			continue;
		cr_expect(eq(u32, row->pid, 0u));
		count++;
	}
	return count;
}

/* As an exporter asks, each few seconds. */
Test(account_query, very_many_sessions_have_a_bounded_number_of_rows)
{
	struct account_query query = {
		.terms = {.by = ACCOUNTS_BY_USER | ACCOUNTS_BY_SESSION | ACCOUNTS_BY_DEVICE}};
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	for (uint32_t uid = 1; uid <= USERS; uid++)
		add_tenant(&query, uid, SESSIONS);
	cr_assert(account_query_finish(&query, &reply));
	cr_expect(le(sz, reply.n_account_rows, ACCOUNT_QUERY_ROWS_MAX + (size_t)USERS * DEVICES));
	for (uint32_t uid = 1; uid <= USERS; uid++) {
		cr_expect(eq(u64, ns_of(&reply, uid), (uint64_t)SESSIONS * DEVICES * CLAIM_NS),
			  "nothing of user %u is lost", uid);
		cr_expect(eq(sz, merged_rows(&reply, uid), DEVICES));
	}
	account_query_fini(&query);
}

Test(account_query, one_users_many_sessions_hide_no_other_users)
{
	struct account_query query = {
		.terms = {.by = ACCOUNTS_BY_USER | ACCOUNTS_BY_SESSION | ACCOUNTS_BY_DEVICE}};
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	add_tenant(&query, 1, SESSIONS);
	add_tenant(&query, 2, 2);
	cr_assert(account_query_finish(&query, &reply));
	cr_expect(eq(sz, merged_rows(&reply, 1), DEVICES));
	cr_expect(eq(sz, merged_rows(&reply, 2), 0u));
	cr_expect(eq(u64, ns_of(&reply, 2), 2ull * DEVICES * CLAIM_NS));
	cr_expect(eq(sz, reply.n_account_rows,
		     ACCOUNT_QUERY_TENANT_ROWS_MAX + DEVICES + 2u * DEVICES));
	account_query_fini(&query);
}

/* If rows are not by user, merged rows are of all users. */
Test(account_query, merged_rows_name_their_group)
{
	struct account_query query = {.terms = {.by = ACCOUNTS_BY_CGROUP | ACCOUNTS_BY_SESSION}};
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	for (uint32_t uid = 1; uid <= 2; uid++)
		add_tenant(&query, uid, ACCOUNT_QUERY_TENANT_ROWS_MAX + 2);
	cr_assert(account_query_finish(&query, &reply));
	cr_assert(eq(sz, reply.n_account_rows, 2u * ACCOUNT_QUERY_TENANT_ROWS_MAX + 1u));
	const Sycl__V1__AccountRow *others = reply.account_rows[0];
	cr_expect(eq(u64, others->session, 0u));
	cr_expect(eq(str, others->cgroup, (char *)(uintptr_t)ACCOUNT_OTHERS));
	cr_expect(eq(u64, others->used->device_ns, 4ull * DEVICES * CLAIM_NS), "the largest use");
	account_query_fini(&query);
}
