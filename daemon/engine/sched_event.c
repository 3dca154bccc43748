/* Events shared with other processes: made and freed on their device's thread. */
#include "sched_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make(struct scheduler *scheduler, struct scheduler_device *device, const uint8_t *handle, void *owner,
		struct sched_event **event_out)
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
		.opened = handle != NULL,
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
	return make(scheduler, device, NULL, owner, event_out);
}

int sched_event_open(struct scheduler *scheduler, struct scheduler_device *device, const uint8_t handle[64],
		     void *owner, struct sched_event **event_out)
{
	return make(scheduler, device, handle, owner, event_out);
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

void sched_event_returned(struct sched_event *event)
{
	sched_loss_seen(event->device, &event->fault);
	sched_notice_queue(event->scheduler, &event->notice, SCHED_NOTICE_EVENT_READY, event);
}

void sched_event_tell(struct sched_event *event)
{
	struct scheduler *scheduler = event->scheduler;
	bool made = event->fault.status == 0 && !event->opened;
	scheduler->callbacks.on_event_ready(scheduler->context, event->owner, event, made ? event->bytes : NULL,
					    &event->fault);
	sched_event_drop(event);
}

void sched_event_destroy(struct sched_event *event)
{
	free(event);
}
