#include "base/events.h"

#include "base/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/queue.h>
#include <time.h>

#define MILLISECOND_NS 1000000u
#define BLOCK_SHIFT    16
#define BLOCKS_BEGIN   ((uint64_t)1 << 32) /* parts of blocks are numbered from here on */
#define PART_OF_NOBODY UINT64_MAX

/* Most uids whose events are counted: twice as many as the service has tenants. */
enum { COUNTERS = 4096 };

TAILQ_HEAD(kept_events, kept_event);

struct kept_event {
	TAILQ_ENTRY(kept_event) in_order, in_part;
	struct event_part *part;
	struct event event;
};

/* Kept events of one uid, or of one block of uids. */
struct event_part {
	uint64_t whose;
	unsigned count; /* 0: unused */
	struct kept_events events;
};

struct event_list {
	struct kept_events order;
	unsigned used;
	struct kept_event kept[EVENTS_KEPT];
	struct event_part parts[EVENTS_KEPT];
};

/* How many events a uid has had. */
struct event_counter {
	uid_t uid;
	uint64_t count;     /* 0: unused */
	uint64_t last_used; /* number of its latest event */
};

static struct event_list of_sessions = {.order = TAILQ_HEAD_INITIALIZER(of_sessions.order)};
static struct event_list of_others = {.order = TAILQ_HEAD_INITIALIZER(of_others.order)};
static struct event_counter counters[COUNTERS];
static uint64_t last_number;

static uint64_t now_unix_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / MILLISECOND_NS;
}

static struct event_counter *event_counter_find(uid_t uid)
{
	for (unsigned i = 0; i < COUNTERS && counters[i].count; i++)
		if (counters[i].uid == uid)
			return &counters[i];
	return NULL;
}

/* Returns the own number of the list's newest event of this uid; 0: there is none. */
static uint64_t event_list_newest_number(const struct event_list *list, uid_t uid)
{
	const struct kept_event *kept;
	TAILQ_FOREACH_REVERSE(kept, &list->order, kept_events, in_order)
	{
		if (kept->event.has_uid && kept->event.uid == uid)
			return kept->event.own_number;
	}
	return 0;
}

static uint64_t events_newest_number(uid_t uid)
{
	uint64_t session = event_list_newest_number(&of_sessions, uid),
		 other = event_list_newest_number(&of_others, uid);
	return session > other ? session : other;
}

/* Beyond the room, the uid without events for the longest time loses its counter. A new counter
 * begins at the newest event that is kept, so that later events have higher numbers. If none is
 * kept, it begins anew, as after a restart of the service. */
static struct event_counter *event_counter_get(uid_t uid)
{
	struct event_counter *counter = event_counter_find(uid);
	if (counter)
		return counter;
	counter = &counters[0];
	for (unsigned i = 0; i < COUNTERS && counter->count; i++)
		if (counters[i].last_used < counter->last_used)
			counter = &counters[i];
	*counter = (struct event_counter){.uid = uid, .count = events_newest_number(uid)};
	return counter;
}

static void event_set_numbers(struct event *event)
{
	event->number = ++last_number;
	if (!event->has_uid)
		return;
	struct event_counter *counter = event_counter_get(event->uid);
	event->own_number = ++counter->count;
	counter->last_used = event->number;
}

static uint64_t event_part_number(const struct event *event)
{
	if (!event->has_uid)
		return PART_OF_NOBODY;
	return event->uid >> BLOCK_SHIFT ? BLOCKS_BEGIN + (event->uid >> BLOCK_SHIFT) : event->uid;
}

/* There are as many parts as events. So if there is room for an event, a part is free, too. */
static struct event_part *event_part_get(struct event_list *list, uint64_t whose)
{
	struct event_part *unused = NULL;
	for (unsigned i = 0; i < EVENTS_KEPT; i++) {
		struct event_part *part = &list->parts[i];
		if (part->count && part->whose == whose)
			return part;
		if (!part->count && !unused)
			unused = part;
	}
	unused->whose = whose;
	TAILQ_INIT(&unused->events);
	return unused;
}

/* Removes the oldest event of the part with the most events. The part `whose` counts as one larger,
 * because it will get the new event. */
