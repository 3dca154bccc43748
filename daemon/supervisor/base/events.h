/*
 * Events: what happens to sessions and engines, and what operators order. Each is logged, with
 * fields where the journal takes them, and kept for `syclctl events` until newer ones take its
 * place. Call on the loop's thread only. Never blocks.
 */
#ifndef SYCLD_SUPERVISOR_EVENTS_H
#define SYCLD_SUPERVISOR_EVENTS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sessions have a list of their own: a user who opens many drives out no other events. */
enum { EVENTS_KEPT = 1024, EVENT_KERNEL_BYTES = 128, EVENT_TEXT_BYTES = 320 };

/* As proto's EventKind. */
enum event_kind {
	EVENT_ENGINE_STARTED = 1,
	EVENT_ENGINE_ENDED = 2,
	EVENT_FAULT = 3,
	EVENT_ORDER = 4,
	EVENT_SESSION_OPENED = 5,
	EVENT_SESSION_CLOSED = 6,
};

struct event {
	enum event_kind kind;
	uint64_t number; /* from 1 on, of this service; 0: none */
	uint64_t unix_ms;
	bool has_uid; /* it is about one user */
	uid_t uid;
	uint64_t session;                /* 0: it is about none */
	pid_t pid;                       /* of the engine, or of the session's client; 0: none */
	char kernel[EVENT_KERNEL_BYTES]; /* of a fault; "": none. Printable */
	char text[EVENT_TEXT_BYTES];     /* printable, as in the log */
};

/* Logs and keeps the event. The number, the time and the text are set here. */
__attribute__((format(printf, 4, 5))) void
event_report(enum log_level level, const char *topic, struct event event, const char *format, ...);

/* Places in the lists of kept events. Valid until the next event is reported. */
struct event_cursor {
	uint64_t session, other;
};

/* Before the first kept event with a higher number. */
struct event_cursor events_after(uint64_t number);
/* The next event in the order of numbers; NULL: there is none. */
const struct event *event_next(struct event_cursor *cursor);
/* The number of the latest event; 0: there was none. */
uint64_t event_last(void);

#endif
