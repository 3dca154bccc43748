/*
 * Who a tenant is, by the user database: a user of a certain group, or a uid that nobody has. Asked
 * when the tenant comes, and again from time to time; an answer that was there stays until there is
 * another one.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_IDENTITY_H
#define SYCLD_SUPERVISOR_TENANT_IDENTITY_H

struct refusal;
struct tenant;

/*
 * 0: it is known who that is. -EINPROGRESS: it is being asked; the observer's
 * tenant_identified is called when there is an answer. Anything else: it is not to be
 * served, and `refusal_out` says why. Does not block.
 */
int tenant_identify(struct tenant *tenant, struct refusal *refusal_out);

/* Ask again, as what is configured has changed. What was known holds until then. */
void tenant_identify_again(struct tenant *tenant);

#endif
