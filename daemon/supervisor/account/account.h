/*
 * Each tenant's use of devices, over all its engines and over restarts of the service
 * (service/service_state.h, account/file.h), also by control group and device. The figures are
 * engines' claims about their own tenant's sessions. They come at the end of a session, or from the
 * last report of an engine that died.
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

/* Most rows of a tenant by control group and device, and the number that it keeps when all tenants
 * have very many. */
enum { ACCOUNT_ROWS_MAX = 64, ACCOUNT_ROWS_LEAST = 56, ACCOUNT_ROWS_ALL = 16384 };

/* The most devices that one session is believed to have used. */
enum { ACCOUNT_DEVICES_MAX = 16 };

/* A session is over; `state` is the engine's report of what it has used. */
void account_session_ended(struct tenant *tenant, const struct session *session,
			   const Sycl__V1__SessionState *state);

/*
 * An engine has ended, with the sessions that it still had. `offender`: the session whose command
 * it died of, as far as known, else 0.
 */
void account_engine_ended(struct engine *engine, bool has_failed, uint64_t offender);

/* The tenant's row for the key, or NULL. */
struct account_row *account_ledger_row(struct tenant *tenant, const struct account_key *key);

/* Read a claim: its device, and the sums of use. False: there can be no such device. */
bool account_claim(const Sycl__V1__DeviceUsage *claim, struct account_key *key_out,
		   struct account_sums *sums_out);

/* Was nothing used at all? */
bool account_is_empty(const struct service_state_account *account);

/* Add the engine's claims about sessions that it still has; ended sessions are counted already. */
void account_add_claims(struct service_state_account *account, const struct engine *engine);
void account_fill_usage(const struct service_state_account *account, Sycl__V1__Usage *usage_out);

#endif
