#include "admin/orders.h"

#include "control.pb-c.h"
#include "engine/engine.h"
#include "engine/end.h"
#include "engine/sessions.h"
#include "engine/control.h"
#include "base/events.h"
#include "base/log.h"
#include "admin/orders_file.h"
#include "admin/orders_limit.h"
#include "admin/orders_target.h"
#include "status.h"
#include "service/supervisor.h"
#include "engine/tenant_arrivals.h"
#include "account/tenant_forget.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	ACT_END = SYCL__V1__SESSION_ORDER__ACT__ACT_END,
	ACT_PAUSE = SYCL__V1__SESSION_ORDER__ACT__ACT_PAUSE,
	ACT_RESUME = SYCL__V1__SESSION_ORDER__ACT__ACT_RESUME,
	ACT_LIMIT = SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT,
	LIMIT_BYTES = 96
};

/* A session that was paused before keeps the origin of that earlier order. */
static void order_note_pause(const struct target *target, struct engine *engine, bool pauses)
{
	struct session *session;
	TAILQ_FOREACH (session, &engine->sessions, link) {
		if (target->session && session != target->session)
			continue;
		if (!pauses)
			session->paused_by = (struct order_origin){.since_unix_seconds = 0};
		else if (session->paused_by.since_unix_seconds == 0)
			session->paused_by = order_origin_of(target);
	}
}

/* The sessions of the engine that the order changes. Only paused ones are resumed. */
static unsigned order_count_sessions(const struct target *target, const struct engine *engine,
				     int act)
{
	const struct session *session;
	unsigned count = 0;
	if (target->session)
		return 1;
	if (act != ACT_RESUME)
		return engine->sessions_count;
	TAILQ_FOREACH (session, &engine->sessions, link)
		count += session->paused_by.since_unix_seconds != 0;
	return count;
}

/* What the manager of jobs has suspended, only the manager resumes. */
static bool order_is_held(const struct engine *engine, int act)
{
	return act == ACT_RESUME && engine->job && engine->job->is_suspended;
}

static int order_send_to_engine(struct target *target, struct engine *engine, int act,
				const char *text)
{
	const Sycl__V1__OrderCommand *order = target->order;
	/* If the limit of one session is revoked, the engine uses the limit of all its sessions. */
	uint64_t value = act == ACT_LIMIT && !target->session ? engine_limit(engine, target->limit)
							      : order->value;
	if (!engine->was_ready || engine->state == ENGINE_STOPPING)
		return 0; /* the engine gets the order when it is ready, or takes nothing more */
	target->reached += order_count_sessions(target, engine, act);
	if (!order_is_held(engine, act) &&
	    engine_send_order(engine, order->session, act, text, value) < 0)
		return order_refuse(target, STATUS_RUNTIME,
				    "the engine of uid %lu does not take messages",
				    (unsigned long)engine->tenant->uid);
	if (act == ACT_LIMIT)
		order_keep_limit(target);
	if (act == ACT_LIMIT && !target->session)
		engine->limits_sent[target->limit] = value;
	if (act == ACT_PAUSE || act == ACT_RESUME)
		order_note_pause(target, engine, act == ACT_PAUSE);
	return 0;
}

/* Sends to each engine separately, so that one that does not read does not affect the others. */
static int order_send(struct target *target, int act, const char *text)
{
	struct tenant *tenant;
	struct engine *engine;
	int r = 0;
	/* An engine does not know a session that it has not received. */
	if (target->session &&
	    (!target->engine || order_waiting_session(target->engine, target->session->id)))
		return order_refuse(target, STATUS_RUNTIME, "session %llu has no engine yet",
				    (unsigned long long)target->session->id);
	if (target->session)
		return order_send_to_engine(target, target->engine, act, text);
	TAILQ_FOREACH (tenant, &target->supervisor->tenants, link) {
		if (target->tenant && tenant != target->tenant)
			continue;
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			int sent = order_send_to_engine(target, engine, act, text);
			r = r < 0 ? r : sent;
		}
	}
	return r;
}

