/*
 * Which tenants are remembered. A tenant without figures and orders is forgotten. Figures are never
 * dropped. With too many tenants, the figures of those that have been away for longest are added to
 * one row (TENANT_OTHERS). A user with subordinate uids can use many uids that are not in the user
 * database. So few of them have rows of their own, and they never cost a known user its row.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_FORGET_H
#define SYCLD_SUPERVISOR_TENANT_FORGET_H

#include <stdbool.h>
#include <sys/types.h>

struct refusal;
struct supervisor;
struct tenant;

/* A client was refused, or an order is done: free the tenant if nothing of it has to be remembered.
 */
void tenant_review(struct tenant *tenant);

/* Make room for one more tenant. False: all tenants have engines or orders, or there is no memory.
 */
bool tenants_make_room(struct supervisor *supervisor);

/* Another uid is not in the user database: merge figures of others of that kind if there are
 * many. */
void tenants_merge_unknown(const struct tenant *newcomer);

/* The tenant, made if missing. NULL: there are too many, no memory, or no user can have that uid;
 * `refusal_out` has the reason. */
struct tenant *tenant_get(struct supervisor *supervisor, uid_t uid, struct refusal *refusal_out);

/* The same, to restore figures of an earlier service, also of TENANT_OTHERS. NULL: too many, or no
 * memory. */
struct tenant *tenant_restore(struct supervisor *supervisor, uid_t uid);

#endif
