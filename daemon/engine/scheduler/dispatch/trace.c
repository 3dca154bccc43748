#include "scheduler/dispatch/trace.h"

#include "base/trace_ring.h"
#include "fair_queue/estimate.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/account.h"
#include "scheduler/admission/admission.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE_SHIFT_NS 1000000u    /* between the library's clock and the backend's */
#define PROFILE_WAIT_NS  1000000000u /* for times of the library */

bool sched_trace_is_of(const struct sched_trace *trace, const struct scheduler_device *device)
{
	/*
	 * Native contexts are in no trace, because they belong to the program. A sub-device counts
	 * as the whole device.
	 */
	const struct scheduler_device *whole = device && device->root ? device->root : device;
	return whole && !whole->native_context && (uint32_t)whole->ops->kind == trace->backend &&
	       whole->backend_index == trace->index;
}

/* Any open device of that backend serves: its library measures the whole process. */
static const struct scheduler_device *find_open(const struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < SCHED_DEVICES_MAX; i++) {
		const struct scheduler_device *device = scheduler->devices[i];
		if (device && sched_trace_is_of(scheduler->trace, device) &&
		    atomic_load(&device->opened) == SCHED_OPENED)
			return device;
	}
	return NULL;
}

/* Called again until the device is open. The library is opened once at most for each trace. */
static void begin_profile(struct scheduler *scheduler)
{
	static const char events[] =
		"each command was sent alone, between two events of the device's driver";
	struct sched_trace *trace = scheduler->trace;
	struct backend_fault fault = {.status = 0};
	if (trace->times != TRACE_TIMES_EVENTS || trace->is_asked)
		return;
	(void)snprintf(trace->times_note, sizeof(trace->times_note), "%s", events);
	const struct scheduler_device *device = find_open(scheduler);
	if (!device)
		return;
	trace->is_asked = true;
	if (!device->ops->profile_begin)
		return;
	if (device->ops->profile_begin(device->handle, &fault) < 0) {
		(void)snprintf(trace->times_note, sizeof(trace->times_note), "%s; %.150s", events,
			       fault.text);
		return;
	}
	trace->profiler = device->ops;
	(void)snprintf(trace->times_note, sizeof(trace->times_note),
		       "each command was sent alone, kernels measured by CUPTI, others between two "
		       "events of the device's driver");
}

int scheduler_trace_begin(struct scheduler *scheduler, const struct scheduler_trace_terms *terms)
{
	struct sched_trace *trace = malloc(sizeof(*trace));
	if (!trace)
		return -ENOMEM;
	*trace = (struct sched_trace){.backend = terms->backend,
				      .index = terms->index,
				      .times = terms->times,
				      .since_ns = scheduler->clock_ns()};
	if (trace_ring_init(&trace->ring, terms->room) < 0) {
		free(trace);
		return -ENOMEM;
	}
	scheduler_trace_end(scheduler);
	scheduler->trace = trace;
	begin_profile(scheduler);
	sched_trace_take_spills(scheduler);
	return 0;
}

void scheduler_trace_end(struct scheduler *scheduler)
{
	if (scheduler->trace && scheduler->trace->profiler)
		scheduler->trace->profiler->profile_end();
	if (scheduler->trace) {
		sched_trace_end_spills(scheduler);
		trace_ring_fini(&scheduler->trace->ring);
	}
	free(scheduler->trace);
	scheduler->trace = NULL;
}

void scheduler_trace_stop(struct scheduler *scheduler)
{
	if (!scheduler->trace)
		return;
	sched_trace_take_spills(scheduler);
	scheduler->trace->is_stopped = true;
}

/* Counts tasks that were ready in the traced time and have not come back. Visits all open tasks. */
static uint64_t trace_count_open_tasks(const struct scheduler *scheduler)
{
	uint64_t count = 0;
	for (const struct task *task = scheduler->open_first; task; task = task->open_next)
		count += task->flow && sched_trace_is_of(scheduler->trace, task->device) &&
			 sched_admission_takes_time(task) &&
			 (task->state == TASK_SENT || task->state == TASK_PARKED) &&
			 task->due_ns >= scheduler->trace->since_ns;
	return count;
}

