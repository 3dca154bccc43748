/* The life of a task: edges, what may go on, failure and the end. */
#include "sched_internal.h"

#include "sched_dependencies.h"
#include "status.h"

#include <stdio.h>

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
	} else {
		scheduler->counters.tasks_submitted++;
		scheduler->counters.tasks_open++;
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
	if (task->role != TASK_ROLE_MOVE) {
		scheduler->counters.tasks_done++;
		scheduler->counters.tasks_open--;
	}
}

void task_edge_add(struct task *from, struct task *to, bool data)
{
	if (from->state == TASK_DONE) {
		if (data && from->cause)
			task_doom(to, from->cause, false);
		return;
	}
	if (from->mark == to->identity) {
		from->mark_edge->data |= data;
		return;
	}
	struct task_edge *edge = sched_take_edge(to->scheduler);
	*edge = (struct task_edge){.from = from, .to = to, .data = data, .next_out = from->out, .next_in = to->in};
	from->out = edge;
	if (to->in)
		to->in->previous_in = edge;
	to->in = edge;
	from->mark = to->identity;
	from->mark_edge = edge;
	edge->sent = from->state == TASK_SENT && !to->front_only && from->device == to->device;
	to->open_in++;
	if (!edge->sent)
		to->unmet++;
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

static bool can_go_on(const struct task *task)
{
	if (task->front_only)
		return task->open_in == 0;
	return task->unmet == 0 && task->open_in <= SCHED_PREDECESSORS_MAX;
}

void task_consider(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	if (task->state != TASK_PENDING || task->queued || !can_go_on(task))
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
	 * What ran on garbage may have failed of it, and may be told so before its predecessor is: that one is the
	 * cause.
	 */
	bool replaces = task->cause && task->direct && !direct && !task->cause->fault.device_lost;
	if (task->cause && !replaces)
		return;
	sched_cause_drop(task->cause);
	task->cause = sched_cause_hold(cause);
	task->direct = direct;
	/* It still waits for what it was ordered behind: others rely on it for that order. */
	if (task->state == TASK_PENDING)
		task->front_only = true;
}

void task_finish(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	task->state = TASK_DONE;
	/* A move is nobody's: what it was made for has failed itself. */
	bool direct = task->role == TASK_ROLE_MOVE && task->direct;
	while (task->out) {
		struct task_edge *edge = task->out;
		struct task *to = edge->to;
		bool data = edge->data;
		task->out = edge->next_out;
		edge_remove(edge);
		if (task->cause && data)
			task_doom(to, task->cause, direct);
		task_consider(to);
	}
	sched_uses_finish(task);
	if (task->send.kernel)
		sched_kernel_drop(task->send.kernel);
	task_close(task);
	if (task->role == TASK_ROLE_MOVE || task->told)
		task_release(task);
	else
		sched_notice_queue(scheduler, &task->notice, SCHED_NOTICE_TASK, task);
}

void task_release(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	sched_cause_drop(task->cause);
	task->cause = NULL;
	if (task->send.remembered) {
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
	} else if (task->released) {
		struct backend_fault fault = {.status = STATUS_RUNTIME};
		(void)snprintf(fault.text, sizeof(fault.text), "the host access was released before it was granted");
		*fault_out = fault;
	}
}

static void complete_on_front(struct task *task)
{
	if (task->role == TASK_ROLE_HOST_ACCESS && !task->cause && !task->released) {
		task->state = TASK_HELD;
		sched_notice_queue(task->scheduler, &task->notice, SCHED_NOTICE_TASK, task);
		return;
	}
	task_finish(task);
}

void scheduler_run(struct scheduler *scheduler)
{
	struct task *task;
	while ((task = scheduler->runnable.first)) {
		scheduler->runnable.first = task->list_next;
		if (!scheduler->runnable.first)
			scheduler->runnable.last = NULL;
		task->queued = false;
		if (!can_go_on(task))
			continue;
		if (task->front_only)
			complete_on_front(task);
		else
			sched_lane_dispatch(task);
	}
}
