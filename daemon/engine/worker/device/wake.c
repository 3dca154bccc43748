/* Returns tasks and messages to the front thread, and wakes both threads. */
#include "worker/device/wake.h"

#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/event.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

void worker_wake_front(struct scheduler *scheduler)
{
	/* Sequentially consistent: either this finds that the front sleeps, or scheduler_sleep
	 * finds this. */
	if (atomic_exchange(&scheduler->front_pending, 1) == 0 &&
	    !atomic_load(&scheduler->front_awake))
		scheduler->callbacks.wake_front(scheduler->context);
}

void worker_wake(void *token)
{
	struct scheduler_device *device = token;
	atomic_store(&device->poked, 1);
	/*
	 * Sequentially consistent: if this is no longer so, the device's thread has woken since,
	 * and checks `poked` before it sleeps.
	 */
	if (atomic_load(&device->front_takes))
		worker_wake_front(device->scheduler);
	else
		(void)sched_sleeper_wake(&device->port.sleeper);
}

void worker_return(struct scheduler_device *device, struct sched_message *message)
{
	sched_mailbox_write(&device->port.back, message);
}

void worker_publish(struct scheduler_device *device, struct sched_port *port)
{
	if (!sched_mailbox_publish(&port->back))
		return;
	worker_wake_front(device->scheduler);
	(void)sched_sleeper_wake(&device->scheduler->front_sleeper);
}

void worker_event_happened(void *token, int32_t native_code)
{
	struct sched_event *event = token;
	struct scheduler *scheduler = event->scheduler;
	(void)pthread_mutex_lock(&scheduler->happened_lock);
	event->happened_code = native_code;
	event->happened_next = scheduler->happened;
	scheduler->happened = event;
	(void)pthread_mutex_unlock(&scheduler->happened_lock);
	worker_wake_front(scheduler);
}

void worker_early_recorded(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	struct sched_event *event = task->command.event;
	(void)pthread_mutex_lock(&scheduler->happened_lock);
	event->recorded_next = atomic_load(&scheduler->recorded);
	atomic_store(&scheduler->recorded, event);
	(void)pthread_mutex_unlock(&scheduler->happened_lock);
	worker_wake_front(scheduler);
}
