/* The sessions of an engine: those that wait for it, and those that were handed to it. */
#include "engine/sessions.h"

#include "base/foreign_socket.h"
#include "base/refusal.h"
#include "cleanup.h"
#include "service/supervisor.h"
#include "service/tenant.h"
#include "service/unsettled.h"

void engine_session_end(struct engine *engine, struct session *session)
{
	tenant_session_left(engine->tenant, session);
	engine->tenant->supervisor->observer->session_ended(engine->tenant->supervisor, session);
	(void)session_free(session);
}

static void engine_session_refuse(struct engine *engine, struct session *session,
				  enum sycl_status code, const char *text)
{
	/* Called while the socket is known, because an engine may have passed it to another
	 * process. */
	unsettled_remove(session);
	refuse_client(take_fd(&session->socket), code, text);
	engine_session_end(engine, session);
}

void engine_add_session(struct engine *engine, struct session *session)
{
	TAILQ_INSERT_TAIL(&engine->sessions, session, link);
	LIST_INSERT_HEAD(&engine->places[session->id % ENGINE_PLACES], session, same_place);
	engine->sessions_count++;
}

void engine_remove_session(struct engine *engine, struct session *session)
{
	TAILQ_REMOVE(&engine->sessions, session, link);
	LIST_REMOVE(session, same_place);
	engine->sessions_count--;
}

void engine_take_waiting(struct engine *engine, struct session *session)
{
	TAILQ_REMOVE(session->is_silent ? &engine->silent : &engine->waiting, session, link);
	engine->waiting_count--;
}

struct session *engine_pop_waiting(struct engine *engine)
{
	struct session *session = TAILQ_FIRST(&engine->waiting);
	if (!session)
		session = TAILQ_FIRST(&engine->silent);
	if (session)
		engine_take_waiting(engine, session);
	return session;
}

void engine_refuse_waiting(struct engine *engine, const char *text)
{
	struct session *session;
	while ((session = engine_pop_waiting(engine)))
		engine_session_refuse(engine, session, STATUS_CONNECTION_LOST, text);
}

void engine_drop_waiting(struct engine *engine, struct session *session, const char *text)
{
	engine_take_waiting(engine, session);
	engine_session_refuse(engine, session, STATUS_CONNECTION_LOST, text);
}

void engine_move_sessions(struct engine *engine)
{
	struct session *session, *next;
	for (session = TAILQ_FIRST(&engine->sessions); session; session = next) {
		next = TAILQ_NEXT(session, link);
		if (session->phase != SESSION_HANDSHAKE || !session_is_untouched(session))
			continue;
		engine_remove_session(engine, session);
		session_drop_limits(session); /* the next engine does not have these limits */
		TAILQ_INSERT_TAIL(&engine->waiting, session, link);
		engine->waiting_count++;
	}
	while ((session = engine_pop_waiting(engine))) {
		tenant_session_left(engine->tenant, session);
		engine->tenant->supervisor->observer->session_unplaced(engine->tenant, session);
	}
}

void engine_end_sessions(struct engine *engine)
{
	struct session *session;
	while ((session = TAILQ_FIRST(&engine->sessions))) {
		engine_remove_session(engine, session);
		engine_session_end(engine, session);
	}
}

void engine_session_returned(struct engine *engine, struct session *session)
{
	engine_add_session(engine, session);
	engine->had_session = true;
	tenant_session_joined(engine->tenant);
}

void engine_session_opened(struct session *session)
{
	session->phase = SESSION_OPEN;
	unsettled_remove(session);
	session_close_descriptors(session);
}
