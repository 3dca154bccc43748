/*
 * Each tenant's use of devices, over all its engines and over restarts of the service
 * (service/service_state.h, account/file.h); also by control group and device. The figures are
 * engines' claims about their own tenant's sessions. They arrive at the end of a session, or were
 * in the last report of an engine that died.
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

/* The most rows of a tenant by control group and device, the number that each tenant keeps at
 * least, and the most rows of all. */
enum { ACCOUNT_ROWS_MAX = 64, ACCOUNT_ROWS_LEAST = 56, ACCOUNT_ROWS_ALL = 16384 };

/* The most devices that a session's claim can name. */
enum { ACCOUNT_DEVICES_MAX = 16 };

/* Counts a session that has ended; `state` is the engine's report of its use. */
void account_session_ended(struct tenant *tenant, const struct session *session,
			   const Sycl__V1__SessionState *state);

/* Counts an engine that has ended, with its remaining sessions. `offender`: the session whose
 * command ended the engine; 0: unknown. */
void account_engine_ended(struct engine *engine, bool has_failed, uint64_t offender);

/* Returns the tenant's row for the key, or NULL. */
struct account_row *account_ledger_row(struct tenant *tenant, const struct account_key *key);

/* Reads a claim: its device, and the sums of use. False: there can be no such device. */
bool account_claim(const Sycl__V1__DeviceUsage *claim, struct account_key *key_out,
		   struct account_sums *sums_out);

/* True if the account has no use. */
bool account_is_empty(const struct service_state_account *account);

/* Adds the engine's claims about open sessions; ended sessions are already counted. */
void account_add_claims(struct service_state_account *account, const struct engine *engine);
void account_fill_usage(const struct service_state_account *account, Sycl__V1__Usage *usage_out);

#endif
