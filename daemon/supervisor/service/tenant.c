#include "service/tenant.h"

#include "cleanup.h"
#include "clock.h"
#include "engine/engine.h"
#include "engine/room.h"
#include "base/log.h"
#include "base/refusal.h"
#include "service/supervisor.h"
#include "base/tenant_forget.h"
#include "base/tenant_arrivals.h"
#include "base/tenant_identity.h"
#include "service/unsettled.h"
#include "service/user_lookup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull

enum {
	START_FAILURES_FREE =
		3, /* engines in a row that may die before they are ready; then tenants wait */
	RETRY_SECONDS_MAX = 30,
	CRASHES_FREE = 30, /* within CRASH_WINDOW_SECONDS */
	CRASH_WINDOW_SECONDS = 10,
	CRASH_WAIT_SECONDS = 5,
	LEAVING_MAX =
		16, /* engines that failed and are not gone: a driver may take long over each */
};

struct tenant *tenant_find(struct supervisor *supervisor, uid_t uid)
{
	struct tenant *tenant;
	TAILQ_FOREACH(tenant, &supervisor->tenants, link)
	if (tenant->uid == uid)
		return tenant;
	return NULL;
}

void tenant_remove(struct tenant *tenant)
{
	TAILQ_REMOVE(&tenant->supervisor->tenants, tenant, link);
	tenant->supervisor->tenant_count--;
	tenant->lookup = user_lookup_drop(tenant->lookup);
	account_table_fini(&tenant->ledger);
	free(tenant);
}

__attribute__((format(printf, 3, 4))) static void
refuse(struct refusal *refusal, enum sycl_status code, const char *format, ...)
{
	refusal->code = code;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
	va_end(arguments);
}

static struct tenant *tenant_new(struct supervisor *supervisor, uid_t uid)
{
	struct tenant *tenant = calloc(1, sizeof(*tenant));
	if (!tenant)
		return NULL;
	tenant->supervisor = supervisor;
	tenant->uid = uid;
	TAILQ_INIT(&tenant->engines);
	TAILQ_INIT(&tenant->arriving);
	TAILQ_INSERT_TAIL(&supervisor->tenants, tenant, link);
	supervisor->tenant_count++;
	return tenant;
}

/* Users that cannot be told apart would look into each other's sessions. */
static bool is_somebody(const struct supervisor *supervisor, uid_t uid, struct refusal *refusal_out)
{
	if (uid == TENANT_OTHERS)
		refuse(refusal_out, STATUS_INVALID, "there is no such user");
	else if (uid == supervisor->outsiders)
		refuse(refusal_out, STATUS_RUNTIME,
		       "the service runs in a user namespace in which uid %lu stands for every user that it does not have: who that is "
		       "cannot be told",
		       (unsigned long)uid);
	return uid != TENANT_OTHERS && uid != supervisor->outsiders;
}

struct tenant *tenant_restore(struct supervisor *supervisor, uid_t uid)
{
	struct tenant *tenant = tenant_find(supervisor, uid);
	if (!tenant && (uid == TENANT_OTHERS || tenants_make_room(supervisor)))
		tenant = tenant_new(supervisor, uid);
	if (tenant)
		tenant->last_use_ns = clock_now_ns();
	return tenant;
}

struct tenant *tenant_get(struct supervisor *supervisor, uid_t uid, struct refusal *refusal_out)
{
	if (!is_somebody(supervisor, uid, refusal_out))
		return NULL;
	struct tenant *tenant = tenant_restore(supervisor, uid);
	if (!tenant)
		refuse(refusal_out, STATUS_QUOTA, "the service has as many tenants as it can have");
	return tenant;
}

/* Engines that nobody asked to end, and that take no session any more. */
static unsigned count_leaving(const struct tenant *tenant)
{
	unsigned count = 0;
	const struct engine *engine;
	TAILQ_FOREACH(engine, &tenant->engines, link)
	count += engine->state == ENGINE_STOPPING && !engine->stop_asked && !engine->is_held;
	return count;
}

static int may_start(const struct tenant *tenant, struct refusal *refusal_out)
{
	uint64_t now = clock_now_ns();
	if (now < tenant->retry_at_ns) {
		refuse(refusal_out, STATUS_CONNECTION_LOST,
		       "the last engines of this user died at once (the last one %s); the next is started in %llu s",
		       tenant->last_failure,
		       (unsigned long long)((tenant->retry_at_ns - now) / SECOND_NS + 1));
		return -EAGAIN;
	}
	/* Else one user's failures could use up the engines of all. */
	if (count_leaving(tenant) >= LEAVING_MAX) {
		refuse(refusal_out, STATUS_CONNECTION_LOST,
		       "%d engines of this user have failed and are not gone yet", LEAVING_MAX);
		return -EAGAIN;
	}
	return engine_room_has(tenant, refusal_out) ? 0 : -EDQUOT;
}

