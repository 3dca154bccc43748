/* Queued tasks are sent to a lane, or end here. */
#include "scheduler/state/task.h"

#include "base/cause.h"
#include "scheduler/admission/admission.h"
#include "scheduler/object/early.h"
#include "scheduler/state/event.h"
#include "scheduler/dispatch/lane.h"
#include "scheduler/state/notice.h"
#include "scheduler/run/shared.h"
#include "scheduler/state/scheduler.h"

#include "clock.h"
#include "status.h"

#include <stdio.h>

/* A task that did not run has not succeeded, whatever reason a device's thread reported. */
static void doom_if_skipped(struct task *task)
{
	struct backend_fault fault;
	if (!task->command.skipped || task->cause || atomic_load(&task->is_dropped))
		return;
	backend_fault_none(&fault);
	fault.status = STATUS_RUNTIME;
	(void)snprintf(fault.text, sizeof(fault.text),
		       "it did not run: a command that it needs was refused");
	struct sched_cause *cause = sched_cause_create(&fault);
	task_doom(task, cause, true);
	sched_cause_drop(cause);
}

static void complete_on_front(struct task *task)
{
	doom_if_skipped(task);
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
		if (!task_can_go_on(task))
			continue;
		if (task->held_by_host && !task->front_only && !sched_early_begin(task)) {
			task->front_only = true;
			if (!task_can_go_on(task))
				continue;
		}
		if (task->front_only)
			complete_on_front(task);
		else
			sched_lane_dispatch(task);
	}
}

/* Sends one task that the fair queue has admitted to its lane, or ends it if it has failed
 * meanwhile. False: no task is admitted now. */
static bool run_admitted(struct scheduler *scheduler)
{
	struct task *task = scheduler->fair_queues_due ? sched_admission_step(scheduler) : NULL;
	if (!task)
		return false;
	if (task->cause) {
		sched_admission_refuse(task);
		task->front_only = true;
		task_consider(task);
	} else {
		sched_lane_dispatch(task);
	}
	return true;
}

void scheduler_run(struct scheduler *scheduler)
{
	do
		run_runnable(scheduler);
	while (run_admitted(scheduler));
}
