#include "admin/orders.h"

#include "control.pb-c.h"
#include "engine/engine.h"
#include "engine/end.h"
#include "engine/sessions.h"
#include "engine/control.h"
#include "base/log.h"
#include "admin/orders_file.h"
#include "base/refusal.h"
#include "status.h"
#include "engine/sharing.h"
#include "service/supervisor.h"
#include "engine/tenant_arrivals.h"
#include "account/tenant_forget.h"
#include "account/tenant_identity.h"
#include "service/tenant_share.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	ACT_END = SYCL__V1__SESSION_ORDER__ACT__ACT_END,
	ACT_PAUSE = SYCL__V1__SESSION_ORDER__ACT__ACT_PAUSE,
	ACT_RESUME = SYCL__V1__SESSION_ORDER__ACT__ACT_RESUME,
	ACT_LIMIT = SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT,
	SESSIONS_MOST = 3000,
	REASON_BYTES = 160,
	LIMIT_BYTES = 96,
	TARGET_BYTES = 160
};

/* The target of an order, and the result. */
struct target {
	struct supervisor *supervisor;
	const Sycl__V1__OrderCommand *order;
	struct tenant *tenant;   /* NULL: all tenants */
	struct engine *engine;   /* the session's engine, or NULL */
	struct session *session; /* NULL: all */
	unsigned limit;          /* of ACT_LIMIT: index in configuration_limit_names */
	unsigned reached;        /* sessions */
	char reason[REASON_BYTES];
	struct refusal refusal;
};

