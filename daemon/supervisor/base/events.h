/*
 * Events of sessions and engines, and orders of operators. Each event is logged, with fields if the
 * log goes to the journal. It is kept for `syclctl events` until newer ones replace it. Call these
 * functions on the loop's thread only. They never block.
 */
#ifndef SYCLD_SUPERVISOR_EVENTS_H
#define SYCLD_SUPERVISOR_EVENTS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Events of sessions, and spills, have a separate list, so that many of them do not replace other
 * events. When
 * a list is full, a new event replaces the oldest one of the user with the most events, so that a
 * user with many events does not replace those of others. Uids above 65,535 count by blocks of
 * 65,536: as large as what `useradd` gives one user as subordinate uids.
 */
enum { EVENTS_KEPT = 1024, EVENT_KERNEL_BYTES = 128, EVENT_TEXT_BYTES = 320 };

/* The values are those of proto's EventKind. */
enum event_kind {
	EVENT_ENGINE_STARTED = 1,
	EVENT_ENGINE_ENDED = 2,
	EVENT_FAULT = 3,
	EVENT_ORDER = 4,
	EVENT_SESSION_OPENED = 5,
	EVENT_SESSION_CLOSED = 6,
	EVENT_SPILL = 7,
};

struct event {
	enum event_kind kind;
	uint64_t number;     /* counted in this service from 1 on */
	uint64_t own_number; /* has_uid: counted for this uid; others' events do not change it */
	uint64_t unix_ms;
	bool has_uid; /* false: the event belongs to no single user */
	uid_t uid;
	uint64_t session;                /* 0: none */
	pid_t pid;                       /* of the engine, or of the session's client; 0: none */
	char kernel[EVENT_KERNEL_BYTES]; /* printable kernel of a fault; "": none */
	char text[EVENT_TEXT_BYTES];     /* printable; the line of the log */
};

/* Logs and keeps the event. Sets its numbers, time and text. */
__attribute__((format(printf, 4, 5))) void
event_report(enum log_level level, const char *topic, struct event event, const char *format, ...);

/* The reader of events: everything, by its numbers; or what belongs to one uid, by own numbers. */
struct event_reader {
	bool sees_all;
	uid_t uid;
};

/* Places in the lists of kept events. Valid until the next event is reported. */
struct event_cursor {
	struct event_reader reader;
	const struct kept_event *session, *other;
};

/* The number of an event as this reader gets it. */
uint64_t event_number(const struct event_reader *reader, const struct event *event);
/* Returns a cursor before the first kept event of this reader with a higher number. */
struct event_cursor events_after(const struct event_reader *reader, uint64_t number);
/* Returns the reader's next event in the order of numbers; NULL: there is none. */
const struct event *event_next(struct event_cursor *cursor);
/* Returns the number of the reader's latest event, which is at least that of the newest kept one;
 * 0: no event is known. */
uint64_t event_last(const struct event_reader *reader);

#endif
