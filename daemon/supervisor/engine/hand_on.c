#include "engine/hand_on.h"

#include "base/turn.h"
#include "control.pb-c.h"
#include "engine/control.h"
#include "engine/end.h"
#include "engine/listed.h"
#include "engine/sessions.h"
#include "service/supervisor.h"
#include "service/unsettled.h"

#include <errno.h>

enum { MESSAGES_PER_TURN = 64 };

/* All engines together may have so many large messages that their handling delays every user. */
static unsigned engine_messages_now(const struct engine *engine)
{
	return turn_is_long(&engine->tenant->supervisor->loop) ? 1 : MESSAGES_PER_TURN;
}

static void on_engine_control(uv_poll_t *poll, int status, int events)
{
	struct engine *engine = poll->data;
	if (status < 0) {
		engine->tenant->supervisor->observer->received(engine, ENGINE_MESSAGES_AT_END);
		engine_control_lost(engine, "its control socket fails");
		return;
	}
	if (events & UV_WRITABLE)
		engine_flush(engine);
	if (events & UV_READABLE)
		engine->tenant->supervisor->observer->received(engine, engine_messages_now(engine));
}

/* A killed engine's messages are not read. Otherwise its last messages would keep this loop busy
 * until the process has ended, which a driver can delay. */
void engine_watch_control(struct engine *engine, int events)
{
	if (!engine->control_poll || engine->kill_reason[0] || engine->control_events == events)
		return;
	engine->control_events = events;
	(void)uv_poll_start(engine->control_poll, events, on_engine_control);
}

/* Without memory for waiting for the client, the session is handed on. */
static bool engine_must_await_client(struct session *session)
{
	return session_has_sent_nothing(session) && unsettled_await_client(session) == 0;
}

/* A silent client does not delay later ones, and is not tried again before it sends data. */
void engine_flush(struct engine *engine)
{
	struct session *session;
	while (engine->state == ENGINE_READY && (session = TAILQ_FIRST(&engine->waiting))) {
		if (engine_must_await_client(session)) {
			TAILQ_REMOVE(&engine->waiting, session, link);
			TAILQ_INSERT_TAIL(&engine->silent, session, link);
			continue;
		}
		/* First, so that it is in the file of open sessions when the engine has it. */
		engine_list_session(engine, session->id);
		int r = engine_send_session(engine, session);
		if (r < 0)
			engine_unlist_session(engine, session->id);
		if (r == -EAGAIN) {
			engine_watch_control(engine, UV_READABLE | UV_WRITABLE);
			return;
		}
		if (r < 0) {
			/* The engine ends soon, and waiting sessions go to the next one. */
			engine_control_lost(engine, "it does not take a session");
			return;
		}
		engine_take_waiting(engine, session);
		session->phase = SESSION_HANDSHAKE;
		unsettled_restart_deadline(session);
		engine_add_session(engine, session);
		/* The message follows the session, so the engine knows the session. */
		if (engine->job && engine->job->is_suspended)
			(void)engine_send_order(engine, session->id,
						SYCL__V1__SESSION_ORDER__ACT__ACT_PAUSE, NULL, 0);
	}
	engine_watch_control(engine, UV_READABLE);
}

void engine_client_readable(struct session *session)
{
	struct engine *engine = session->engine;
	TAILQ_REMOVE(&engine->silent, session, link);
	TAILQ_INSERT_TAIL(&engine->waiting, session, link);
	engine_flush(engine);
}

void engine_give_session(struct engine *engine, struct session *session)
{
	(void)uv_timer_stop(&engine->idle);
	session->phase = SESSION_WAITING;
	TAILQ_INSERT_TAIL(&engine->waiting, session, link);
	engine->waiting_count++;
	/*
	 * Set even if the client never sends data, because an engine of one session gets no other.
	 */
	engine->had_session = true;
	tenant_session_joined(engine->tenant);
	unsettled_add(engine->tenant, engine, session);
	engine_flush(engine);
}