/* Drops a session that no engine has received yet. */
static void order_drop_waiting(struct target *target)
{
	struct engine *engine = target->engine;
	struct session *session = target->session;
	target->reached = 1;
	if (engine)
		engine_drop_waiting(engine, session, target->reason);
	else
		arrivals_drop(target->tenant, session, target->reason);
}

/* Ends the engines. They get a short time to report the reason to their clients. */
static int order_kill_engines(struct target *target)
{
	struct engine *engine, *next;
	for (engine = TAILQ_FIRST(&target->tenant->engines); engine; engine = next) {
		next = TAILQ_NEXT(engine, link);
		target->reached += engine->sessions_count;
		bool is_notified =
			engine->state == ENGINE_READY && engine->sessions_count &&
			engine_send_order(engine, 0, ACT_END, target->order->reason, 0) == 0;
		engine->stop_requested = true;
		if (is_notified)
			engine_kill_soon(engine, target->reason);
		else
			engine_kill(engine, target->reason);
	}
	return 0;
}

static int order_kill(struct target *target)
{
	const char *reason = target->order->reason;
	(void)snprintf(target->reason, sizeof(target->reason), "ended by the operator%s%.100s",
		       *reason ? ": " : "", reason);
	if (target->order->of_everybody)
		return order_refuse(
			target, STATUS_INVALID,
			"the sessions to end must be named: a session's number or a user's");
	if (!target->session)
		return order_kill_engines(target);
	if (!target->engine || order_waiting_session(target->engine, target->session->id)) {
		order_drop_waiting(target);
		return 0;
	}
	return order_send(target, ACT_END, reason);
}

/* The order applies in any case. The file passes it to the next service. */
static int order_save(struct target *target)
{
	int r = orders_file_save(target->supervisor);
	if (r == 0)
		return 0;
	return order_refuse(
		target, STATUS_RUNTIME,
		"the order holds, but cannot be written to %s, so a restart loses it: %s",
		target->supervisor->directory.path, strerror(-r));
}

static int order_drain(struct target *target)
{
	if (target->session)
		return order_refuse(target, STATUS_INVALID,
				    "a session is not drained: it can be paused, or killed");
	struct tenant *tenant = target->tenant;
	bool *drained = tenant ? &tenant->drained : &target->supervisor->drained;
	if (!*drained && tenant)
		tenant->drained_by = order_origin_of(target);
	else if (!*drained)
		target->supervisor->drained_by = order_origin_of(target);
	*drained = true;
	return order_save(target);
}

/* Resumes all users, also those that were drained by uid. */
static void order_resume_all(struct supervisor *supervisor)
{
	struct tenant *tenant, *next;
	supervisor->drained = false;
	supervisor->drained_by = (struct order_origin){.since_unix_seconds = 0};
	for (tenant = TAILQ_FIRST(&supervisor->tenants); tenant; tenant = next) {
		next = TAILQ_NEXT(tenant, link);
		bool was_drained = tenant->drained;
		tenant->drained = false;
		tenant->drained_by = (struct order_origin){.since_unix_seconds = 0};
		/* The removed order may have been the only reason for keeping the tenant. */
		if (was_drained)
			tenant_review(tenant);
	}
}

/* Keeps orders for sessions so that the next service can show them. They hold in any case, because
 * engines keep them. */
static void order_keep_for_sessions(const struct target *target)
{
	int r = orders_file_save(target->supervisor);
	if (r < 0)
		log_warning(
			"order",
			"after a restart it will not be known who has paused or limited sessions: %s",
			strerror(-r));
}

static int order_pause(struct target *target)
{
	int r = order_send(target, ACT_PAUSE, NULL);
	order_keep_for_sessions(target);
	return r;
}

