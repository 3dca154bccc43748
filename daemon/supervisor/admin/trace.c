#include "admin/trace.h"

#include "engine/engine.h"
#include "engine/control.h"
#include "base/log.h"
#include "base/text.h"
#include "admin/report.h"
#include "status.h"
#include "service/supervisor.h"
#include "trace_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEASE_MS = 3000,
	ANSWER_BYTES_MOST = 16 << 20,
	RECORDS_LEAST = 64,
	INDEX_MOST = 63,
	LEAVERS_MOST = 1024
};

struct trace_leaver {
	uint64_t session;
	uint32_t uid, pid;
	char command[PEER_COMMAND_BYTES];
};

/* The records of one engine. */
struct piece {
	const struct engine *engine; /* only compared, because the engine may be freed already */
	Sycl__V1__TraceChunk chunk;  /* `records` are malloc'ed */
	char times_note[TRACE_NOTE_BYTES];
};

struct trace_poll {
	unsigned room, count, most;
	struct piece pieces[];
};

void trace_session_ends(struct supervisor *supervisor, const struct session *session)
{
	struct trace *trace = supervisor->trace;
	if (!trace->leavers || trace->leaver_count == LEAVERS_MOST)
		return;
	struct trace_leaver *leaver = &trace->leavers[trace->leaver_count++];
	leaver->session = session->id;
	leaver->uid = session->peer.uid;
	leaver->pid = (uint32_t)session->peer.pid;
	(void)snprintf(leaver->command, sizeof(leaver->command), "%s", session->peer.command);
}

void trace_forget(struct supervisor *supervisor)
{
	free(supervisor->trace->leavers);
	supervisor->trace->leavers = NULL;
	supervisor->trace->leaver_count = 0;
}

/* Ends the trace in every engine that may record it. */
static void trace_end(struct supervisor *supervisor)
{
	struct tenant *tenant;
	struct engine *engine;
	supervisor->trace->terms.id = 0;
	trace_forget(supervisor);
	(void)uv_timer_stop(&supervisor->trace->lease);
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->was_ready)
				(void)engine_send_trace_request(engine, 0,
								&supervisor->trace->terms, 0);
}

static void on_trace_lease_over(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	log_info("trace", "%llu ends: no client requests it any more",
		 (unsigned long long)supervisor->trace->terms.id);
	trace_end(supervisor);
}

void trace_init(struct supervisor *supervisor)
{
	(void)uv_timer_init(&supervisor->loop, &supervisor->trace->lease);
	supervisor->trace->lease.data = supervisor;
}

static bool trace_refuse(struct asker *asker, int code, const char *text)
{
	admin_answer_error(asker, code, text);
	return false;
}

bool trace_inquire(struct supervisor *supervisor, struct asker *asker,
		   const Sycl__V1__TraceQuery *query)
{
	struct trace *trace = supervisor->trace;
	if (!asker->may_order)
		return trace_refuse(
			asker, STATUS_INVALID,
			"only root and members of the administrators' group may take a trace");
	if (query->backend < SYCL__V1__BACKEND__BACKEND_OPENCL ||
	    query->backend > SYCL__V1__BACKEND__BACKEND_FAKE || query->index > INDEX_MOST)
		return trace_refuse(asker, STATUS_INVALID, "there is no such device");
	if (query->trace == 0 && trace->terms.id != 0)
		return trace_refuse(asker, STATUS_QUOTA,
				    "a trace is being taken; there is one at a time");
	if (query->trace != 0 && query->trace != trace->terms.id)
		return trace_refuse(
			asker, STATUS_INVALID,
			"that trace has ended: no client requested it for three seconds");
	if (query->trace == 0) {
		trace->terms.id = ++trace->last;
		trace->terms.backend = (uint32_t)query->backend;
		trace->terms.index = query->index;
		trace->terms.stops = false;
		trace->terms.is_exact = query->exact;
		trace->leavers = malloc(LEAVERS_MOST * sizeof(*trace->leavers));
		log_info("trace", "%llu of backend %u, device %u, for uid %lu%s",
			 (unsigned long long)trace->terms.id, trace->terms.backend,
			 trace->terms.index, (unsigned long)asker->uid,
			 trace->terms.is_exact ? ", with exact times" : "");
	}
	trace->terms.stops |= query->stop;
	(void)uv_timer_start(&trace->lease, on_trace_lease_over, LEASE_MS, 0);
	return true;
}

