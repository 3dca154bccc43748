/*
 * What each tenant has used, over all of its engines, and over restarts of the service
 * (service_state.h, account_file.h), also by control group and device. It is what engines say of
 * their tenant's own sessions: at a session's end, and of sessions whose engine died what it
 * reported last.
 */
#ifndef SYCLD_SUPERVISOR_ACCOUNT_H
#define SYCLD_SUPERVISOR_ACCOUNT_H

#include "base/account_table.h"
#include "control.pb-c.h"
#include "service/service_state.h"

#include <stdbool.h>

struct engine;
struct session;
struct supervisor;
struct tenant;

/* Rows of a tenant by control group and device, and how many it may have in any case: when all have
 * very many. */
enum { ACCOUNT_ROWS_MAX = 64, ACCOUNT_ROWS_LEAST = 56, ACCOUNT_ROWS_ALL = 16384 };

/* Devices of one session of which is believed that it has used them. */
enum { ACCOUNT_DEVICES_MAX = 16 };

/* A session is over, as the engine says with what it has used. */
void account_session_ended(struct tenant *tenant, const struct session *session,
			   const Sycl__V1__SessionState *state);

/*
 * An engine is gone, with the sessions that it still has. `offender`: the session whose command it
 * died of, as far as that is known; 0: it is not.
 */
void account_engine_ended(struct engine *engine, bool has_failed, uint64_t offender);

/* The row of a tenant for that, or NULL. */
struct account_row *account_ledger_row(struct tenant *tenant, const struct account_key *key);

/* Of which device it is, and how much it says was used of it. False: there can be no such device.
 */
bool account_claim(const Sycl__V1__DeviceUsage *claim, struct account_key *key_out,
		   struct account_sums *sums_out);

/* Has it used anything at all? */
bool account_is_empty(const struct service_state_account *account);

/* Add what the engine says of sessions that it still has: what has ended since is counted already.
 */
void account_add_claims(struct service_state_account *account, const struct engine *engine);
void account_fill(const struct service_state_account *account, Sycl__V1__Usage *usage_out);

#endif
