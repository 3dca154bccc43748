/*
 * Rules for how long tenants are kept. A tenant without figures and orders is removed. Figures are
 * never dropped. If there are too many tenants, the figures of those absent for longest are added
 * to one row (TENANT_OTHERS). A user with subordinate uids can use many uids that are not in the
 * user database. So only a few of these have rows of their own, and a known user never loses its
 * row to them.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_FORGET_H
#define SYCLD_SUPERVISOR_TENANT_FORGET_H

#include <stdbool.h>
#include <sys/types.h>

struct refusal;
struct supervisor;
struct tenant;

/* Called when a client was refused, or an order was carried out. Frees the tenant if nothing of it
 * must be kept. */
void tenant_review(struct tenant *tenant);

/* Called for a newcomer that is not in the user database. Merges the figures of other such tenants
 * if there are many. */
void tenants_merge_unknown(const struct tenant *newcomer);

/* Returns the tenant, made if missing. NULL: there are too many, no memory, or no user can have
 * that uid; `refusal_out` has the reason. */
struct tenant *tenant_get(struct supervisor *supervisor, uid_t uid, struct refusal *refusal_out);

/* As tenant_get, to restore figures of an earlier service, also of TENANT_OTHERS. NULL: too many,
 * or no memory. */
struct tenant *tenant_restore(struct supervisor *supervisor, uid_t uid);

#endif
