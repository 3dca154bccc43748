/*
 * Sessions that have no engine to wait for yet. The user database has not identified their user, or
 * an engine of another tenant must end first (engine/room.h). They wait in their order, as long as
 * an engine may take to start.
 */
#ifndef SYCLD_SUPERVISOR_TENANT_ARRIVALS_H
#define SYCLD_SUPERVISOR_TENANT_ARRIVALS_H

struct session;
struct supervisor;
struct tenant;

void arrivals_init(struct supervisor *supervisor);

/* The session waits. Takes it. */
void arrivals_add(struct tenant *tenant, struct session *session);

/* The reason for the wait may be over: place the sessions, or let them wait on. The tenant may be
 * freed by this call. */
void arrivals_continue_tenant(struct tenant *tenant);
/* The same for all tenants. */
void arrivals_continue(struct supervisor *supervisor);

/* Refuse a session that waits; `text` is for the client. The session ends. */
void arrivals_drop(struct tenant *tenant, struct session *session, const char *text);

/* The service takes no more sessions. */
void arrivals_refuse(struct supervisor *supervisor, const char *text);

#endif
