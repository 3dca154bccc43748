/*
 * Sessions that have come and have no engine to wait for yet: the user database has not said who
 * their user is, or an engine of somebody else's has to end first (engine_room.h). They wait in
 * their order, as long as an engine may take to start.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_ARRIVALS_H
#define SYCLD_SUPERVISOR_TENANT_ARRIVALS_H

struct session;
struct supervisor;
struct tenant;

void arrivals_init(struct supervisor *supervisor);

/* The session waits. Takes it. */
void tenant_let_wait(struct tenant *tenant, struct session *session);

/* What they waited for may be there: place them, or let them wait on. The tenant may be gone
 * afterwards. */
void tenant_continue(struct tenant *tenant);
/* The same of all tenants. */
void arrivals_continue(struct supervisor *supervisor);

/* One of those that wait is told why it is not served. The session ends. */
void tenant_drop_arrival(struct tenant *tenant, struct session *session, const char *text);

/* The service takes no more sessions. */
void arrivals_refuse(struct supervisor *supervisor, const char *text);

#endif
