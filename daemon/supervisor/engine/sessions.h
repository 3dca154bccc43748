/* The sessions of an engine: those that wait for it, and those that it has. */
#ifndef SYCLD_ENGINE_SESSIONS_H
#define SYCLD_ENGINE_SESSIONS_H

#include "service/engine_state.h"

struct session;

void engine_add_session(struct engine *engine, struct session *session);

void engine_remove_session(struct engine *engine, struct session *session);

/* The session ends, and is freed. */
void engine_session_end(struct engine *engine, struct session *session);

/* The first that waits, or NULL. It waits no more. */
struct session *engine_pop_waiting(struct engine *engine);

/* This one waits no more. */
void engine_take_waiting(struct engine *engine, struct session *session);

/* All that wait. */
void engine_refuse_waiting(struct engine *engine, const char *text);

/* Refuse a session that waits for it; `text` is for the client. The session ends. */
void engine_drop_waiting(struct engine *engine, struct session *session, const char *text);

/* The engine has reported that a session is open. */
void engine_session_opened(struct session *session);

/* Add a session that it had before it came back. */
void engine_session_returned(struct engine *engine, struct session *session);

/* Sessions of which an ending engine has read nothing go to the next engine. */
void engine_move_sessions(struct engine *engine);

/* End the sessions that are left. */
void engine_end_sessions(struct engine *engine);

#endif
