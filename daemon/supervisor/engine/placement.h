/* Placement of sessions: finds or starts an engine, lets the session wait, or refuses it. */
#ifndef SYCLD_SUPERVISOR_ENGINE_PLACEMENT_H
#define SYCLD_SUPERVISOR_ENGINE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct job;
struct refusal;
struct session;
struct tenant;

/*
 * Returns an engine that can take a session, of the job if that is not NULL: the current one, or
 * one that is started now (`may_adopt`: the standby, if there is one). A negative errno: none;
 * `refusal_out` has the reason.
 */
int tenant_engine(struct tenant *tenant, struct job *job, bool may_adopt,
		  struct engine **engine_out, struct refusal *refusal_out);

/* Hands a session to an engine, lets it wait until there can be one, or refuses its client. Takes
 * the session. */
void tenant_place(struct tenant *tenant, struct session *session);

/*
 * Starts an engine before the next session, with these devices opened (bit n: device n). The last
 * engine failed its clients, which will connect again. Does nothing if each session has its own
 * engine, if there is an engine already, or if none may be started now.
 */
void tenant_replace_engine(struct tenant *tenant, uint64_t devices);

/* Gives up a session that is not open; the client gets `text`. A session that was handed to its
 * engine stays in the list until the engine reports its end. */
void tenant_give_up(struct session *session, const char *text);

#endif
