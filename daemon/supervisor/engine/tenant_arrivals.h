/*
 * Sessions without an engine to wait for. The user database has not identified their user yet, or
 * an engine of another tenant must end first (engine/room.h). They wait in order, as long as an
 * engine may take to start.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_ARRIVALS_H
#define SYCLD_SUPERVISOR_TENANT_ARRIVALS_H

struct session;
struct supervisor;
struct tenant;

void arrivals_init(struct supervisor *supervisor);

/* Lets the session wait. Takes it. */
void arrivals_add(struct tenant *tenant, struct session *session);

/* Called when the reason for the wait may be over: places the sessions, or lets them wait further.
 * This may free the tenant. */
void arrivals_continue_tenant(struct tenant *tenant);
/* As arrivals_continue_tenant, for all tenants. */
void arrivals_continue(struct supervisor *supervisor);

/* Refuses a waiting session; `text` is for the client. The session ends. */
void arrivals_drop(struct tenant *tenant, struct session *session, const char *text);

/* Called when the service accepts no more sessions. */
void arrivals_refuse(struct supervisor *supervisor, const char *text);

#endif
