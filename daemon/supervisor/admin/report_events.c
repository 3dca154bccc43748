#include "admin/report_events.h"

#include "base/events.h"

enum { EVENTS_AT_ONCE = 256 };

static void fill_event(Sycl__V1__EventFacts *out, const struct event *event, uint64_t number)
{
	sycl__v1__event_facts__init(out);
	out->number = number;
	out->unix_ms = event->unix_ms;
	out->kind = (Sycl__V1__EventKind)event->kind;
	out->of_user = event->has_uid;
	out->uid = event->has_uid ? event->uid : 0;
	out->session = event->session;
	out->pid = (uint32_t)event->pid;
	out->kernel = (char *)(uintptr_t)event->kernel;
	out->text = (char *)(uintptr_t)event->text;
}

void report_events(struct asker *asker, const Sycl__V1__EventsQuery *query)
{
	Sycl__V1__EventFacts rows[EVENTS_AT_ONCE];
	Sycl__V1__EventFacts *list[EVENTS_AT_ONCE];
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	const struct event_reader reader = {.sees_all = asker->sees_all, .uid = asker->uid};
	struct event_cursor cursor = events_after(&reader, query->after);
	const struct event *event;
	reply.events = list;
	while (reply.n_events < EVENTS_AT_ONCE && (event = event_next(&cursor))) {
		fill_event(&rows[reply.n_events], event, event_number(&reader, event));
		list[reply.n_events] = &rows[reply.n_events];
		reply.n_events++;
	}
	/* A full reply may not be the last one: the next query continues after its last event. */
	reply.events_last = reply.n_events == EVENTS_AT_ONCE ? rows[EVENTS_AT_ONCE - 1].number
							     : event_last(&reader);
	admin_answer(asker, &reply);
}
