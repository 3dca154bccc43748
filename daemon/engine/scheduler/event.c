/*
 * Events shared with other processes, and the application's own: made and freed on their device's
 * thread. A native event that can be watched is waited for here and on no lane. There it would hold
 * up other commands for any time.
 */
#include "scheduler/state/event.h"

#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/device.h"
#include "scheduler/public/event.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sched_event_make(struct scheduler *scheduler, struct scheduler_device *device,
			    const uint8_t *handle, uint64_t native, const struct task *behind,
			    void *owner, struct sched_event **event_out)
{
	struct sched_event *event = malloc(sizeof(*event));
	if (!event)
		return -ENOMEM;
	*event = (struct sched_event){
		.message = {.kind = SCHED_MESSAGE_EVENT_MAKE},
		.scheduler = scheduler,
		.device = device,
		.owner = owner,
		.references = 2,
		.opened = handle != NULL || native,
		.native = native,
		.is_watched = native && device->ops->event_watch,
		.is_behind = behind != NULL,
		.lane = behind ? behind->command.lane : 0,
		.sequence = behind ? behind->command.sequence : 0,
	};
	if (handle)
		memcpy(event->bytes, handle, sizeof(event->bytes));
	sched_device_post(device, &event->message);
	*event_out = event;
	return 0;
}

int sched_event_create(struct scheduler *scheduler, struct scheduler_device *device, void *owner,
		       struct sched_event **event_out)
{
	return sched_event_make(scheduler, device, NULL, 0, NULL, owner, event_out);
}

int sched_event_create_behind(struct scheduler *scheduler, const struct task *task, void *owner,
			      struct sched_event **event_out)
{
	return sched_event_make(scheduler, task->device, NULL, 0, task, owner, event_out);
}

int sched_event_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			    uint64_t native, void *owner, struct sched_event **event_out)
{
	return sched_event_make(scheduler, device, NULL, native, NULL, owner, event_out);
}

int sched_event_open(struct scheduler *scheduler, struct scheduler_device *device,
		     const uint8_t handle[64], void *owner, struct sched_event **event_out)
{
	return sched_event_make(scheduler, device, handle, 0, NULL, owner, event_out);
}

void sched_event_release(struct sched_event *event)
{
	sched_event_drop(event);
}

void sched_event_drop(struct sched_event *event)
{
	if (--event->references > 0)
		return;
	event->message.kind = SCHED_MESSAGE_EVENT_FREE;
	sched_device_post(event->device, &event->message);
}

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

/* Removes it from the list of events that the front has not collected; false: it was not there. */
static bool take_from_happened(struct sched_event *event)
{
	struct scheduler *scheduler = event->scheduler;
	(void)pthread_mutex_lock(&scheduler->happened_lock);
	struct sched_event *before = NULL, *at = atomic_load(&scheduler->happened);
	while (at && at != event) {
		before = at;
		at = at->happened_next;
	}
	if (at && before)
		before->happened_next = event->happened_next;
	else if (at)
		atomic_store(&scheduler->happened, event->happened_next);
	(void)pthread_mutex_unlock(&scheduler->happened_lock);
	return at != NULL;
}

void sched_event_collect(struct scheduler *scheduler)
{
	/* An event that happens from now on wakes the front once more. */
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

void sched_event_notify(void *object)
{
	struct sched_event *event = object;
	struct scheduler *scheduler = event->scheduler;
	bool made = event->fault.status == 0 && !event->opened;
	scheduler->callbacks.on_event_ready(scheduler->context, event->owner, event,
					    made ? event->bytes : NULL, &event->fault);
	sched_event_drop(event);
}

void sched_event_destroy(void *object)
{
	struct sched_event *event = object;
	(void)take_from_happened(event);
	sched_cause_drop(event->failed);
	free(event);
}
