/*
 * Sessions that are not open yet, of all tenants. Each holds two descriptors of the service, the
 * socket and the process, until its engine says that it is open. An engine runs its tenant's code
 * and may never say so: so here it is watched whether the process that connected is still there,
 * how long it has taken, and how many there are.
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
	struct session_list
		sessions; /* by their `unsettled` link; who has waited longest is first */
	unsigned count;
	int processes;  /* epoll: their pidfds */
	uv_poll_t poll; /* of that */
	uv_timer_t deadline;
	bool is_open;
};

/* 0 or a negative errno. */
int unsettled_open(struct supervisor *supervisor);

/* No session may be left in it. The loop must run once more. */
void unsettled_close(struct supervisor *supervisor);

/* A session that waits for its engine, or until there can be one (NULL), with its descriptors, or
 * that its engine has just got: its time begins anew. */
void unsettled_add(struct tenant *tenant, struct engine *engine, struct session *session);
void unsettled_handed_on(struct session *session);

/* It is open, or is over: before its descriptors are closed. Does nothing where it is not among
 * them. */
void unsettled_remove(struct session *session);

/*
 * May one more of the tenant's be among them? At a limit of all, the tenant that has most of them
 * loses its oldest one, if it has more than this one. False: `refusal_out` says why.
 */
bool unsettled_may_add(struct tenant *tenant, struct refusal *refusal_out);

#endif