bool sched_trace_refine(struct trace_record *record, uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t took_ns = end_ns - start_ns;
	if (record->end_ns <= record->start_ns || took_ns > record->end_ns - record->start_ns ||
	    start_ns + PROFILE_SHIFT_NS < record->start_ns ||
	    end_ns > record->end_ns + PROFILE_SHIFT_NS)
		return false;
	if (start_ns < record->start_ns)
		start_ns = record->start_ns;
	if (start_ns > record->end_ns - took_ns)
		start_ns = record->end_ns - took_ns;
	record->start_ns = start_ns;
	record->end_ns = start_ns + took_ns;
	record->takes_ns = took_ns;
	record->known = TRACE_PROFILED;
	return true;
}

/* False: the library may still report the entry's times. None is waited for at the cost of others
 * that would find no room. */
static bool settle_entry(const struct scheduler *scheduler, struct trace_entry *entry)
{
	const struct sched_trace *trace = scheduler->trace;
	uint64_t start_ns = 0, end_ns = 0;
	if (!trace->profiler || entry->profile == 0)
		return true;
	if (trace->profiler->profile_times(entry->profile, &start_ns, &end_ns)) {
		(void)sched_trace_refine(&entry->record, start_ns, end_ns);
		return true;
	}
	return trace->is_stopped || trace->ring.count > trace->ring.room / 2 ||
	       scheduler->clock_ns() > entry->noted_ns + PROFILE_WAIT_NS;
}

static void fill_facts(const struct scheduler *scheduler, struct scheduler_trace *facts_out)
{
	const struct sched_trace *trace = scheduler->trace;
	facts_out->noted = trace->ring.noted;
	facts_out->times = trace->profiler ? TRACE_TIMES_PROFILED : trace->times;
	facts_out->times_note = trace->times_note;
	if (trace->is_stopped)
		facts_out->open = trace_count_open_tasks(scheduler);
}

uint32_t scheduler_trace_take(struct scheduler *scheduler, struct trace_record *records_out,
			      uint32_t most, struct scheduler_trace *facts_out)
{
	struct sched_trace *trace = scheduler->trace;
	struct trace_entry *entry;
	uint32_t count = 0;
	*facts_out = (struct scheduler_trace){.noted = 0, .times_note = ""};
	if (!trace)
		return 0;
	begin_profile(scheduler);
	sched_trace_take_spills(scheduler);
	if (trace->profiler)
		trace->profiler->profile_flush(trace->is_stopped);
	while (count < most && (entry = trace_ring_first(&trace->ring)) != NULL &&
	       settle_entry(scheduler, entry)) {
		records_out[count++] = entry->record;
		trace_ring_remove_first(&trace->ring);
	}
	/* Records that are not settled yet are left for a later request. */
	facts_out->left = count == most ? trace->ring.count : 0;
	fill_facts(scheduler, facts_out);
	return count;
}

void sched_trace_send(struct task *task)
{
	const struct sched_trace *trace = task->scheduler->trace;
	bool is_traced = task->role == TASK_ROLE_MOVE || sched_admission_takes_time(task);
	/* A burst has no times (backend.h). The session makes none meanwhile; this one came before
	 * the trace began. */
	if (trace->times == TRACE_TIMES_EVENTS && !trace->is_stopped && is_traced &&
	    !task->command.burst && sched_trace_is_of(trace, task->device))
		task->command.backend.timed = true;
}

/* The measured time of commands of the task's shape; 0: not measured. */
static uint64_t estimate_task_time(const struct task *task, uint64_t shape)
{
	const struct sched_admission *admission = task->device->admission;
	if (!admission || shape == 0 ||
	    !fair_queue_estimate_is_exact(&admission->queue.estimates, shape))
		return 0;
	return fair_queue_estimate_ns(&admission->queue.estimates, shape);
}

