/* A task: whether it is open, may go on, or has failed. */
#include "scheduler/state/task.h"

#include "base/cause.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"

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
		if (task->command.backend.kind == BACKEND_COMMAND_COPY_PEER)
			scheduler->counters.peer_moves++;
	} else if (!task_is_internal(task)) {
		scheduler->counters.tasks_submitted += command_launch_count(&task->command);
		scheduler->counters.tasks_open += command_launch_count(&task->command);
	}
}

void task_close(struct task *task)
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
	if (!task_is_internal(task)) {
		scheduler->counters.tasks_done += command_launch_count(&task->command);
		scheduler->counters.tasks_open -= command_launch_count(&task->command);
	}
}

bool task_can_go_on(const struct task *task)
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
	if (task->state > TASK_RETURNED || task->queued || !task_can_go_on(task))
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
	/* A task that ran on invalid data may have failed because of them, and may come back before
	 * its failed predecessor. Then the predecessor's failure is the cause. */
	bool replaces = task->cause && task->direct && !direct && !task->cause->fault.device_lost;
	if (task->cause && !replaces)
		return;
	sched_cause_drop(task->cause);
	task->cause = sched_cause_hold(cause);
	task->direct = direct;
	/* The task still waits for its predecessors, because other tasks rely on its place in the
	 * order. */
	if (task->state == TASK_PENDING)
		task->front_only = true;
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