static struct kept_event *event_drop_oldest_of_largest(struct event_list *list, uint64_t whose)
{
	struct event_part *largest = NULL;
	unsigned most = 0;
	for (unsigned i = 0; i < EVENTS_KEPT; i++) {
		struct event_part *part = &list->parts[i];
		unsigned count = part->count ? part->count + (part->whose == whose) : 0;
		bool is_older = largest && count == most &&
				TAILQ_FIRST(&part->events)->event.number <
					TAILQ_FIRST(&largest->events)->event.number;
		if (count > most || is_older) {
			largest = part;
			most = count;
		}
	}
	struct kept_event *oldest = TAILQ_FIRST(&largest->events);
	TAILQ_REMOVE(&largest->events, oldest, in_part);
	TAILQ_REMOVE(&list->order, oldest, in_order);
	largest->count--;
	return oldest;
}

static void event_keep(struct event_list *list, const struct event *event)
{
	uint64_t whose = event_part_number(event);
	struct kept_event *kept = list->used < EVENTS_KEPT
					  ? &list->kept[list->used++]
					  : event_drop_oldest_of_largest(list, whose);
	kept->event = *event;
	kept->part = event_part_get(list, whose);
	kept->part->count++;
	TAILQ_INSERT_TAIL(&kept->part->events, kept, in_part);
	TAILQ_INSERT_TAIL(&list->order, kept, in_order);
}

void event_report(enum log_level level, const char *topic, struct event event, const char *format,
		  ...)
{
	bool is_of_session = event.kind == EVENT_SESSION_OPENED ||
			     event.kind == EVENT_SESSION_CLOSED || event.kind == EVENT_SPILL;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(event.text, sizeof(event.text), format, arguments);
	va_end(arguments);
	text_make_printable(event.text); /* a long one may be cut within a character */
	event_set_numbers(&event);
	event.unix_ms = now_unix_ms();
	event_keep(is_of_session ? &of_sessions : &of_others, &event);
	const struct log_fields fields = {.kind = (int)event.kind,
					  .has_uid = event.has_uid,
					  .uid = (unsigned long)event.uid,
					  .session = event.session,
					  .kernel = event.kernel};
	log_write_with(level, topic, &fields, event.text);
}

uint64_t event_number(const struct event_reader *reader, const struct event *event)
{
	return reader->sees_all ? event->number : event->own_number;
}

static bool event_reader_sees(const struct event_reader *reader, const struct event *event)
{
	return reader->sees_all || (event->has_uid && event->uid == reader->uid);
}

/* Returns the first from `kept` on that the reader may get. */
static const struct kept_event *event_reader_next(const struct event_reader *reader,
						  const struct kept_event *kept)
{
	while (kept && !event_reader_sees(reader, &kept->event))
		kept = TAILQ_NEXT(kept, in_order);
	return kept;
}

/* Searches from the end, because readers mostly have the rest already. */
static const struct kept_event *event_reader_place_after(const struct event_reader *reader,
							 const struct event_list *list,
							 uint64_t number)
{
	const struct kept_event *first = NULL, *kept;
	TAILQ_FOREACH_REVERSE(kept, &list->order, kept_events, in_order)
	{
		if (!event_reader_sees(reader, &kept->event))
			continue;
		if (event_number(reader, &kept->event) <= number)
			break;
		first = kept;
	}
	return first;
}

struct event_cursor events_after(const struct event_reader *reader, uint64_t number)
{
	return (struct event_cursor){
		.reader = *reader,
		.session = event_reader_place_after(reader, &of_sessions, number),
		.other = event_reader_place_after(reader, &of_others, number),
	};
}

const struct event *event_next(struct event_cursor *cursor)
{
	const struct kept_event *session = cursor->session, *other = cursor->other;
	if (session && (!other || session->event.number < other->event.number)) {
		cursor->session = event_reader_next(&cursor->reader, TAILQ_NEXT(session, in_order));
		return &session->event;
	}
	if (!other)
		return NULL;
	cursor->other = event_reader_next(&cursor->reader, TAILQ_NEXT(other, in_order));
	return &other->event;
}

uint64_t event_last(const struct event_reader *reader)
{
	if (reader->sees_all)
		return last_number;
	const struct event_counter *counter = event_counter_find(reader->uid);
	return counter ? counter->count : events_newest_number(reader->uid);
}