struct trace_poll *trace_poll_new(const struct supervisor *supervisor)
{
	unsigned room = 0;
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			room++;
	struct trace_poll *poll = malloc(sizeof(*poll) + room * sizeof(poll->pieces[0]));
	if (!poll)
		return NULL;
	size_t most = ANSWER_BYTES_MOST / sizeof(struct trace_record) / (room ? room : 1);
	poll->room = room;
	poll->count = 0;
	poll->most = most > TRACE_RECORDS_POLL ? TRACE_RECORDS_POLL : (unsigned)most;
	if (poll->most < RECORDS_LEAST)
		poll->most = RECORDS_LEAST;
	return poll;
}

struct trace_poll *trace_poll_free(struct trace_poll *poll)
{
	for (unsigned i = 0; poll && i < poll->count; i++)
		free(poll->pieces[i].chunk.records.data);
	free(poll);
	return NULL;
}

bool trace_query_engine(struct trace_poll *poll, struct engine *engine, uint64_t request)
{
	if (poll->count == poll->room)
		return false; /* the engine started after the request */
	struct piece *piece = &poll->pieces[poll->count++];
	piece->engine = engine;
	sycl__v1__trace_chunk__init(&piece->chunk);
	piece->chunk.uid = engine->tenant->uid;
	piece->chunk.engine_pid = (uint32_t)engine->pid;
	/* An engine of an earlier release would never reply, and the request would stay open. */
	return !engine->is_older &&
	       engine_send_trace_request(engine, request, &engine->tenant->supervisor->trace->terms,
					 poll->most) == 0;
}

static bool records_append(ProtobufCBinaryData *records, const ProtobufCBinaryData *more)
{
	uint8_t *bytes = realloc(records->data, records->len + more->len);
	if (!bytes)
		return false;
	memcpy(bytes + records->len, more->data, more->len);
	*records = (ProtobufCBinaryData){records->len + more->len, bytes};
	return true;
}

/* Once for each trace, as an engine may claim anything at any time. */
static void log_source_of_times(struct engine *engine, const Sycl__V1__TraceChunk *chunk)
{
	const struct trace *trace = engine->tenant->supervisor->trace;
	if (!chunk->times || engine->trace_noted == trace->terms.id)
		return;
	engine->trace_noted = trace->terms.id;
	log_info("trace", "%llu: exact times of the engine of uid %lu (pid %ld): %s",
		 (unsigned long long)trace->terms.id, (unsigned long)engine->tenant->uid,
		 (long)engine->pid, chunk->times_note);
}

bool trace_take(struct engine *engine, const Sycl__V1__EngineTrace *message)
{
	struct inquiry *inquiry = report_find(engine->tenant->supervisor, message->request);
	struct trace_poll *poll = inquiry ? inquiry->poll : NULL;
	struct piece *piece = NULL;
	for (unsigned i = 0; poll && i < poll->count; i++)
		if (poll->pieces[i].engine == engine)
			piece = &poll->pieces[i];
	if (!piece)
		return true; /* the reply was sent already */
	Sycl__V1__TraceChunk *chunk = &piece->chunk;
	if (message->records.len % sizeof(struct trace_record) != 0 ||
	    chunk->records.len + message->records.len > poll->most * sizeof(struct trace_record))
		return false;
	/* Records without memory are counted as missing by the client. */
	if (message->records.len > 0)
		(void)records_append(&chunk->records, &message->records);
	chunk->answered = !message->more;
	chunk->noted = message->noted;
	/* An engine with more records sends as many as were requested. */
	chunk->rest =
		message->rest && chunk->records.len == poll->most * sizeof(struct trace_record);
	chunk->open = message->open;
	chunk->times = message->times;
	text_copy_printable(piece->times_note, sizeof(piece->times_note), message->times_note);
	chunk->times_note = piece->times_note;
	log_source_of_times(engine, chunk);
	return true;
}