static int order_resume(struct target *target)
{
	if (!target->session && target->tenant) {
		target->tenant->drained = false;
		target->tenant->drained_by = (struct order_origin){.since_unix_seconds = 0};
	} else if (!target->session)
		order_resume_all(target->supervisor);
	int sent = order_send(target, ACT_RESUME, NULL);
	if (target->session)
		order_keep_for_sessions(target);
	int r = target->session ? 0 : order_save(target);
	return sent < 0 ? sent : r;
}

static int order_limit(struct target *target)
{
	bool is_of_engines = false;
	int r = order_set_limit(target, &is_of_engines);
	if (r < 0)
		return r;
	if (is_of_engines)
		r = order_send(target, ACT_LIMIT, target->order->limit);
	if (target->session)
		order_keep_for_sessions(target);
	int saved = target->session ? 0 : order_save(target);
	return r < 0 ? r : saved;
}

static int order_carry_out(struct target *target)
{
	switch (target->order->order) {
	case SYCL__V1__ORDER__ORDER_KILL:
		return order_kill(target);
	case SYCL__V1__ORDER__ORDER_PAUSE:
		return order_pause(target);
	case SYCL__V1__ORDER__ORDER_RESUME:
		return order_resume(target);
	case SYCL__V1__ORDER__ORDER_DRAIN:
		return order_drain(target);
	case SYCL__V1__ORDER__ORDER_LIMIT:
		return order_limit(target);
	default:
		return order_refuse(target, STATUS_INVALID, "this service has no such order");
	}
}

/* Returns " buffer_bytes=65536" for a limit, "" for other orders. The name may be any text, because
 * it is checked later. */
static void order_limit_text(const Sycl__V1__OrderCommand *order, char out[LIMIT_BYTES])
{
	char name[LIMIT_BYTES / 2];
	*out = '\0';
	if (order->order != SYCL__V1__ORDER__ORDER_LIMIT)
		return;
	text_copy_printable(name, sizeof(name), order->limit);
	if (order->value > 0)
		(void)snprintf(out, LIMIT_BYTES, " %s=%llu", name,
			       (unsigned long long)order->value);
	else
		(void)snprintf(out, LIMIT_BYTES, " %s=default", name);
}

/* Writes a line to the log: the user, the order, its reason and the error in the reply. */
static void order_log(const struct target *target, const struct asker *asker, const char *whose,
		      bool failed)
{
	static const char *const names[] = {"?", "kill", "pause", "resume", "drain", "limit"};
	const Sycl__V1__OrderCommand *order = target->order;
	unsigned known = (unsigned)order->order < sizeof(names) / sizeof(*names)
				 ? (unsigned)order->order
				 : 0;
	char limit[LIMIT_BYTES], reason[ORDER_REASON_BYTES];
	order_limit_text(order, limit);
	text_copy_printable(reason, sizeof(reason), order->reason);
	struct event event = {.kind = EVENT_ORDER,
			      .has_uid = order->of_user || target->tenant,
			      .session = order->session};
	event.uid = target->tenant ? target->tenant->uid : (uid_t)order->uid;
	event_report(LOG_LEVEL_INFO, "order", event, "uid %lu: %s%s for %s%s%s%s%s",
		     (unsigned long)asker->uid, names[known], limit, whose,
		     *reason ? "; reason: " : "", reason, failed ? "; error: " : "",
		     failed ? target->refusal.text : "");
}

void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order)
{
	struct target target = {.supervisor = supervisor, .order = order, .uid = asker->uid};
	if (!asker->may_order) {
		admin_answer_error(
			asker, STATUS_INVALID,
			"only root and members of the administrators' group may order that");
		return;
	}
	char whose[ORDER_TARGET_BYTES];
	int r = order_find_target(&target);
	order_target_text(&target, whose);
	if (r == 0)
		r = order_carry_out(&target);
	order_log(&target, asker, whose, r < 0);
	if (order->of_user && target.tenant)
		tenant_review(target.tenant);
	if (r < 0) {
		admin_answer_error(asker, target.refusal.code, target.refusal.text);
		return;
	}
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	reply.ordered = target.reached;
	admin_answer(asker, &reply);
}
