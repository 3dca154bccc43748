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
	struct trace_terms terms; /* `id` 0: no trace is recorded */
	uint64_t last;            /* number of the latest trace */
	/* Sessions that have ended since the last reply. Beyond a limit, sessions stay without a
	 * name. */
	struct trace_leaver *leavers;
	unsigned leaver_count;
	uv_timer_t lease;
};

/* The records that have arrived for one request. */
struct trace_poll;

/* Called when a session of an engine has ended, so that the next reply names its process. */
void trace_session_ends(struct supervisor *supervisor, const struct session *session);

void trace_init(struct supervisor *supervisor);
/* Called when the service ends: frees the records. Engines end their traces by themselves. */
void trace_forget(struct supervisor *supervisor);
/*
 * Handles a request. True: engines must get requests. False: the reply was sent, with the reason.
 */
bool trace_inquire(struct supervisor *supervisor, struct asker *asker,
		   const Sycl__V1__TraceQuery *query);

/* Makes a poll with room for the engines that exist now. NULL: no memory. */
struct trace_poll *trace_poll_new(const struct supervisor *supervisor);
struct trace_poll *trace_poll_free(struct trace_poll *poll);
/* Sends the request to the engine. False: that is not possible now, and the reply shows it. */
bool trace_query_engine(struct trace_poll *poll, struct engine *engine, uint64_t request);
/* Keeps the engine's records. False: there are more than were requested. */
bool trace_take(struct engine *engine, const Sycl__V1__EngineTrace *message);
/* Replies with the records that have arrived. */
void trace_reply(struct inquiry *inquiry);

#endif
