/* Sessions go from the service to their engine, over its control socket. */
#ifndef SYCLD_ENGINE_HAND_ON_H
#define SYCLD_ENGINE_HAND_ON_H

#include "service/engine_state.h"

struct session;

/* Give it a session: handed on at once when the engine is ready and the client has sent something,
 * else kept until then. Takes the session. */
void engine_give_session(struct engine *engine, struct session *session);

/* Hand on waiting sessions, as far as the control socket takes them now. */
void engine_flush(struct engine *engine);

/* The client of a silent session, which waits for an engine, has sent something or has hung up. */
void engine_client_readable(struct session *session);

/* Watch the control socket for these events. Does nothing for an engine that was killed. */
void engine_watch_control(struct engine *engine, int events);

#endif
