/* The life of a task: edges, what may go on, failure and the end. */
#include "scheduler/state/task.h"

#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/account.h"
#include "scheduler/admission.h"
#include "scheduler/burst.h"
#include "scheduler/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/early.h"
#include "scheduler/state/event.h"
#include "scheduler/state/graph.h"
#include "scheduler/lane.h"
#include "scheduler/state/notice.h"
#include "scheduler/pool.h"
#include "scheduler/state/program.h"
#include "scheduler/shared.h"
#include "scheduler/state/scheduler.h"
#include "worker/command.h"
#include "worker/native_command.h"
#include "worker/spill.h"

#include "clock.h"
#include "status.h"

#include <stdio.h>

/* Work of the scheduler's own is not counted with that of its user. */
static bool is_own_failure(const struct task *task)
{
	return task->role != TASK_ROLE_GROUP && task->role != TASK_ROLE_HOST_ACCESS;
}

void task_open(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	task->number = ++scheduler->last_number;
	task->open_previous = scheduler->open_last;
	if (scheduler->open_last)
		scheduler->open_last->open_next = task;
	else
		scheduler->open_first = task;
	scheduler->open_last = task;
	scheduler->open_count++;
	if (task->role == TASK_ROLE_MOVE) {
		scheduler->counters.moves++;
		if (task->command.backend.kind == BACKEND_COMMAND_COPY_PEER)
			scheduler->counters.peer_moves++;
	} else if (!is_own_failure(task)) {
		scheduler->counters.tasks_submitted += worker_launch_count(&task->command);
		scheduler->counters.tasks_open += worker_launch_count(&task->command);
	}
}

static void task_close(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	if (task->open_previous)
		task->open_previous->open_next = task->open_next;
	else
		scheduler->open_first = task->open_next;
	if (task->open_next)
		task->open_next->open_previous = task->open_previous;
	else
		scheduler->open_last = task->open_previous;
	scheduler->open_count--;
	if (!is_own_failure(task)) {
		scheduler->counters.tasks_done += worker_launch_count(&task->command);
		scheduler->counters.tasks_open -= worker_launch_count(&task->command);
	}
}

/* There is one between the two already. */
static void edge_unite(struct task_edge *edge, bool data, uint32_t launches)
{
	edge->data |= data;
	edge->launches |= launches;
	/* Which launches have failed is known when all of them are over. */
	if (edge->sent && launches & ~SCHED_LAUNCHES_ALL) {
		edge->sent = false;
		edge->to->unmet++;
	}
}

static void edge_add(struct task *from, struct task *to, bool data, uint32_t launches)
{
	/* Two buffers of one task may have the same contents. */
	if (from == to)
		return;
	if (from->state == TASK_DONE ||
	    (from->state == TASK_RETURNING && to->role == TASK_ROLE_MOVE)) {
		struct sched_cause *cause = data ? sched_launches_cause(from, launches) : NULL;
		if (cause)
			task_doom(to, cause, false);
		return;
	}
	if (from->mark == to->identity) {
		edge_unite(from->mark_edge, data, launches);
		return;
	}
	struct task_edge *edge = sched_take_edge(to->scheduler);
	*edge = (struct task_edge){.from = from,
				   .to = to,
				   .data = data,
				   .launches = launches,
				   .next_out = from->out,
				   .next_in = to->in};
	from->out = edge;
	if (to->in)
		to->in->previous_in = edge;
	to->in = edge;
	from->mark = to->identity;
	from->mark_edge = edge;
	edge->sent = task_is_on_lane(from) && !from->held_by_host && !to->front_only &&
		     from->device == to->device && !sched_lane_waits(to) &&
		     !(launches & ~SCHED_LAUNCHES_ALL);
	to->open_in++;
	if (!edge->sent)
		to->unmet++;
}

void task_edge_add(struct task *from, struct task *to, bool data)
{
	edge_add(from, to, data, data ? SCHED_LAUNCHES_ALL : 0);
}

void task_edge_add_data(struct task *from, struct task *to, uint32_t launches)
{
	edge_add(from, to, true, launches);
}

static void edge_remove(struct task_edge *edge)
{
	struct task *to = edge->to;
	if (edge->previous_in)
		edge->previous_in->next_in = edge->next_in;
	else
		to->in = edge->next_in;
	if (edge->next_in)
		edge->next_in->previous_in = edge->previous_in;
	to->open_in--;
	if (!edge->sent)
		to->unmet--;
	sched_give_edge(to->scheduler, edge);
}

static bool can_task_go_on(const struct task *task)
{
	if (task->front_only)
		return task->open_in == 0;
	if (task->awaits_kernel)
		return false;
	return task->unmet == 0 && task->open_in <= SCHED_PREDECESSORS_MAX;
}

void task_consider(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	if (task->state > TASK_RETURNED || task->queued || !can_task_go_on(task))
		return;
	task->queued = true;
	task->list_next = NULL;
	if (scheduler->runnable.last)
		scheduler->runnable.last->list_next = task;
	else
		scheduler->runnable.first = task;
	scheduler->runnable.last = task;
}

void task_doom(struct task *task, struct sched_cause *cause, bool direct)
{
	/*
	 * A task that ran on invalid data may have failed of it, and may come back before its
	 * failed predecessor: that one is the cause.
	 */
	bool replaces = task->cause && task->direct && !direct && !task->cause->fault.device_lost;
	if (task->cause && !replaces)
		return;
	sched_cause_drop(task->cause);
	task->cause = sched_cause_hold(cause);
	task->direct = direct;
	/* The task still waits for its predecessors: other tasks rely on it for that order. */
	if (task->state == TASK_PENDING)
		task->front_only = true;
}

