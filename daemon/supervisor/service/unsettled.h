/*
 * Sessions that are not open yet, of all tenants. Each holds two descriptors of the service, the
 * socket and the process, until its engine reports that it is open. An engine runs its tenant's
 * code and may never report that. So this part observes the client's process, the session's waiting
 * time, and the number of such sessions.
 */
#ifndef SYCLD_SUPERVISOR_UNSETTLED_H
#define SYCLD_SUPERVISOR_UNSETTLED_H

#include "service/session.h"

#include <stdbool.h>
#include <uv.h>

struct refusal;
struct supervisor;
struct tenant;

struct unsettled {
	struct session_list sessions; /* by their `unsettled` link, the longest waiting one first */
	unsigned count;
	int processes;  /* epoll: their pidfds, and the sockets of those whose client is silent */
	uv_poll_t poll; /* polls `epoll` */
	uv_timer_t deadline;
	bool is_open;
};

/* 0 or a negative errno. */
int unsettled_open(struct supervisor *supervisor);

/* No session may be left in it. The loop must run once more. */
void unsettled_close(struct supervisor *supervisor);

/* Adds a session, with its descriptors, that waits for its engine, or until there can be one
 * (NULL). unsettled_restart_deadline: an engine has just received it, and its time begins again. */
void unsettled_add(struct tenant *tenant, struct engine *engine, struct session *session);
void unsettled_restart_deadline(struct session *session);

/*
 * Called when an engine could take the session, and its client has sent nothing yet.
 * `session_readable` is called when there is data to read. A repeated call does nothing. 0 or a
 * negative errno.
 */
int unsettled_await_client(struct session *session);

/* Removes a session that is open or has ended, before its descriptors are closed. Does nothing for
 * one that is not in the list. */
void unsettled_remove(struct session *session);

/*
 * True if one more session of the tenant may be added. At the limit of all tenants, the tenant with
 * most of them loses its oldest one, if it has more than this tenant. False: `refusal_out` has the
 * reason.
 */
bool unsettled_may_add(struct tenant *tenant, struct refusal *refusal_out);

#endif
