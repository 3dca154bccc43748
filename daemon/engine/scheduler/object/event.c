/* Events shared with other processes, and the application's own: made and freed on their device's
 * thread. */
#include "scheduler/state/event.h"

#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/public/event.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>
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

/* Removes the event from the list of those that the front thread has not collected. False: it was
 * not in the list. */
static bool event_leave_happened_list(struct sched_event *event)
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
	(void)event_leave_happened_list(event);
	sched_cause_drop(event->failed);
	free(event);
}
