/* The sessions of an engine: those that wait for it, and those that were handed to it. */
#ifndef SYCLD_ENGINE_SESSIONS_H
#define SYCLD_ENGINE_SESSIONS_H

#include "service/engine_state.h"

struct session;

void engine_add_session(struct engine *engine, struct session *session);

void engine_remove_session(struct engine *engine, struct session *session);

/* Ends and frees the session. */
void engine_session_end(struct engine *engine, struct session *session);

/* Takes the first waiting session off the list, or returns NULL. */
struct session *engine_pop_waiting(struct engine *engine);

/* Takes this session off the list of waiting ones. */
void engine_take_waiting(struct engine *engine, struct session *session);

/* Refuses all waiting sessions. */
void engine_refuse_waiting(struct engine *engine, const char *text);

/* Refuses a waiting session; `text` is for the client. The session ends. */
void engine_drop_waiting(struct engine *engine, struct session *session, const char *text);

/* Called when the engine has reported that a session is open. */
void engine_session_opened(struct session *session);

/* Adds a session that a returned engine already had. */
void engine_session_returned(struct engine *engine, struct session *session);

/* Passes sessions of which an ending engine has read nothing to the next engine. */
void engine_move_sessions(struct engine *engine);

/* Ends the remaining sessions. */
void engine_end_sessions(struct engine *engine);

#endif
