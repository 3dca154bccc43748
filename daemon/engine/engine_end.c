/* How an engine ends: by itself after its last session, or because it was told to. */
#include "engine.h"
#include "engine_state.h"
#include "session.h"

static void end_sessions(struct engine *engine)
{
	engine->end = ENGINE_END_STOP;
	for (struct list *link = engine->sessions.next; link != &engine->sessions; link = link->next)
		session_fail(list_entry(link, struct session, link), STATUS_CONNECTION_LOST, "the engine is stopping");
}

static void arm(struct engine *engine, uint64_t wait_ns);

static void on_end_timer(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	if (engine->end == ENGINE_END_STOP) {
		engine->end = ENGINE_END_FORCED;
		uv_stop(&engine->loop);
		return;
	}
	end_sessions(engine);
	arm(engine, ENGINE_GRACE_NS);
}

static void arm(struct engine *engine, uint64_t wait_ns)
{
	(void)uv_timer_start(&engine->end_timer, on_end_timer, wait_ns / 1000000, 0);
}

bool engine_finished(const struct engine *engine)
{
	return engine->end != ENGINE_END_NO && engine->session_count == 0 && scheduler_idle(engine->scheduler);
}

void engine_drain(struct engine *engine)
{
	if (engine->end == ENGINE_END_NO)
		engine->end = ENGINE_END_DRAIN;
}

void engine_stop(struct engine *engine, uint64_t drain_ns)
{
	if (engine->end >= ENGINE_END_STOP)
		return;
	engine->end = ENGINE_END_DRAIN;
	if (drain_ns) {
		arm(engine, drain_ns);
	} else {
		end_sessions(engine);
		arm(engine, ENGINE_GRACE_NS);
	}
}

void engine_stop_from_anywhere(struct engine *engine)
{
	atomic_fetch_or(&engine->wanted, ENGINE_WANTED_STOP);
	(void)uv_async_send(&engine->wake);
}

int engine_run(struct engine *engine)
{
	(void)uv_run(&engine->loop, UV_RUN_DEFAULT);
	return engine->end == ENGINE_END_FORCED ? -ETIMEDOUT : 0;
}
