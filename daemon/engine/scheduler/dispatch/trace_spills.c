/* The records of a trace on copies of spilled memory. */
#include "base/spill_log.h"
#include "base/trace_ring.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/dispatch/trace.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"

#include <stdio.h>

static void note_spill(struct sched_trace *trace, const struct spill_log_event *event)
{
	static const char *const names[] = {
		[SPILL_LOG_SPILL] = "spill",
		[SPILL_LOG_DROPPED] = "spill, needed again",
		[SPILL_LOG_RETURN] = "return",
	};
	struct trace_entry entry = {.noted_ns = event->end_ns};
	struct trace_record *record = &entry.record;
	*record = (struct trace_record){
		.session = event->session,
		.at_ns = event->start_ns,
		.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.takes_ns = event->end_ns - event->start_ns,
		.bytes = event->bytes,
		.group = event->memory,
		.weight = FAIR_QUEUE_WEIGHT,
		.session_class = FAIR_QUEUE_NORMAL,
		.known = TRACE_SEEN,
		.flags = event->kind == SPILL_LOG_RETURN ? TRACE_FLAG_RETURN : TRACE_FLAG_SPILL,
	};
	if (event->has_failed)
		record->flags |= TRACE_FLAG_FAILED;
	(void)snprintf(record->what, sizeof(record->what), "%s", names[event->kind]);
	trace_ring_note(&trace->ring, &entry);
}

void sched_trace_take_spills(struct scheduler *scheduler)
{
	struct sched_trace *trace = scheduler->trace;
	struct spill_log_event event;
	for (uint32_t i = 0; i < SCHED_DEVICES_MAX && scheduler->spills; i++) {
		struct scheduler_device *device = scheduler->devices[i];
		if (!device || !sched_trace_is_of(trace, device))
			continue;
		/* A device may come after the trace has begun. Without memory for its log the trace
		 * is without its spills. */
		if (!spill_log_is_on(&device->spill_log) &&
		    (trace->is_stopped || spill_log_begin(&device->spill_log) < 0))
			continue;
		while (spill_log_take(&device->spill_log, &event))
			if (!trace->is_stopped && event.start_ns >= trace->since_ns)
				note_spill(trace, &event);
		trace->ring.noted += spill_log_take_missed(&device->spill_log);
	}
}

void sched_trace_end_spills(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < SCHED_DEVICES_MAX; i++)
		if (scheduler->devices[i])
			spill_log_end(&scheduler->devices[i]->spill_log);
}
