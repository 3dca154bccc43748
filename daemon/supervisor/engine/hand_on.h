/* Hands sessions from the service to their engine, over its control socket. */
#ifndef SYCLD_ENGINE_HAND_ON_H
#define SYCLD_ENGINE_HAND_ON_H

#include "service/engine_state.h"

struct session;

/* Gives the engine a session. It is handed on at once if the engine is ready and the client has
 * sent data; otherwise later. Takes the session. */
void engine_give_session(struct engine *engine, struct session *session);

/* Hands on waiting sessions, as far as the control socket accepts them now. */
void engine_flush(struct engine *engine);

/* Called when the client of a silent session, which waits for an engine, has sent data or has hung
 * up. */
void engine_client_readable(struct session *session);

/* Polls the control socket for these events. Does nothing for a killed engine. */
void engine_watch_control(struct engine *engine, int events);

#endif
