/* Placement of sessions: finds an engine, starts one, lets the session wait, or refuses it. */
#ifndef SYCLD_SUPERVISOR_ENGINE_PLACEMENT_H
#define SYCLD_SUPERVISOR_ENGINE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct refusal;
struct session;
struct tenant;

/*
 * An engine that can take a session: the current one, or one that is started now (`may_adopt`: the
 * standby, if there is one). A negative errno: none; `refusal_out` has the reason.
 */
int tenant_engine(struct tenant *tenant, bool may_adopt, struct engine **engine_out,
		  struct refusal *refusal_out);

/* Hand a session to an engine, let it wait until there can be one, or refuse its client. Takes the
 * session. */
void tenant_place(struct tenant *tenant, struct session *session);

/*
 * Start an engine ahead of the next session, with these devices opened (bit n: device n). The last
 * one failed its clients, which will connect again. Does nothing where each session has an engine
 * of its own, where there is one already, or where none may be started now.
 */
void tenant_replace_engine(struct tenant *tenant, uint64_t devices);

/* Give up a session that is not open; the client gets `text`. A session that its engine has got
 * stays in the list until the engine reports what became of it. */
void tenant_give_up(struct session *session, const char *text);

#endif