__attribute__((format(printf, 3, 4))) static int
order_refuse(struct target *target, enum sycl_status code, const char *format, ...)
{
	target->refusal.code = code;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(target->refusal.text, sizeof(target->refusal.text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static struct session *find_waiting_session(struct engine *engine, uint64_t id)
{
	struct session *session;
	TAILQ_FOREACH (session, &engine->waiting, link)
		if (session->id == id)
			return session;
	TAILQ_FOREACH (session, &engine->silent, link)
		if (session->id == id)
			return session;
	return NULL;
}

static int order_find_session(struct target *target)
{
	TAILQ_FOREACH (target->tenant, &target->supervisor->tenants, link) {
		TAILQ_FOREACH (target->session, &target->tenant->arriving, link)
			if (target->session->id == target->order->session)
				return 0;
		TAILQ_FOREACH (target->engine, &target->tenant->engines, link) {
			target->session = engine_session(target->engine, target->order->session);
			if (!target->session)
				target->session = find_waiting_session(target->engine,
								       target->order->session);
			if (target->session)
				return 0;
		}
	}
	return order_refuse(target, STATUS_INVALID, "there is no session %llu",
			    (unsigned long long)target->order->session);
}

static int order_find_target(struct target *target)
{
	const Sycl__V1__OrderCommand *order = target->order;
	if ((order->session != 0) + order->of_user + order->of_everybody != 1)
		return order_refuse(target, STATUS_INVALID,
				    "an order is for one session, for one user or for everybody");
	if (order->session)
		return order_find_session(target);
	if (order->of_everybody)
		return 0;
	/* An order may name a user that has not connected yet. */
	target->tenant = tenant_get(target->supervisor, order->uid, &target->refusal);
	return target->tenant ? 0 : -EINVAL;
}

/* The limit of a tenant: as ordered or configured for it, else as for all users. 0: the engine's
 * own default. */
static uint64_t tenant_limit(const struct tenant *tenant, unsigned index)
{
	const struct configuration_limit *limit = &tenant->limits[index];
	if (!limit->given)
		limit = &tenant->supervisor->configuration.limits[index];
	return limit->given ? limit->value : 0;
}

/* The engine has taken it. A limit of all its sessions replaces those of single ones. */
static void order_keep_limit(const struct target *target, struct engine *engine)
{
	struct session *session;
	if (target->session &&
	    session_keep_limit(target->session, target->limit, target->order->value) < 0)
		log_warning("order", "no memory to show the limit of session %llu",
			    (unsigned long long)target->session->id);
	if (target->session)
		return;
	TAILQ_FOREACH (session, &engine->sessions, link)
		(void)session_keep_limit(session, target->limit, 0);
}

static int order_send_to_engine(struct target *target, struct engine *engine, int act,
				const char *text)
{
	const Sycl__V1__OrderCommand *order = target->order;
	/* A limit of one session that is taken back: the engine has the limit of all its sessions.
	 */
	uint64_t value = act == ACT_LIMIT && !target->session
				 ? tenant_limit(engine->tenant, target->limit)
				 : order->value;
	if (!engine->was_ready || engine->state == ENGINE_STOPPING)
		return 0; /* the engine gets the order when it is ready, or takes nothing more */
	target->reached += target->session ? 1 : engine->sessions_count;
	if (engine_send_order(engine, order->session, act, text, value) < 0)
		return order_refuse(target, STATUS_RUNTIME,
				    "the engine of uid %lu does not take messages",
				    (unsigned long)engine->tenant->uid);
	if (act == ACT_LIMIT)
		order_keep_limit(target, engine);
	return 0;
}

/* Sends to each engine by itself, so that one that does not read does not affect the others. */
static int order_send(struct target *target, int act, const char *text)
{
	struct tenant *tenant;
	struct engine *engine;
	int r = 0;
	if (target->session && !target->engine)
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

/* A session that no engine has got yet. */
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

/* Engines report the reason to their clients; they have a moment for that. */
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
	if (!target->engine || find_waiting_session(target->engine, target->session->id)) {
		order_drop_waiting(target);
		return 0;
	}
	return order_send(target, ACT_END, reason);
}

/* The order holds in any case; the file passes it to the next service. */
static int order_save_drained(struct target *target)
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
	if (target->tenant)
		target->tenant->drained = true;
	else
		target->supervisor->drained = true;
	return order_save_drained(target);
}

/* Resumes all users, also those that were drained by uid. */
static void order_resume_all(struct supervisor *supervisor)
{
	struct tenant *tenant, *next;
	supervisor->drained = false;
	for (tenant = TAILQ_FIRST(&supervisor->tenants); tenant; tenant = next) {
		next = TAILQ_NEXT(tenant, link);
		bool was_drained = tenant->drained;
		tenant->drained = false;
		/* The tenant may have been kept for that order alone. */
		if (was_drained)
			tenant_review(tenant);
	}
}

static int order_resume(struct target *target)
{
	if (!target->session && target->tenant)
		target->tenant->drained = false;
	else if (!target->session)
		order_resume_all(target->supervisor);
	int sent = order_send(target, ACT_RESUME, NULL);
	int r = target->session ? 0 : order_save_drained(target);
	return sent < 0 ? sent : r;
}

/* The supervisor's own limit. */
static int order_limit_sessions(struct target *target)
{
	uint64_t value = target->order->value;
	if (target->session)
		return order_refuse(target, STATUS_INVALID,
				    "sessions_per_tenant is a limit of users, not of a session");
	if (value > SESSIONS_MOST || (value == 0 && !target->tenant))
		return order_refuse(target, STATUS_INVALID, "sessions_per_tenant is from 1 to %d",
				    SESSIONS_MOST);
	if (target->tenant)
		target->tenant->sessions_most = (unsigned)value;
	else
		target->supervisor->configuration.sessions_per_tenant = (unsigned)value;
	target->supervisor->configuration.sessions_ordered |= !target->tenant;
	return 0;
}

/* Shares of one user, or of all users without a share of their own. These are the supervisor's own
 * limits, too. */
static int order_limit_share(struct target *target, bool is_most)
{
	uint64_t value = target->order->value;
	struct configuration_share *everybody = &target->supervisor->configuration.shares.everybody;
	if (target->session)
		return order_refuse(target, STATUS_INVALID,
				    "%s is a limit of users, not of a session",
				    target->order->limit);
	if (value > 100)
		return order_refuse(target, STATUS_INVALID, "%s is a percentage, at most 100",
				    target->order->limit);
	struct configuration_share share =
		target->tenant ? tenant_share(target->tenant) : *everybody;
	if (!share.given)
		share.most = 100;
	if (value > 0 && (is_most ? value < share.least : value > share.most))
		return order_refuse(target, STATUS_INVALID,
				    "share_min would be more than share_max");
	if (target->tenant && is_most)
		target->tenant->share_ordered.most = (unsigned)value;
	else if (target->tenant)
		target->tenant->share_ordered.least = (unsigned)value;
	else if (is_most)
		*everybody = (struct configuration_share){true, share.least,
							  value > 0 ? (unsigned)value : 100};
	else
		*everybody = (struct configuration_share){true, (unsigned)value, share.most};
	target->supervisor->configuration.shares_ordered |= !target->tenant;
	sharing_review(target->supervisor);
	return 0;
}

static int order_limit(struct target *target)
{
	const Sycl__V1__OrderCommand *order = target->order;
	unsigned i = 0;
	if (strcmp(order->limit, "share_min") == 0 || strcmp(order->limit, "share_max") == 0)
		return order_limit_share(target, strcmp(order->limit, "share_max") == 0);
	if (strcmp(order->limit, "sessions_per_tenant") == 0)
		return order_limit_sessions(target);
	while (i < CONFIGURATION_LIMITS && strcmp(configuration_limit_names[i], order->limit) != 0)
		i++;
	if (i == CONFIGURATION_LIMITS)
		return order_refuse(target, STATUS_INVALID, "there is no such limit");
	if (order->value > configuration_limit_most[i])
		return order_refuse(target, STATUS_INVALID, "%s is %llu at most", order->limit,
				    (unsigned long long)configuration_limit_most[i]);
	if (target->session && strncmp(order->limit, "tenant_", strlen("tenant_")) == 0)
		return order_refuse(target, STATUS_INVALID,
				    "%s is a limit of users, not of a session", order->limit);
	struct configuration_limit limit = {
		.given = order->value > 0, .ordered = true, .value = order->value};
	target->limit = i;
	if (!target->session && target->tenant)
		target->tenant->limits[i] = limit;
	else if (!target->session)
		target->supervisor->configuration.limits[i] = limit;
	return order_send(target, ACT_LIMIT, order->limit);
}

static int order_carry_out(struct target *target)
{
	switch (target->order->order) {
	case SYCL__V1__ORDER__ORDER_KILL:
		return order_kill(target);
	case SYCL__V1__ORDER__ORDER_PAUSE:
		return order_send(target, ACT_PAUSE, NULL);
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

/* " buffer_bytes=65536" for a limit, "" for other orders. The name may be any text: whether there
 * is such a limit is checked later. */
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

/* Called before the order is carried out: a session that is dropped is freed afterwards. */
static void order_target_text(const struct target *target, char out[TARGET_BYTES])
{
	const Sycl__V1__OrderCommand *order = target->order;
	const struct session *session = target->session;
	if (session)
		(void)snprintf(out, TARGET_BYTES, "session %llu (uid %lu, pid %ld, %s)",
			       (unsigned long long)session->id, (unsigned long)session->peer.uid,
			       (long)session->peer.pid, session->peer.command);
	else if (order->session)
		(void)snprintf(out, TARGET_BYTES, "session %llu",
			       (unsigned long long)order->session);
	else if (order->of_user)
		(void)snprintf(out, TARGET_BYTES, "uid %lu", (unsigned long)order->uid);
	else
		(void)snprintf(out, TARGET_BYTES, "everybody");
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
	char limit[LIMIT_BYTES], reason[REASON_BYTES];
	order_limit_text(order, limit);
	text_copy_printable(reason, sizeof(reason), order->reason);
	log_info("order", "uid %lu: %s%s for %s%s%s%s%s", (unsigned long)asker->uid, names[known],
		 limit, whose, *reason ? "; reason: " : "", reason, failed ? "; error: " : "",
		 failed ? target->refusal.text : "");
}

void orders_take(struct supervisor *supervisor, struct asker *asker,
		 const Sycl__V1__OrderCommand *order)
{
	struct target target = {.supervisor = supervisor, .order = order};
	if (!asker->sees_all) {
		admin_answer_error(
			asker, STATUS_INVALID,
			"only root and members of the administrators' group may order that");
		return;
	}
	char whose[TARGET_BYTES];
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

static void engine_send_limit(struct engine *engine, unsigned index,
			      const struct configuration_limit *limit)
{
	if (engine_send_order(engine, 0, ACT_LIMIT, configuration_limit_names[index],
			      limit->given ? limit->value : 0) < 0)
		log_warning("order", "the engine of uid %lu does not take its limits",
			    (unsigned long)engine->tenant->uid);
}

void orders_engine_ready(struct engine *engine)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (engine->tenant->limits[i].given)
			engine_send_limit(engine, i, &engine->tenant->limits[i]);
}

void orders_engine_returned(struct engine *engine)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		if (!engine->tenant->limits[i].given)
			engine_send_limit(engine, i,
					  &engine->tenant->supervisor->configuration.limits[i]);
}

static bool limits_are_equal(const struct configuration_limit *a,
			     const struct configuration_limit *b)
{
	return a->given == b->given && (!a->given || a->value == b->value);
}

/* A tenant that is not connected is looked up when it connects. */
static void tenant_reconsider(struct tenant *tenant)
{
	if (TAILQ_EMPTY(&tenant->engines) && !tenant->lookup)
		tenant->is_identified = false;
	else
		tenant_identify_again(tenant);
}

void orders_reloaded(struct supervisor *supervisor, const struct configuration *before)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		tenant_reconsider(tenant);
	sharing_review(supervisor);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			for (unsigned i = 0; i < CONFIGURATION_LIMITS && engine->was_ready; i++)
				if (!tenant->limits[i].given &&
				    !limits_are_equal(&supervisor->configuration.limits[i],
						      &before->limits[i]))
					engine_send_limit(engine, i,
							  &supervisor->configuration.limits[i]);
}
