#include "admin/orders_target.h"

#include "account/tenant_forget.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/sessions.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

struct order_origin order_origin_of(const struct target *target)
{
	return (struct order_origin){target->uid, (uint64_t)time(NULL)};
}

int order_refuse(struct target *target, enum sycl_status code, const char *format, ...)
{
	target->refusal.code = code;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(target->refusal.text, sizeof(target->refusal.text), format, arguments);
	va_end(arguments);
	text_make_printable(target->refusal.text); /* it may name a word of the order */
	return -EINVAL;
}

struct session *order_waiting_session(struct engine *engine, uint64_t id)
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
				target->session = order_waiting_session(target->engine,
									target->order->session);
			if (target->session)
				return 0;
		}
	}
	return order_refuse(target, STATUS_INVALID, "there is no session %llu",
			    (unsigned long long)target->order->session);
}

int order_find_target(struct target *target)
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

void order_target_text(const struct target *target, char out[ORDER_TARGET_BYTES])
{
	const Sycl__V1__OrderCommand *order = target->order;
	const struct session *session = target->session;
	if (session)
		(void)snprintf(out, ORDER_TARGET_BYTES, "session %llu (uid %lu, pid %ld, %s)",
			       (unsigned long long)session->id, (unsigned long)session->peer.uid,
			       (long)session->peer.pid, session->peer.command);
	else if (order->session)
		(void)snprintf(out, ORDER_TARGET_BYTES, "session %llu",
			       (unsigned long long)order->session);
	else if (order->of_user)
		(void)snprintf(out, ORDER_TARGET_BYTES, "uid %lu", (unsigned long)order->uid);
	else
		(void)snprintf(out, ORDER_TARGET_BYTES, "everybody");
}
