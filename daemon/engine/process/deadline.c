#include "process/deadline.h"
#include "clock.h"
#include "process/lost.h"
#include "session/engine_state.h"
#include "base/fault.h"
#include "flight_page.h"
#include "session/session.h"

#include <inttypes.h>

#define LOOK_MS 250u

#define SECOND_NS 1000000000u

static bool session_is_orphan(const struct session *session)
{
	return session->orphan_ns != 0 &&
	       clock_now_ns() - session->orphan_ns > session->limits.orphan_seconds * SECOND_NS;
}

/* A session without a client has a shorter deadline: no process waits for its work. */
static uint64_t deadline_ns(const struct session *session)
{
	uint64_t most = session->limits.group_seconds * SECOND_NS,
		 orphan = session->limits.orphan_seconds * SECOND_NS;
	return session_is_orphan(session) && (most == 0 || orphan < most) ? orphan : most;
}

static const struct session *session_by_number(const struct engine *engine, uint64_t number)
{
	for (const struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next) {
		const struct session *session = list_entry(link, const struct session, link);
		if (session->peer.session == number)
			return session;
	}
	return NULL;
}

static uint64_t session_deadline_ns(void *context, uint64_t number)
{
	const struct session *session = session_by_number(context, number);
	return session ? deadline_ns(session) : 0;
}

static void describe_overdue(const struct engine *engine, const struct scheduler_overdue *overdue,
			     struct backend_fault *fault_out)
{
	const struct session *session = session_by_number(engine, overdue->session);
	const char *what = overdue->what[0] ? overdue->what : "a command";
	if (session && session_is_orphan(session))
		fault_write(fault_out, STATUS_DEVICE_LOST,
			    "%s still runs %" PRIu64 " s after its session has ended", what,
			    session->limits.orphan_seconds);
	else
		fault_write(fault_out, STATUS_DEVICE_LOST,
			    "%s has run for longer than its deadline of %" PRIu64 " s", what,
			    session ? session->limits.group_seconds : 0);
}

/* Removes all other entries, so that only those of the overdue group stay in the page. Device
 * threads may have just added or removed one. */
static void keep_only_overdue(struct flight_page *page, const struct scheduler_overdue *overdue)
{
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++) {
		struct flight_entry *entry = &page->entries[i];
		if (atomic_load(&entry->session) != overdue->session ||
		    entry->queue != overdue->queue || entry->group != overdue->group)
			atomic_store(&entry->session, 0);
	}
	atomic_store(&page->more, 0);
}

static void on_deadline_timer(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	struct scheduler_overdue overdue;
	struct backend_fault fault;
	if (!scheduler_overdue(engine->scheduler, clock_now_ns(), session_deadline_ns, engine,
			       &overdue))
		return;
	describe_overdue(engine, &overdue, &fault);
	if (!engine->options.in_application)
		keep_only_overdue(engine->flight->address, &overdue);
	(void)uv_timer_stop(timer);
	engine_lose(engine, overdue.backend, &fault);
}

void engine_deadline_review(struct engine *engine)
{
	bool wanted = false;
	for (const struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next)
		wanted |= list_entry(link, const struct session, link)->limits.group_seconds > 0 ||
			  list_entry(link, const struct session, link)->orphan_ns != 0;
	if (!wanted)
		(void)uv_timer_stop(&engine->deadline_timer);
	else if (!uv_is_active((uv_handle_t *)&engine->deadline_timer))
		(void)uv_timer_start(&engine->deadline_timer, on_deadline_timer, LOOK_MS, LOOK_MS);
}
