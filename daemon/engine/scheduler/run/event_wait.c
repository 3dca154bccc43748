/*
 * Waits for events. A native event that can be watched is waited for here and on no lane. There it
 * would hold up other commands for any time.
 */
#include "scheduler/state/event.h"

#include "base/cause.h"
#include "scheduler/public/event.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "status.h"

#include <stdio.h>

/* `fault` NULL: all is well. */
static void set_event_happened(struct sched_event *event, const struct backend_fault *fault)
{
	if (event->has_happened)
		return;
	event->has_happened = true;
	event->failed = fault ? sched_cause_create(fault) : NULL;
	while (event->waiting) {
		struct task *task = event->waiting;
		event->waiting = task->list_next;
		if (event->failed)
			task_doom(task, event->failed, true);
		task_finish(task);
	}
}

void sched_event_collect(struct scheduler *scheduler)
{
	/* An event that happens from now on wakes the front thread once more. */
	if (!atomic_load(&scheduler->happened))
		return;
	(void)pthread_mutex_lock(&scheduler->happened_lock);
	struct sched_event *event = atomic_exchange(&scheduler->happened, NULL);
	(void)pthread_mutex_unlock(&scheduler->happened_lock);
	while (event) {
		struct sched_event *next =
			event->happened_next; /* a finished task may let the event go */
		struct backend_fault fault = {.status = STATUS_EVENT,
					      .native_code = event->happened_code};
		(void)snprintf(fault.text, sizeof(fault.text), "a native event ended with %d",
			       event->happened_code);
		set_event_happened(event, event->happened_code < 0 ? &fault : NULL);
		event = next;
	}
}

bool sched_event_hold(struct task *task)
{
	struct sched_event *event = task->command.event;
	if (!event->has_happened) {
		task->state = TASK_HELD;
		task->list_next = event->waiting;
		event->waiting = task;
		return true;
	}
	if (event->failed)
		task_doom(task, event->failed, true);
	return false;
}

void task_end_event_wait(struct task *task, const struct backend_fault *fault)
{
	struct sched_event *event = task->command.event;
	/* A task that is done has released its event. */
	if (task->state == TASK_DONE || !event || !event->is_watched)
		return;
	struct sched_cause *cause = sched_cause_create(fault);
	task_doom(task, cause, true);
	sched_cause_drop(cause);
	if (task->state != TASK_HELD) {
		task_consider(task);
		return;
	}
	struct task **at = &event->waiting;
	while (*at != task)
		at = &(*at)->list_next;
	*at = task->list_next;
	task_finish(task);
}

void sched_event_returned(void *object)
{
	struct sched_event *event = object;
	sched_loss_found(event->device, &event->fault);
	if (event->is_watched && event->fault.status)
		set_event_happened(event, &event->fault);
	sched_notice_queue(event->scheduler, &event->notice, SCHED_NOTICE_EVENT_READY, event);
}
