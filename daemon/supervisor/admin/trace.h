/*
 * A trace of what all sessions send to one device, for 'syclctl trace': engines note it
 * (engine_trace.h), and give it out whenever the asker asks. One at a time. Nothing is kept here
 * but its number, and who has left since the last answer: who has not asked for three seconds is
 * gone, and then every engine is told to end it.
 */
#ifndef SYCLD_SUPERVISOR_TRACE_H
#define SYCLD_SUPERVISOR_TRACE_H

#include "admin/admin.h"
#include "control.pb-c.h"
#include "engine/control.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct engine;
struct inquiry;
struct session;
struct supervisor;
struct trace_leaver;

struct trace {
	struct trace_terms terms;     /* `id` is 0: none is taken */
	uint64_t last;                /* number that a trace was given */
	struct trace_leaver *leavers; /* sessions that have ended since the last answer; beyond so
					 many, they stay without a name */
	unsigned leaver_count;
	uv_timer_t lease;
};

/* What has come for one question. */
struct trace_poll;

/* One that was an engine's. Who it was is in the next answer. */
void trace_session_ends(struct supervisor *supervisor, const struct session *session);

void trace_init(struct supervisor *supervisor);
/* At the end of the service, whose engines end theirs by themselves. */
void trace_forget(struct supervisor *supervisor);
/* A question has come. True: engines are to be asked; else it is answered, with the reason. */
bool trace_inquire(struct supervisor *supervisor, struct asker *asker,
		   const Sycl__V1__TraceQuery *query);

/* For as many engines as there are now. NULL: no memory. */
struct trace_poll *trace_poll_new(const struct supervisor *supervisor);
struct trace_poll *trace_poll_free(struct trace_poll *poll);
/* Ask it. False: it cannot be asked now, which the answer tells. */
bool trace_ask(struct trace_poll *poll, struct engine *engine, uint64_t request);
/* Keep what it says. False: that is more than it was asked for. */
bool trace_take(struct engine *engine, const Sycl__V1__EngineTrace *message);
/* Answer, with what has come by now. */
void trace_reply(struct inquiry *inquiry);

#endif
