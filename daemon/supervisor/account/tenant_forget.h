/*
 * Which tenants are remembered. One of whom nothing was counted and nothing was ordered is nothing
 * to remember. What was counted is never dropped: where there are too many tenants, the figures of
 * those that have been away for longest are added to one row for all such (TENANT_OTHERS). Uids
 * that the user database does not know are free to whoever has subordinate uids, so few of them
 * have rows of their own, and however many come, they cost no user a row.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_FORGET_H
#define SYCLD_SUPERVISOR_TENANT_FORGET_H

#include <stdbool.h>
#include <sys/types.h>

struct refusal;
struct supervisor;
struct tenant;

/* A client was refused, or an order is done: the tenant is gone afterwards if there is nothing to
 * remember of it. */
void tenant_review(struct tenant *tenant);

/* Room for one more tenant. False: there is none, as all there are have engines or orders, or there
 * is no memory. */
bool tenants_make_room(struct supervisor *supervisor);

/* There is one more uid that the user database does not know: figures of others of that kind are
 * put together if there are many. */
void tenants_join_unknown(const struct tenant *newcomer);

/* The tenant, made if missing. NULL: there are too many, no memory, or nobody can have that uid;
 * `refusal_out` says so. */
struct tenant *tenant_get(struct supervisor *supervisor, uid_t uid, struct refusal *refusal_out);

/* The same to restore figures of an earlier service's, also of TENANT_OTHERS. NULL: too many, or no
 * memory. */
struct tenant *tenant_restore(struct supervisor *supervisor, uid_t uid);

#endif
