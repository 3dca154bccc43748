/*
 * Early events of host tasks whose client can wait for an event on the device (group/host.c). When
 * all predecessors are sent to that device, such a task goes to a lane like a command and records
 * its event there. The client is notified then, because a wait is for the latest record. The task
 * is HELD when it is back from the lane, unless it has ended before.
 *
 * A task without open predecessors, or whose event is in use by another open task, is a plain host
 * task.
 */
#include "scheduler/object/early.h"

#include "scheduler/state/event.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

bool sched_early_begin(struct task *task)
{
	struct sched_event *event = task->command.event;
	if (task->open_in == 0 || event->early)
		return false;
	event->early = task;
	return true;
}

void sched_early_collect(struct scheduler *scheduler)
{
	/* An event that is recorded from now on wakes the front once more. */
	if (!atomic_load(&scheduler->recorded))
		return;
	(void)pthread_mutex_lock(&scheduler->happened_lock);
	struct sched_event *event = atomic_exchange(&scheduler->recorded, NULL);
	(void)pthread_mutex_unlock(&scheduler->happened_lock);
	for (; event; event = event->recorded_next) {
		event->early->is_recorded = true;
		/* The notice may still be queued for the task before: it concerns whichever task
		 * has the event. */
		if (event->early_notice.queued)
			continue;
		event->references++;
		sched_notice_queue(scheduler, &event->early_notice, SCHED_NOTICE_EARLY, event);
	}
}

void sched_early_returned(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	const struct sched_event *event = task->command.event;
	if (task->is_recorded || !atomic_load(&scheduler->recorded))
		return;
	(void)pthread_mutex_lock(&scheduler->happened_lock);
	struct sched_event *before = NULL, *at = atomic_load(&scheduler->recorded);
	while (at && at != event) {
		before = at;
		at = at->recorded_next;
	}
	if (at && before)
		before->recorded_next = event->recorded_next;
	else if (at)
		atomic_store(&scheduler->recorded, event->recorded_next);
	(void)pthread_mutex_unlock(&scheduler->happened_lock);
}

void sched_early_notify(void *object)
{
	struct sched_event *event = object;
	struct scheduler *scheduler = event->scheduler;
	struct task *task = event->early;
	/* A task that is back is reported when it is HELD, and one that has failed when it is done.
	 */
	if (task && task->is_recorded && task->state == TASK_SENT && !task->notified_early &&
	    !task->cause) {
		task->notified_early = true;
		scheduler->callbacks.on_task_early(scheduler->context, task->owner);
	}
	sched_event_drop(event);
}

void sched_early_end(struct task *task)
{
	struct sched_event *event = task->command.event;
	if (event && event->early == task)
		event->early = NULL;
}