int tenant_engine(struct tenant *tenant, bool may_adopt, struct engine **engine_out,
		  struct refusal *refusal_out)
{
	bool shared = !tenant->supervisor->configuration.engine_per_session;
	int r = tenant_identify(tenant, refusal_out);
	if (r < 0)
		return r;
	if (shared && tenant->current) {
		*engine_out = tenant->current;
		return 0;
	}
	r = may_start(tenant, refusal_out);
	if (r < 0)
		return r;
	r = engine_start(tenant, may_adopt, engine_out);
	if (r < 0) {
		char how[TENANT_FAILURE_BYTES];
		(void)snprintf(how, sizeof(how), "could not be executed: %s", strerror(-r));
		log_error("engine", "%s: %s", tenant->supervisor->engine_program, strerror(-r));
		tenant_engine_died(tenant, false, true, how);
		refuse(refusal_out, STATUS_CONNECTION_LOST, "the engine could not start: it %s",
		       how);
		return r;
	}
	if (shared)
		tenant->current = *engine_out;
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
	(void)tenant_engine(tenant, true, &engine, &refusal);
	tenant->warm_devices = 0;
}

void tenant_session_joined(struct tenant *tenant)
{
	tenant->session_count++;
	tenant->supervisor->session_count++;
	tenant->supervisor->observer->sessions_changed(tenant->supervisor);
}

void tenant_session_left(struct tenant *tenant, struct session *session)
{
	tenant->session_count--;
	unsettled_remove(session);
	tenant->supervisor->session_count--;
	tenant->supervisor->observer->sessions_changed(tenant->supervisor);
}

/* Can there be an engine for it soon? */
static bool may_wait(struct tenant *tenant, struct session *session, int r)
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
	int r = 0;
	if (tenant->supervisor->stopping) {
		refuse(&refusal, STATUS_CONNECTION_LOST, "the service is stopping");
		r = -ESHUTDOWN;
	} else if (tenant->drained || tenant->supervisor->drained) {
		refuse(&refusal, STATUS_CONNECTION_LOST, "the operator lets nobody new in: %s",
		       tenant->drained ? "this user's sessions are to end"
				       : "the service's sessions are to end");
		r = -ESHUTDOWN;
	} else if (tenant->session_count >= tenant_sessions_most(tenant)) {
		refuse(&refusal, STATUS_QUOTA,
		       "this user has as many sessions as one may have (%u)",
		       tenant->session_count);
		r = -EUSERS;
	} else if (!unsettled_may_add(tenant, &refusal)) {
		r = -EDQUOT;
	} else {
		r = tenant_engine(tenant, true, &engine, &refusal);
		if (r < 0 && may_wait(tenant, session, r)) {
			tenant_let_wait(tenant, session);
			return;
		}
	}
	if (r == 0) {
		engine_give(engine, session);
		return;
	}
	log_debug("session", "uid %lu, pid %ld is refused: %s", (unsigned long)tenant->uid,
		  (long)session->peer.pid, refusal.text);
	refuse_client(take_fd(&session->socket), refusal.code, refusal.text);
	(void)session_free(session);
}

bool tenant_has_orders(const struct tenant *tenant)
{
	bool holds = tenant->drained || tenant->sessions_most > 0 ||
		     tenant->share_ordered.least > 0 || tenant->share_ordered.most > 0;
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		holds |= tenant->limits[i].given;
	return holds;
}

unsigned tenant_sessions_most(const struct tenant *tenant)
{
	return tenant->sessions_most ? tenant->sessions_most
				     : tenant->supervisor->configuration.sessions_per_tenant;
}

void tenant_engine_died(struct tenant *tenant, bool was_ready, bool abnormal, const char *how)
{
	uint64_t now = clock_now_ns();
	tenant->last_use_ns = now;
	if (!abnormal)
		return;
	(void)snprintf(tenant->last_failure, sizeof(tenant->last_failure), "%s", how);
	if (!was_ready) {
		tenant->start_failures++;
		if (tenant->start_failures < START_FAILURES_FREE)
			return;
		unsigned doublings = tenant->start_failures - START_FAILURES_FREE;
		uint64_t seconds = doublings < 5 ? 1ull << doublings : RETRY_SECONDS_MAX;
		tenant->retry_at_ns = now + seconds * SECOND_NS;
		return;
	}
	if (now - tenant->crash_window_ns > CRASH_WINDOW_SECONDS * SECOND_NS) {
		tenant->crash_window_ns = now;
		tenant->crashes = 0;
	}
	if (++tenant->crashes > CRASHES_FREE)
		tenant->retry_at_ns = now + CRASH_WAIT_SECONDS * SECOND_NS;
}

void tenants_free(struct supervisor *supervisor)
{
	struct tenant *tenant;
	while ((tenant = TAILQ_FIRST(&supervisor->tenants)))
		tenant_remove(tenant);
}