static void fill_record_times(const struct task *task, struct trace_record *record)
{
	const struct task_command *command = &task->command;
	uint64_t took_ns =
		command->end_ns > command->start_ns ? command->end_ns - command->start_ns : 0;
	if (task->split.begun) /* without the time of other tasks between its parts */
		took_ns = task->split.took_ns;
	uint64_t known_ns = command->estimated && !task->split.begun
				    ? estimate_task_time(task, record->shape)
				    : 0;
	record->start_ns = command->start_ns;
	record->end_ns = took_ns > 0 ? command->end_ns : command->start_ns;
	record->takes_ns = known_ns ? known_ns : took_ns;
	record->known =
		known_ns ? TRACE_ESTIMATED : (command->estimated ? TRACE_SEEN : TRACE_MEASURED);
}

/* Adds a predecessor: the numbers of the last few stay. */
static void add_predecessor(uint64_t number, struct trace_record *record)
{
	memmove(&record->after[1], &record->after[0],
		sizeof(record->after) - sizeof(*record->after));
	record->after[0] = number;
	if (record->after_count < UINT8_MAX)
		record->after_count++;
}

void sched_trace_follow(const struct task *from, struct task *to)
{
	to->trace_after[to->trace_after_count++ % TRACE_AFTER_MOST] = from->number;
}

/* Those that have ended, in that order, and those that the device has not reported yet. */
static void fill_predecessors(const struct task *task, struct trace_record *record)
{
	uint32_t ended = task->trace_after_count,
		 known = ended < TRACE_AFTER_MOST ? ended : TRACE_AFTER_MOST;
	record->after_count = (uint8_t)(ended - known < UINT8_MAX ? ended - known : UINT8_MAX);
	for (uint32_t i = ended - known; i < ended; i++)
		add_predecessor(task->trace_after[i % TRACE_AFTER_MOST], record);
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in)
		add_predecessor(edge->from->number, record);
}

static void fill_record_identity(const struct task *task, struct trace_record *record)
{
	const struct task_command *command = &task->command;
	uint32_t launches = command_launch_count(command);
	record->session = command->flight_session;
	record->queue = command->flight_queue;
	record->group = command->flight_group;
	record->task = task->number;
	record->launches = (uint8_t)(launches < UINT8_MAX ? launches : UINT8_MAX);
	record->flags = (uint8_t)((task->role == TASK_ROLE_MOVE ? TRACE_FLAG_MOVE : 0) |
				  (task->cause ? TRACE_FLAG_FAILED : 0) |
				  (command->was_set_aside ? TRACE_FLAG_SET_ASIDE : 0));
	memcpy(record->what, command->what, sizeof(record->what) - 1);
}

void sched_trace_note(const struct task *task)
{
	const struct task_command *command = &task->command;
	struct sched_trace *trace = task->scheduler->trace;
	bool is_move = task->role == TASK_ROLE_MOVE && task->flow->account;
	sched_trace_take_spills(task->scheduler); /* before their log is full */
	if (trace->is_stopped || task->due_ns < trace->since_ns ||
	    !sched_trace_is_of(trace, task->device) ||
	    (!is_move && !sched_admission_takes_time(task)))
		return;
	uint32_t weight;
	enum fair_queue_class class;
	sched_account_rank_of(task->flow->account, &class, &weight);
	struct trace_entry entry = {.noted_ns = task->scheduler->clock_ns(),
				    .profile = task->split.begun ? 0 : command->profile};
	struct trace_record *record = &entry.record;
	*record = (struct trace_record){
		.at_ns = task->due_ns,
		.sent_ns = task->sent_ns,
		.shape = task->split.begun ? task->split.shape : sched_admission_shape(command),
		.weight = (uint16_t)weight,
		.session_class = (uint8_t) class,
		.lane = (uint8_t)command->lane,
	};
	fill_record_identity(task, record);
	fill_record_times(task, record);
	/* A task that did not run took no device time. */
	if (command->skipped || (task->cause && record->takes_ns == 0))
		return;
	fill_predecessors(task, record);
	trace_ring_note(&trace->ring, &entry);
}