/* -------------------------------------- the reply --------------------------------------- */

struct answer {
	Sycl__V1__AdminReply message;
	Sycl__V1__TraceChunk **chunks;
	Sycl__V1__SessionFacts *sessions, **session_list;
};

static size_t trace_count_sessions(const struct supervisor *supervisor)
{
	size_t count = supervisor->trace->leaver_count;
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			count += engine->sessions_count;
	return count;
}

static Sycl__V1__SessionFacts *trace_add_row(struct answer *answer)
{
	size_t index = answer->message.n_sessions++;
	Sycl__V1__SessionFacts *facts = &answer->sessions[index];
	sycl__v1__session_facts__init(facts);
	answer->session_list[index] = facts;
	return facts;
}

static void trace_add_session(struct answer *answer, struct session *session)
{
	Sycl__V1__SessionFacts *facts = trace_add_row(answer);
	facts->session = session->id;
	facts->uid = session->peer.uid;
	facts->pid = (uint32_t)session->peer.pid;
	facts->command = session->peer.command;
}

static void trace_add_leaver(struct answer *answer, struct trace_leaver *leaver)
{
	Sycl__V1__SessionFacts *facts = trace_add_row(answer);
	facts->session = leaver->session;
	facts->uid = leaver->uid;
	facts->pid = leaver->pid;
	facts->command = leaver->command;
}

/* Adds open sessions, and those that have ended since the last reply. */
static void trace_add_sessions(struct answer *answer, const struct supervisor *supervisor,
			       size_t room)
{
	const struct tenant *tenant;
	const struct engine *engine;
	struct session *session;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			TAILQ_FOREACH (session, &engine->sessions, link)
				if (answer->message.n_sessions < room)
					trace_add_session(answer, session);
	for (unsigned i = 0;
	     i < supervisor->trace->leaver_count && answer->message.n_sessions < room; i++)
		trace_add_leaver(answer, &supervisor->trace->leavers[i]);
	answer->message.sessions = answer->session_list;
}

/* True: an engine has more records. */
static bool trace_add_chunks(struct answer *answer, struct trace_poll *poll)
{
	bool rest = false;
	for (unsigned i = 0; i < poll->count; i++) {
		answer->chunks[i] = &poll->pieces[i].chunk;
		rest |= answer->chunks[i]->rest;
	}
	answer->message.n_traces = poll->count;
	answer->message.traces = answer->chunks;
	return rest;
}

void trace_reply(struct inquiry *inquiry)
{
	struct supervisor *supervisor = inquiry->supervisor;
	struct answer answer = {.chunks = NULL};
	size_t room = trace_count_sessions(supervisor);
	sycl__v1__admin_reply__init(&answer.message);
	answer.message.trace = inquiry->trace;
	answer.chunks = calloc(inquiry->poll->count + 1u, sizeof(void *));
	answer.sessions = calloc(room + 1, sizeof(*answer.sessions));
	answer.session_list = calloc(room + 1, sizeof(void *));
	if (answer.chunks && answer.sessions && answer.session_list) {
		trace_add_sessions(&answer, supervisor, room);
		bool rest = trace_add_chunks(&answer, inquiry->poll);
		admin_answer(&inquiry->asker, &answer.message);
		supervisor->trace->leaver_count = 0;
		if (!rest && supervisor->trace->terms.stops &&
		    supervisor->trace->terms.id == inquiry->trace)
			trace_end(supervisor);
	} else {
		admin_answer_error(&inquiry->asker, STATUS_MEMORY_ALLOCATION,
				   "the service has no memory");
	}
	free(answer.chunks);
	free(answer.sessions);
	free(answer.session_list);
}
