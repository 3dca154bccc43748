/*
 * A trace of all commands to one device, for 'syclctl trace'. Engines record it
 * (daemon/engine/process/trace.h), and send their records when the client requests them. There is
 * one trace at a time. The supervisor keeps only its number, and the sessions that have ended since
 * the last reply. Three seconds after the client's last request, the trace ends in every engine.
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
	struct trace_leaver *leavers; /* sessions that have ended since the last reply; beyond so
					 many, they stay without a name */
	unsigned leaver_count;
	uv_timer_t lease;
};

/* The records that have arrived for one question. */
struct trace_poll;

/* A session that an engine had has ended: the next reply names its process. */
void trace_session_ends(struct supervisor *supervisor, const struct session *session);

void trace_init(struct supervisor *supervisor);
/* The service ends: free the records. Engines end their traces by themselves. */
void trace_forget(struct supervisor *supervisor);
/* A request has come. True: engines must get requests. False: the reply was sent, with the
 * reason. */
bool trace_inquire(struct supervisor *supervisor, struct asker *asker,
		   const Sycl__V1__TraceQuery *query);

/* Makes a poll with room for the engines that exist now. NULL: no memory. */
struct trace_poll *trace_poll_new(const struct supervisor *supervisor);
struct trace_poll *trace_poll_free(struct trace_poll *poll);
/* Send the request to the engine. False: that is not possible now, and the reply shows it. */
bool trace_query_engine(struct trace_poll *poll, struct engine *engine, uint64_t request);
/* Keep the engine's records. False: there are more than were requested. */
bool trace_take(struct engine *engine, const Sycl__V1__EngineTrace *message);
/* Reply with the records that have arrived. */
void trace_reply(struct inquiry *inquiry);

#endif
