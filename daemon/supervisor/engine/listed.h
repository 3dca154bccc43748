/*
 * Which sessions an engine has, in the file for the next service (service/open_sessions.h). An
 * engine returns with these only. If one of them could not be written, the next service accepts
 * any session whose proof is right from this engine.
 */
#ifndef SYCLD_ENGINE_LISTED_H
#define SYCLD_ENGINE_LISTED_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Called before the engine gets the session. */
void engine_list_session(struct engine *engine, uint64_t session);

/* Called when the engine has closed the session, or could not get it. */
void engine_unlist_session(struct engine *engine, uint64_t session);

/* Called when the engine cannot return any more. Sessions that another engine got meanwhile stay
 * listed. */
void engine_unlist_sessions(struct engine *engine);

/* RETURNING: false if the session was closed, or is another engine's. */
bool engine_may_return_with(const struct engine *engine, uint64_t session);

/* Called at the end of its return: makes the list what the engine has. */
void engine_settle_list(struct engine *engine);

#endif
