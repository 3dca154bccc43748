/*
 * A tenant's user by the user database: a user with its group, or a uid without a user. It is
 * looked up when the tenant first connects, and again from time to time; a result holds until the
 * next one.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_IDENTITY_H
#define SYCLD_SUPERVISOR_TENANT_IDENTITY_H

struct refusal;
struct tenant;

/*
 * 0: the user is known. -EINPROGRESS: the look-up is under way, and the observer's
 * tenant_identified is called when there is a result. Anything else: the tenant is not to be
 * served, and `refusal_out` has the reason. Does not block.
 */
int tenant_identify(struct tenant *tenant, struct refusal *refusal_out);

/* Look it up again after the configuration has changed. The previous result holds until then. */
void tenant_identify_again(struct tenant *tenant);

#endif
