#include "base/events.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define MILLISECOND_NS 1000000u

struct event_ring {
	struct event events[EVENTS_KEPT];
	uint64_t written; /* number of all events so far */
};

static struct event_ring of_sessions, of_others;
static uint64_t last_number;

static uint64_t now_unix_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / MILLISECOND_NS;
}

void event_report(enum log_level level, const char *topic, struct event event, const char *format,
		  ...)
{
	struct event_ring *ring =
		event.kind == EVENT_SESSION_OPENED || event.kind == EVENT_SESSION_CLOSED
			? &of_sessions
			: &of_others;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(event.text, sizeof(event.text), format, arguments);
	va_end(arguments);
	event.number = ++last_number;
	event.unix_ms = now_unix_ms();
	ring->events[ring->written++ % EVENTS_KEPT] = event;
	const struct log_fields fields = {.kind = (int)event.kind,
					  .has_uid = event.has_uid,
					  .uid = (unsigned long)event.uid,
					  .session = event.session,
					  .kernel = event.kernel};
	log_write_with(level, topic, &fields, event.text);
}

/* Returns the place of the first kept event with a higher number. Numbers increase in a ring. */
static uint64_t place_after(const struct event_ring *ring, uint64_t number)
{
	uint64_t low = ring->written > EVENTS_KEPT ? ring->written - EVENTS_KEPT : 0;
	uint64_t high = ring->written;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (ring->events[middle % EVENTS_KEPT].number > number)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static const struct event *event_at(const struct event_ring *ring, uint64_t place)
{
	return place < ring->written ? &ring->events[place % EVENTS_KEPT] : NULL;
}

struct event_cursor events_after(uint64_t number)
{
	return (struct event_cursor){.session = place_after(&of_sessions, number),
				     .other = place_after(&of_others, number)};
}

const struct event *event_next(struct event_cursor *cursor)
{
	const struct event *session = event_at(&of_sessions, cursor->session);
	const struct event *other = event_at(&of_others, cursor->other);
	if (session && (!other || session->number < other->number)) {
		cursor->session++;
		return session;
	}
	cursor->other += other != NULL;
	return other;
}

uint64_t event_last(void)
{
	return last_number;
}
