#include "engine/lost.h"

#include "engine/engine.h"
#include "engine/end.h"
#include "engine/kill.h"
#include "engine/sessions.h"
#include "flight_page.h"
#include "base/log.h"
#include "service/supervisor.h"

enum {
	/* Counted from the engine's hang-up. Less than the time for which the engine would stay by
	 * itself (the engine's linger.c). */
	LINGER_MS = 2000,
	/*
	 * Used while the next engine, which has opened a device, allocates, pins and loads modules.
	 */
	LINGER_BESIDE_MS = 1000,
};

bool engine_lost_is_marked(const struct engine *engine)
{
	const struct flight_page *page = engine->flight ? engine->flight->address : NULL;
	return page && atomic_load_explicit(&page->fault.known, memory_order_acquire) ==
			       FLIGHT_FAULT_DEVICE;
}

void engine_lost_reaped(struct engine *engine)
{
	engine->tenant->supervisor->held_count -= engine->is_held;
	engine->is_held = false;
}

void engine_lost_end(struct engine *engine)
{
	if (!engine->is_held)
		return;
	engine_lost_reaped(engine);
	(void)uv_timer_stop(&engine->deadline);
	log_info("engine", "ending pid %ld of uid %lu, which has given up its devices",
		 (long)engine->pid, (unsigned long)engine->tenant->uid);
	(void)engine_kill_process(engine);
}

static void on_held_long_enough(uv_timer_t *timer)
{
	engine_lost_end(timer->data);
}

/* If the tenant's next engine fails at once, only the latest process is held. */
static void engine_lost_hold(struct engine *engine)
{
	struct engine *other;
	TAILQ_FOREACH (other, &engine->tenant->engines, link)
		engine_lost_end(other);
	engine->is_held = true;
	engine->tenant->supervisor->held_count++;
	(void)uv_timer_start(&engine->deadline, on_held_long_enough, LINGER_MS, 0);
}

void engine_lost_begin(struct engine *engine)
{
	const struct flight_page *page = engine->flight->address;
	if (engine->stop_requested) {
		(void)engine_kill_process(engine);
		return;
	}
	engine_lost_hold(engine);
	/* The engine's clients connect again at once, and waiting sessions continue. The next
	 * engine opens the same devices. */
	if (engine->sessions_count && !engine->job)
		engine->tenant->supervisor->observer->engine_wanted(
			engine->tenant,
			atomic_load_explicit(&page->open_devices, memory_order_relaxed));
	engine_move_sessions(engine);
	engine_settle(engine, 0);
	engine->is_lost = true;
	engine_end_sessions(engine);
}

void engine_lost_is_followed(const struct tenant *tenant)
{
	struct engine *engine;
	TAILQ_FOREACH (engine, &tenant->engines, link)
		if (engine->is_held && uv_timer_get_due_in(&engine->deadline) > LINGER_BESIDE_MS)
			(void)uv_timer_start(&engine->deadline, on_held_long_enough,
					     LINGER_BESIDE_MS, 0);
}
