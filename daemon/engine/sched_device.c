/* A device as the front thread sees it: start, messages out and in, stop. */
#include "sched_internal.h"

#include "cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PUBLISH_EVERY 32u /* so that the device begins while the front still submits */

void sched_device_publish(struct scheduler_device *device)
{
	device->unpublished = 0;
	if (sched_mailbox_publish(&device->to_device) && sched_sleeper_wake(&device->sleeper))
		device->scheduler->counters.device_wakes++;
}

static void put(struct scheduler_device *device, struct sched_message *message)
{
	device->away++;
	sched_mailbox_write(&device->to_device, message);
	if (++device->unpublished >= PUBLISH_EVERY)
		sched_device_publish(device);
}

void sched_device_post(struct scheduler_device *device, struct sched_message *message)
{
	device->scheduler->away++;
	if (device->waiting.first || device->away >= SCHED_MAILBOX_SLOTS)
		sched_message_append(&device->waiting, message);
	else
		put(device, message);
}

static void handle(struct scheduler_device *device, struct sched_message *message)
{
	switch (message->kind) {
	case SCHED_MESSAGE_SEND:
		sched_lane_return((struct task *)(void *)message);
		break;
	case SCHED_MESSAGE_FORGET:
		sched_give_task(device->scheduler, (struct task *)(void *)message);
		break;
	case SCHED_MESSAGE_MEMORY_FREE:
		sched_memory_freed((struct sched_memory *)(void *)message);
		break;
	case SCHED_MESSAGE_PROGRAM_LOAD:
		sched_program_returned((struct sched_program *)(void *)message);
		break;
	case SCHED_MESSAGE_PROGRAM_FREE:
		sched_program_destroy((struct sched_program *)(void *)message);
		break;
	case SCHED_MESSAGE_KERNEL_CREATE:
		sched_kernel_returned((struct sched_kernel *)(void *)message);
		break;
	case SCHED_MESSAGE_KERNEL_FREE:
		sched_kernel_destroy((struct sched_kernel *)(void *)message);
		break;
	}
}

void sched_device_drain(struct scheduler_device *device)
{
	struct sched_message *message;
	uint32_t sent = device->sent;
	while ((message = sched_mailbox_read(&device->to_front))) {
		device->away--;
		device->scheduler->away--;
		handle(device, message);
	}
	if (device->sent < sent)
		sched_lane_unpark(device);
	while (device->waiting.first && device->away < SCHED_MAILBOX_SLOTS)
		put(device, sched_message_take(&device->waiting));
}

/* Signals are the front thread's. */
static int start_thread(struct scheduler_device *device)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	int result = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (result != 0)
		return -result;
	result = pthread_create(&device->thread, NULL, sched_worker_main, device);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -result;
}

int sched_device_start(struct scheduler *scheduler, uint32_t index, struct scheduler_device **device_out)
{
	const struct scheduler_device_info *info = &scheduler->infos[index];
	size_t bytes = (sizeof(struct scheduler_device) + 63) & ~(size_t)63;
	CLEANUP(free_pointer) struct scheduler_device *device = aligned_alloc(64, bytes);
	if (!device)
		return -ENOMEM;
	memset(device, 0, sizeof(*device));
	device->scheduler = scheduler;
	device->index = index;
	device->backend_index = info->backend_index;
	device->unified = info->facts->host_unified_memory;
	device->place = device->unified ? SCHED_HOST_PLACE : index + 1;
	device->ops = info->ops;
	device->lane_count = scheduler->lanes_per_device;
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		if (scheduler->backends[i].ops == info->ops)
			device->backend = scheduler->backends[i].handle;

	int result = sched_sleeper_init(&device->sleeper);
	if (result < 0)
		return result;
	result = start_thread(device);
	if (result < 0) {
		sched_sleeper_fini(&device->sleeper);
		return result;
	}
	*device_out = TAKE(device);
	return 0;
}

void sched_device_stop(struct scheduler_device *device)
{
	atomic_store(&device->quit, 1);
	(void)sched_sleeper_wake(&device->sleeper);
	(void)pthread_join(device->thread, NULL);
	sched_sleeper_fini(&device->sleeper);
	sched_cause_drop(device->lost);
	free(device);
}
