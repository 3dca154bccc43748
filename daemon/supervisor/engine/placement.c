#include "engine/placement.h"

#include "account/tenant_identity.h"
#include "base/log.h"
#include "base/refusal.h"
#include "cleanup.h"
#include "clock.h"
#include "engine/engine.h"
#include "engine/hand_on.h"
#include "engine/sessions.h"
#include "engine/room.h"
#include "engine/tenant_arrivals.h"
#include "service/supervisor.h"
#include "service/unsettled.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS 1000000000ull

/* Most engines that failed and have not ended. A driver may take long for each. */
enum { LEAVING_MAX = 16 };

/* Counts engines that accept no more sessions, without a request to end. */
static unsigned tenant_count_leaving_engines(const struct tenant *tenant)
{
	unsigned count = 0;
	const struct engine *engine;
	TAILQ_FOREACH (engine, &tenant->engines, link)
		count += engine->state == ENGINE_STOPPING && !engine->stop_requested &&
			 !engine->is_held;
	return count;
}

static int tenant_may_start_engine(const struct tenant *tenant, struct refusal *refusal_out)
{
	uint64_t now = clock_now_ns();
	if (now < tenant->retry_at_ns) {
		refusal_set(
			refusal_out, STATUS_CONNECTION_LOST,
			"the last engines of this user died at once (the last one %s); the next is started in %llu s",
			tenant->last_failure,
			(unsigned long long)((tenant->retry_at_ns - now) / SECOND_NS + 1));
		return -EAGAIN;
	}
	/* Otherwise one user's failures could use up the engines of all users. */
	if (tenant_count_leaving_engines(tenant) >= LEAVING_MAX) {
		refusal_set(refusal_out, STATUS_CONNECTION_LOST,
			    "%d engines of this user have failed and have not ended yet",
			    LEAVING_MAX);
		return -EAGAIN;
	}
	return engine_room_has(tenant, refusal_out) ? 0 : -EDQUOT;
}

int tenant_engine(struct tenant *tenant, struct job *job, bool may_adopt,
		  struct engine **engine_out, struct refusal *refusal_out)
{
	/* A job's limits are those of its one engine. */
	bool shared = job || !tenant->supervisor->configuration.engine_per_session;
	struct engine **place = job_engine_place(tenant, job);
	int r = tenant_identify(tenant, refusal_out);
	if (r < 0)
		return r;
	if (shared && *place) {
		*engine_out = *place;
		return 0;
	}
	r = tenant_may_start_engine(tenant, refusal_out);
	if (r < 0)
		return r;
	r = engine_start(tenant, job, may_adopt, engine_out);
	if (r < 0) {
		char how[TENANT_FAILURE_BYTES];
		(void)snprintf(how, sizeof(how), "could not be executed: %s", strerror(-r));
		log_error("engine", "%s: %s", tenant->supervisor->engine_program, strerror(-r));
		tenant_engine_died(tenant, false, true, how);
		refusal_set(refusal_out, STATUS_CONNECTION_LOST,
			    "the engine could not start: it %s", how);
		return r;
	}
	if (shared)
		*place = *engine_out;
	tenant->made_room = false;
	return 0;
}

void tenant_replace_engine(struct tenant *tenant, uint64_t devices)
{
	struct refusal refusal;
	struct engine *engine;
	if (tenant->supervisor->stopping || tenant->supervisor->configuration.engine_per_session)
		return;
	tenant->warm_devices = devices;
	(void)tenant_engine(tenant, NULL, true, &engine, &refusal);
	tenant->warm_devices = 0;
}

/* True if there can be an engine for the session soon. */
static bool tenant_may_wait_for_engine(struct tenant *tenant, struct session *session, int r)
{
	bool shared = !tenant->supervisor->configuration.engine_per_session;
	return r == -EINPROGRESS ||
	       (r == -EDQUOT &&
		engine_room_make(tenant, shared ? &tenant->made_room : &session->made_room));
}

void tenant_place(struct tenant *tenant, struct session *session)
{
	struct refusal refusal;
	struct engine *engine = NULL;
	struct job *job = NULL;
	int r = 0;
	if (tenant->supervisor->stopping) {
		refusal_set(&refusal, STATUS_CONNECTION_LOST, "the service is stopping");
		r = -ESHUTDOWN;
	} else if (tenant->drained || tenant->supervisor->drained) {
		refusal_set(&refusal, STATUS_CONNECTION_LOST,
			    "the operator accepts no new sessions: %s",
			    tenant->drained ? "this user's sessions are to end"
					    : "the service's sessions are to end");
		r = -ESHUTDOWN;
	} else if (job_find_of_peer(tenant->supervisor, &session->peer, &job, &refusal) < 0) {
		r = -EACCES;
	} else if (tenant->session_count >= tenant_sessions_most(tenant)) {
		refusal_set(&refusal, STATUS_QUOTA,
			    "this user has as many sessions as one may have (%u)",
			    tenant->session_count);
		r = -EUSERS;
	} else if (!unsettled_may_add(tenant, &refusal)) {
		r = -EDQUOT;
	} else {
		session->job = job ? job->number : 0;
		r = tenant_engine(tenant, job, true, &engine, &refusal);
		if (r < 0 && tenant_may_wait_for_engine(tenant, session, r)) {
			arrivals_add(tenant, session);
			return;
		}
	}
	if (r == 0) {
		engine_give_session(engine, session);
		return;
	}
	log_debug("session", "uid %lu, pid %ld is refused: %s", (unsigned long)tenant->uid,
		  (long)session->peer.pid, refusal.text);
	refuse_client(take_fd(&session->socket), refusal.code, refusal.text);
	(void)session_free(session);
}

/* The client gets the reason. A session that was handed to its engine stays in the list until the
 * engine reports its end. */
void tenant_give_up(struct session *session, const char *text)
{
	struct engine *engine = session->engine;
	log_debug("session", "%llu of uid %lu, pid %ld: %s", (unsigned long long)session->id,
		  (unsigned long)session->peer.uid, (long)session->peer.pid, text);
	if (!engine) {
		arrivals_drop(session->tenant, session, text);
		return;
	}
	if (session->phase == SESSION_WAITING) {
		engine_drop_waiting(engine, session, text);
		engine_check_idle(engine);
		return;
	}
	unsettled_remove(session);
	refuse_client(take_fd(&session->socket), STATUS_CONNECTION_LOST, text);
	session->phase = SESSION_OVER;
	session_close_descriptors(session);
}