/* Followers go on, all or only moves, which need nothing but that it has run. */
static void release_followers(struct task *task, bool moves_only)
{
	/* Only tasks of callers count: a task that a move was made for has failed by itself. */
	bool direct = is_own_failure(task) && task->direct;
	struct task_edge **at = &task->out;
	while (*at) {
		struct task_edge *edge = *at;
		struct task *to = edge->to;
		uint32_t launches = edge->data ? edge->launches : 0;
		if (moves_only && to->role != TASK_ROLE_MOVE) {
			at = &edge->next_out;
			continue;
		}
		*at = edge->next_out;
		edge_remove(edge);
		struct sched_cause *cause = launches ? sched_launches_cause(task, launches) : NULL;
		if (cause)
			task_doom(to, cause, direct);
		task_consider(to);
	}
}

static bool needs_no_notice(const struct task *task)
{
	if (task->role == TASK_ROLE_PREPARE)
		return !task->memory->imported;
	return task->role == TASK_ROLE_MOVE || task->notified;
}

/* A move that brings contents of `writer` home is done. */
static void note_writer_move_done(struct task *writer, const struct task *move)
{
	if (move->cause && !writer->cause) {
		writer->cause = sched_cause_hold(move->cause);
		writer->direct = move->direct;
	}
	writer->returns--;
	if (writer->state == TASK_RETURNING)
		task_finish(writer);
}

void task_finish(struct task *task)
{
	if (task->returns > 0) {
		task->state = TASK_RETURNING;
		release_followers(task, true);
		return;
	}
	task->state = TASK_DONE;
	release_followers(task, false);
	/* A move between two devices. */
	if (task->role == TASK_ROLE_MOVE && task->command.destination)
		worker_spill_unhold(task->command.source);
	sched_uses_finish(task);
	if (task->command.kernel)
		sched_kernel_unuse(task);
	sched_early_end(task);
	if (task->command.event)
		sched_event_drop(task->command.event);
	if (task->command.native_command)
		worker_native_command_end(&task->command);
	if (task->command.graph)
		sched_graph_end(task);
	task_close(task);
	struct task *writer = task->returning;
	if (writer)
		note_writer_move_done(writer, task);
	if (needs_no_notice(task))
		task_release(task);
	else
		sched_notice_queue(task->scheduler, &task->notice, SCHED_NOTICE_TASK, task);
}

void task_release(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	sched_cause_drop(task->cause);
	task->cause = NULL;
	if (task->command.burst)
		sched_burst_end(task->command.burst);
	sched_account_settle(task);
	if (task->command.remembered) {
		task->message.kind = SCHED_MESSAGE_FORGET;
		sched_device_post(task->device, &task->message);
	} else {
		sched_give_task(scheduler, task);
	}
}

void task_outcome_fault(const struct task *task, struct backend_fault *fault_out)
{
	if (task->cause) {
		bool lost = task->cause->fault.device_lost && task->device && task->device->lost;
		if (task->direct || lost)
			*fault_out = task->cause->fault;
		else
			sched_cause_derive(task->cause, fault_out);
	} else if (task->command.burst && task->command.burst->failed) {
		*fault_out = task->command.burst->causes[__builtin_ctz(task->command.burst->failed)]
				     ->fault;
	} else if (task->released) {
		struct backend_fault fault = {.status = STATUS_RUNTIME};
		(void)snprintf(fault.text, sizeof(fault.text),
			       "the host access was released before it was granted");
		*fault_out = fault;
	}
}

static void complete_on_front(struct task *task)
{
	bool is_held = task->role == TASK_ROLE_HOST_ACCESS || task->held_by_host;
	/* A client that was notified early runs the host task, though a predecessor may have
	 * failed. */
	if (task->notified_early && !task->ended_early) {
		task->state = TASK_HELD;
		return;
	}
	if (task->ended_early)
		task->command.end_ns = clock_now_ns();
	if (is_held && !task->cause && !task->released && !task->ended_early) {
		task->state = TASK_HELD;
		task->command.start_ns = task->held_by_host ? clock_now_ns() : 0;
		sched_notice_queue(task->scheduler, &task->notice, SCHED_NOTICE_TASK, task);
		return;
	}
	if (task->role == TASK_ROLE_EXPORT) {
		sched_shared_export(task);
		return;
	}
	if (task->command.event && task->command.event->is_watched && !task->cause &&
	    sched_event_hold(task))
		return;
	task_finish(task);
}

static void run_runnable(struct scheduler *scheduler)
{
	struct task *task;
	while ((task = scheduler->runnable.first)) {
		scheduler->runnable.first = task->list_next;
		if (!scheduler->runnable.first)
			scheduler->runnable.last = NULL;
		task->queued = false;
		if (!can_task_go_on(task))
			continue;
		if (task->held_by_host && !task->front_only && !sched_early_begin(task)) {
			task->front_only = true;
			if (!can_task_go_on(task))
				continue;
		}
		if (task->front_only)
			complete_on_front(task);
		else
			sched_lane_dispatch(task);
	}
}

void scheduler_run(struct scheduler *scheduler)
{
	do
		run_runnable(scheduler);
	while (scheduler->fair_queues_due && sched_admission_step(scheduler));
}
