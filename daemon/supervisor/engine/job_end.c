#include "engine/job_end.h"

#include "control.pb-c.h"
#include "engine/control.h"
#include "engine/end.h"
#include "engine/sharing.h"
#include "service/engine_state.h"
#include "service/supervisor.h"

/* Ends an engine. It gets a short time to report the reason to its clients. */
static void job_end_engine(struct engine *engine, const char *why)
{
	bool is_notified =
		engine->state == ENGINE_READY && engine->sessions_count &&
		engine_send_order(engine, 0, SYCL__V1__SESSION_ORDER__ACT__ACT_END, why, 0) == 0;
	engine->stop_requested = true;
	if (is_notified)
		engine_kill_soon(engine, why);
	else
		engine_kill(engine, why);
}

unsigned job_end(struct supervisor *supervisor, struct job *job, const char *why)
{
	struct tenant *tenant;
	struct engine *engine, *next;
	unsigned reached = job_count_sessions(supervisor, job);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		for (engine = TAILQ_FIRST(&tenant->engines); engine; engine = next) {
			next = TAILQ_NEXT(engine, link);
			if (engine->job == job)
				job_end_engine(engine, why);
		}
	job_remove(supervisor, job);
	sharing_review(supervisor);
	return reached;
}
