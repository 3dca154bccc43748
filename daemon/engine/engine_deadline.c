#include "engine_deadline.h"
#include "clock.h"
#include "engine_lost.h"
#include "engine_state.h"
#include "fault.h"
#include "flight_page.h"
#include "session.h"

#include <inttypes.h>

#define LOOK_MS 250u

static uint64_t deadline_of(void *context, uint64_t number)
{
	const struct engine *engine = context;
	for (const struct list *link = engine->sessions.next; link != &engine->sessions; link = link->next) {
		const struct session *session = list_entry(link, const struct session, link);
		if (session->peer.session == number)
			return session->limits.group_seconds * 1000000000u;
	}
	return 0;
}

/* All others go: what stays in the page is who is to blame. Their threads may have just taken something in or out of it. */
static void blame(struct flight_page *page, const struct scheduler_overdue *overdue)
{
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++) {
		struct flight_entry *entry = &page->entries[i];
		if (atomic_load(&entry->session) != overdue->session || entry->queue != overdue->queue ||
		    entry->group != overdue->group)
			atomic_store(&entry->session, 0);
	}
	atomic_store(&page->more, 0);
}

static void on_look(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	struct scheduler_overdue overdue;
	struct backend_fault fault;
	if (!scheduler_overdue(engine->scheduler, clock_now_ns(), deadline_of, engine, &overdue))
		return;
	fault_write(&fault, STATUS_DEVICE_LOST, "%s has run for longer than its deadline of %" PRIu64 " s",
		    overdue.what[0] ? overdue.what : "a command", deadline_of(engine, overdue.session) / 1000000000u);
	if (!engine->options.in_application)
		blame(engine->flight->address, &overdue);
	(void)uv_timer_stop(timer);
	engine_lose(engine, overdue.backend, &fault);
}

void engine_deadline_review(struct engine *engine)
{
	bool wanted = false;
	for (const struct list *link = engine->sessions.next; link != &engine->sessions; link = link->next)
		wanted |= list_entry(link, const struct session, link)->limits.group_seconds > 0;
	if (!wanted)
		(void)uv_timer_stop(&engine->deadline_timer);
	else if (!uv_is_active((uv_handle_t *)&engine->deadline_timer))
		(void)uv_timer_start(&engine->deadline_timer, on_look, LOOK_MS, LOOK_MS);
}
