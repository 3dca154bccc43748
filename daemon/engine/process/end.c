/* The end of an engine: by itself after its last session, or on an order. */
#include "process/engine.h"
#include "process/turn.h"
#include "session/engine_state.h"
#include "session/session.h"
#include "session/topology.h"
#include "wake.h"

/* Begins to open the devices, which their threads complete. A device that cannot be opened fails
 * when a client uses it. */
static void engine_warm(struct engine *engine)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	struct scheduler_device *device;
	if (topology_discover(engine->scheduler, &platforms, &platform_count, &devices,
			      &device_count) < 0)
		return;
	for (uint32_t i = 0; i < device_count && i < 64; i++)
		if (engine->options.warm_devices >> i & 1)
			(void)scheduler_device(engine->scheduler, i, &device);
}

static void end_sessions(struct engine *engine)
{
	engine->end = ENGINE_END_STOP;
	for (struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next) {
		struct session *session = list_entry(link, struct session, link);
		scheduler_resume(engine->scheduler, session->work); /* nobody could do so later */
		session_cut_off(session, STATUS_CONNECTION_LOST, "the engine is stopping");
	}
}

static void start_end_timer(struct engine *engine, uint64_t wait_ns);

static void on_end_timer(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	if (engine->end == ENGINE_END_STOP) {
		engine->end = ENGINE_END_FORCED;
		uv_stop(&engine->loop);
		return;
	}
	end_sessions(engine);
	start_end_timer(engine, ENGINE_GRACE_NS);
}

static void start_end_timer(struct engine *engine, uint64_t wait_ns)
{
	(void)uv_timer_start(&engine->end_timer, on_end_timer, wait_ns / 1000000, 0);
}

bool engine_finished(const struct engine *engine)
{
	return engine->end != ENGINE_END_NO && engine->session_count == 0 &&
	       scheduler_idle(engine->scheduler);
}

void engine_drain(struct engine *engine)
{
	if (engine->end == ENGINE_END_NO)
		engine->end = ENGINE_END_DRAIN;
}

void engine_resume(struct engine *engine)
{
	if (engine->end == ENGINE_END_DRAIN)
		engine->end = ENGINE_END_NO;
}

void engine_report_devices(struct engine *engine)
{
	engine->reported_devices = 0; /* the devices are reported with the next turn */
}

void engine_stop(struct engine *engine, uint64_t drain_ns)
{
	if (engine->end >= ENGINE_END_STOP)
		return;
	engine->end = ENGINE_END_DRAIN;
	if (drain_ns) {
		start_end_timer(engine, drain_ns);
	} else {
		end_sessions(engine);
		start_end_timer(engine, ENGINE_GRACE_NS);
	}
}

void engine_stop_from_anywhere(struct engine *engine)
{
	atomic_fetch_or(&engine->wanted, ENGINE_WANTED_STOP);
	wake_ring_bell(engine->wake);
}

int engine_run(struct engine *engine)
{
	if (engine->options.warm_devices)
		engine_warm(engine);
	(void)uv_run(&engine->loop, UV_RUN_DEFAULT);
	if (engine->end == ENGINE_END_LOST)
		return -EIO;
	return engine->end == ENGINE_END_FORCED ? -ETIMEDOUT : 0;
}
