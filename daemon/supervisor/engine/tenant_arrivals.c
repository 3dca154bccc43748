#include "engine/tenant_arrivals.h"

#include "account/tenant_identity.h"
#include "engine/placement.h"
#include "clock.h"
#include "cleanup.h"
#include "base/refusal.h"
#include "base/turn.h"
#include "service/supervisor.h"
#include "service/tenant.h"
#include "account/tenant_forget.h"
#include "service/unsettled.h"

enum { TICK_MS = 500, SOON_MS = 1 };

static struct session *arrivals_take_first(struct tenant *tenant)
{
	struct session *session = TAILQ_FIRST(&tenant->arriving);
	TAILQ_REMOVE(&tenant->arriving, session, link);
	tenant->arriving_count--;
	tenant->supervisor->arriving_count--;
	return session;
}

void arrivals_drop(struct tenant *tenant, struct session *session, const char *text)
{
	TAILQ_REMOVE(&tenant->arriving, session, link);
	tenant->arriving_count--;
	tenant->supervisor->arriving_count--;
	tenant_session_left(tenant, session);
	refuse_client(take_fd(&session->socket), STATUS_CONNECTION_LOST, text);
	(void)session_free(session);
}

/* Refuses sessions that have waited for too long, and drops those whose client has hung up. */
static void arrivals_drop_late(struct tenant *tenant)
{
	uint64_t patience_ns = tenant->supervisor->configuration.engine_start_ns;
	struct session *session, *next;
	const char *why =
		tenant_settings_are_known(tenant)
			? "no engine has ended in time to make room for one more"
			: "the user database does not answer: this user is not identified";
	for (session = TAILQ_FIRST(&tenant->arriving); session; session = next) {
		next = TAILQ_NEXT(session, link);
		if (clock_now_ns() - session->since_ns > patience_ns ||
		    session_has_hung_up(session))
			arrivals_drop(tenant, session, why);
	}
}

static void on_arrivals_timer(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		arrivals_drop_late(tenant);
	arrivals_continue(supervisor);
	if (supervisor->arriving_count == 0)
		(void)uv_timer_stop(timer);
}

void arrivals_init(struct supervisor *supervisor)
{
	(void)uv_timer_init(&supervisor->loop, &supervisor->arrivals);
	supervisor->arrivals.data = supervisor;
}

void arrivals_add(struct tenant *tenant, struct session *session)
{
	session->phase = SESSION_WAITING;
	TAILQ_INSERT_TAIL(&tenant->arriving, session, link);
	tenant->arriving_count++;
	tenant_session_joined(tenant);
	unsettled_add(tenant, NULL, session);
	if (tenant->supervisor->arriving_count++ == 0)
		(void)uv_timer_start(&tenant->supervisor->arrivals, on_arrivals_timer, TICK_MS,
				     TICK_MS);
}

void arrivals_continue_tenant(struct tenant *tenant)
{
	struct supervisor *supervisor = tenant->supervisor;
	/* Each session is tried once. One that must wait further goes behind the others again, so
	 * all keep their order. Each may start an engine. */
	for (unsigned count = tenant->arriving_count; count > 0; count--) {
		struct session *session = arrivals_take_first(tenant);
		tenant_session_left(tenant, session);
		tenant_place(tenant, session);
		if (count > 1 && turn_is_long(&supervisor->loop)) {
			(void)uv_timer_start(&supervisor->arrivals, on_arrivals_timer, SOON_MS,
					     TICK_MS);
			break;
		}
	}
	tenant_review(tenant);
}

void arrivals_continue(struct supervisor *supervisor)
{
	struct tenant *tenant, *next;
	for (tenant = TAILQ_FIRST(&supervisor->tenants); tenant && supervisor->arriving_count;
	     tenant = next) {
		next = TAILQ_NEXT(tenant, link);
		if (tenant->arriving_count && tenant_settings_are_known(tenant))
			arrivals_continue_tenant(tenant);
	}
}

void arrivals_refuse(struct supervisor *supervisor, const char *text)
{
	struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		while (!TAILQ_EMPTY(&tenant->arriving))
			arrivals_drop(tenant, TAILQ_FIRST(&tenant->arriving), text);
}
