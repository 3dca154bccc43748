#include "engine/spilled.h"

#include "account/claims.h"
#include "base/events.h"
#include "clock.h"
#include "service/engine_state.h"

/* An engine reports each of its devices every ten seconds at most. */
enum { REPORTS_MOST = 16 };
#define WINDOW_NS 5000000000ull

#define MIB (1024.0 * 1024.0)

/* True if the engine may report now. */
static bool spilled_is_in_time(struct engine *engine)
{
	uint64_t now_ns = clock_now_ns();
	if (now_ns - engine->spilled_since_ns >= WINDOW_NS) {
		engine->spilled_since_ns = now_ns;
		engine->spilled_reports = 0;
	}
	return engine->spilled_reports++ < REPORTS_MOST;
}

bool engine_has_spilled(struct engine *engine, const Sycl__V1__EngineSpilled *report)
{
	static const char *const backends[] = {NULL, "opencl", "cuda", "fake"};
	const unsigned backend = (unsigned)report->backend;
	if (backend == 0 || backend >= sizeof(backends) / sizeof(*backends) ||
	    report->index >= CLAIMS_DEVICES_MAX || report->spills == 0 ||
	    !spilled_is_in_time(engine))
		return false;
	struct event event = {
		.kind = EVENT_SPILL,
		.has_uid = true,
		.uid = engine->tenant->uid,
		.session = engine_session(engine, report->session) ? report->session : 0,
		.pid = engine->pid,
	};
	event_report(
		LOG_LEVEL_INFO, "engine", event,
		"pid %ld of uid %lu: %s:%u is full: %llu times memory was spilled to the host, "
		"%.1f MiB so far; %llu times it came back, %.1f MiB",
		(long)engine->pid, (unsigned long)engine->tenant->uid, backends[backend],
		(unsigned)report->index, (unsigned long long)report->spills,
		(double)report->spilled_bytes / MIB, (unsigned long long)report->returns,
		(double)report->returned_bytes / MIB);
	return true;
}
