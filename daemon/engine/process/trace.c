#include "process/trace.h"
#include "session/engine_state.h"

#include <errno.h>

/* The records for one request. */
struct piece {
	uint32_t count, sent;
	struct scheduler_trace facts;
	struct trace_record records[TRACE_RECORDS_POLL];
};

static int trace_file_send_part(struct piece *piece, uint64_t request,
				const struct engine_trace_options *options)
{
	Sycl__V1__EngineTrace part = SYCL__V1__ENGINE_TRACE__INIT;
	uint32_t left = piece->count - piece->sent,
		 count = left < TRACE_RECORDS_PART ? left : TRACE_RECORDS_PART;
	part.request = request;
	part.records.data = (uint8_t *)&piece->records[piece->sent];
	part.records.len = count * sizeof(*piece->records);
	part.noted = piece->facts.noted;
	part.open = piece->facts.open;
	part.rest = piece->facts.left > 0;
	part.times = piece->facts.times;
	part.times_note = (char *)(uintptr_t)piece->facts.times_note;
	piece->sent += count;
	part.more = piece->sent < piece->count;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_TRACE;
	control.trace = &part;
	return options->send(options->context, &control.base);
}

/* A trace that has ended already is not begun again only to be stopped. */
static int begin_trace(struct engine *engine, const Sycl__V1__EngineTraceRequest *request)
{
	if (engine->trace == request->trace || request->stop)
		return 0;
	const struct scheduler_trace_terms terms = {
		.backend = (uint32_t)request->backend,
		.index = request->index,
		.room = TRACE_RECORDS_KEPT,
		.times = request->exact ? TRACE_TIMES_EVENTS : TRACE_TIMES_USUAL,
	};
	int r = scheduler_trace_begin(engine->scheduler, &terms);
	if (r < 0)
		return r;
	engine->trace = request->trace;
	engine->trace_times = terms.times;
	return 0;
}

int engine_trace(struct engine *engine, const Sycl__V1__EngineTraceRequest *request,
		 const struct engine_trace_options *options)
{
	if (request->trace == 0) {
		engine_trace_end(engine);
		return 0;
	}
	CLEANUP(free_pointer) struct piece *piece = malloc(sizeof(*piece));
	int r = piece ? begin_trace(engine, request) : -ENOMEM;
	if (r < 0)
		return r;
	piece->count = piece->sent = 0;
	piece->facts = (struct scheduler_trace){.noted = 0, .times_note = ""};
	if (engine->trace == request->trace) {
		if (request->stop)
			scheduler_trace_stop(engine->scheduler);
		uint32_t most =
			request->most < TRACE_RECORDS_POLL ? request->most : TRACE_RECORDS_POLL;
		piece->count = scheduler_trace_take(engine->scheduler, piece->records, most,
						    &piece->facts);
	}
	do {
		r = trace_file_send_part(piece, request->request, options);
	} while (r == 0 && piece->sent < piece->count);
	if (r < 0 || (request->stop && piece->facts.left == 0))
		engine_trace_end(engine);
	return r;
}

void engine_trace_end(struct engine *engine)
{
	scheduler_trace_end(engine->scheduler);
	engine->trace = 0;
	engine->trace_times = TRACE_TIMES_USUAL;
}
