#include "process/orders.h"
#include "clock.h"
#include "process/deadline.h"
#include "session/engine_state.h"
#include "session/session.h"

#include <errno.h>

/* Ends also a session that is already closing, as it may still have data to send. */
static int end_session(struct session *session, const Sycl__V1__SessionOrder *order)
{
	session_cut_off(session, STATUS_CONNECTION_LOST, "ended by the operator%s%.200s",
			*order->reason ? ": " : "", order->reason);
	session_set_close_policy(session, CLOSE_DROP_ALL);
	if (session->orphan_ns == 0)
		session->orphan_ns = clock_now_ns();
	return 0;
}

/* The session's ring is read no further. Of the groups that were read, those that are on a device
 * end; no other begins. */
static int pause_session(struct session *session, const Sycl__V1__SessionOrder *order)
{
	(void)order;
	session->paused = true;
	scheduler_pause(session->engine->scheduler, session->work);
	return 0;
}

static int resume_session(struct session *session, const Sycl__V1__SessionOrder *order)
{
	(void)order;
	session->paused = false;
	scheduler_resume(session->engine->scheduler, session->work);
	session_make_hot(session);
	return 0;
}

/* Sets a limit of one session, or of all sessions. A limit of all leaves the limits that single
 * sessions have. A value of 0 for one session: the limit of all holds again. */
static int set_session_limit(struct session *session, const Sycl__V1__SessionOrder *order)
{
	struct session_limits limits = session->limits;
	int index = session_limits_find(order->limit);
	uint32_t bit = 1u << index;
	if (order->session == 0 && (session->own_limits & bit))
		return 0;
	bool taken_back = order->session != 0 && order->value == 0;
	uint64_t value = taken_back ? session_limits_get(&session->engine->options.limits, index)
				    : order->value;
	int r = session_limits_put(&limits, index, value);
	if (r == 0)
		r = session_change_limits(session, &limits);
	if (r == 0 && taken_back)
		session->own_limits &= ~bit;
	else if (r == 0 && order->session != 0)
		session->own_limits |= bit;
	return r;
}

/* Sets a limit for later sessions, and for the use of all sessions together. */
static int limit_engine(struct engine *engine, const Sycl__V1__SessionOrder *order)
{
	int index = session_limits_find(order->limit);
	if (index < 0)
		return index;
	if (order->session != 0)
		return session_limits_put(&(struct session_limits){.objects = 0}, index,
					  order->value);
	int r = session_limits_put(&engine->options.limits, index, order->value);
	engine->device_quota.most_bytes = engine->options.limits.tenant_device_bytes;
	return r;
}

typedef int apply(struct session *session, const Sycl__V1__SessionOrder *order);

static apply *order_handler(Sycl__V1__SessionOrder__Act act)
{
	switch (act) {
	case SYCL__V1__SESSION_ORDER__ACT__ACT_END:
		return end_session;
	case SYCL__V1__SESSION_ORDER__ACT__ACT_PAUSE:
		return pause_session;
	case SYCL__V1__SESSION_ORDER__ACT__ACT_RESUME:
		return resume_session;
	case SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT:
		return set_session_limit;
	default:
		return NULL;
	}
}

int engine_order(struct engine *engine, const Sycl__V1__SessionOrder *order)
{
	apply *act = order_handler(order->act);
	if (!act)
		return -EINVAL;
	int r = act == set_session_limit ? limit_engine(engine, order) : 0;
	int count = 0;
	for (struct list *link = engine->sessions.next; link != &engine->sessions && r >= 0;
	     link = link->next) {
		struct session *session = list_entry(link, struct session, link);
		/* Orders hold for the work of a session that has ended, too. */
		if (order->session != 0 && session->peer.session != order->session)
			continue;
		r = act(session, order);
		count++;
	}
	engine_deadline_review(engine);
	return r < 0 ? r : count;
}
