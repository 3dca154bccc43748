/*
 * Host memory that devices register. Each device has a registration of its own; both ways go
 * through the loader, because pinning pages takes long.
 */
#include "scheduler/state/host_memory.h"

#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/device.h"
#include "scheduler/public/host_memory.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"

#include <errno.h>
#include <stdlib.h>

/* Without memory for the registration, transfers of the device are slower. */
static void add_registration(struct sched_host *host, struct scheduler_device *device)
{
	if (!(device->features & BACKEND_FEATURE_HOST_REGISTER))
		return;
	struct sched_registration *registration = malloc(sizeof(*registration));
	if (!registration)
		return;
	*registration = (struct sched_registration){
		.message = {.kind = SCHED_MESSAGE_HOST_REGISTER},
		.next = host->registrations,
		.host = host,
		.device = device,
		.away = true,
	};
	host->registrations = registration;
	sched_device_post_load(device, &registration->message);
}

int scheduler_host_register(struct scheduler *scheduler, void *memory, uint64_t size_bytes,
			    struct sched_host **host_out)
{
	struct sched_host *host = malloc(sizeof(*host));
	if (!host)
		return -ENOMEM;
	*host = (struct sched_host){.scheduler = scheduler,
				    .next = scheduler->hosts,
				    .host = memory,
				    .size_bytes = size_bytes};
	if (scheduler->hosts)
		scheduler->hosts->previous = host;
	scheduler->hosts = host;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			add_registration(host, scheduler->devices[i]);
	*host_out = host;
	return 0;
}

static const struct sched_registration *registration_of(const struct sched_host *host,
							const struct scheduler_device *device)
{
	const struct sched_registration *registration = host->registrations;
	while (registration && registration->device != device)
		registration = registration->next;
	return registration;
}

static bool host_memory_covers(const struct sched_host *host, const void *memory,
			       uint64_t size_bytes)
{
	const uintptr_t begin = (uintptr_t)host->host, at = (uintptr_t)memory;
	return at >= begin && at - begin <= host->size_bytes &&
	       size_bytes <= host->size_bytes - (at - begin);
}

uint64_t sched_host_registered(const struct scheduler *scheduler, const void *memory,
			       uint64_t size_bytes)
{
	const struct sched_host *host = scheduler->hosts;
	uint64_t devices = 0;
	while (host && !host_memory_covers(host, memory, size_bytes))
		host = host->next;
	for (const struct sched_registration *registration = host ? host->registrations : NULL;
	     registration; registration = registration->next)
		/* While the registration is away, the device's thread may write the handle. */
		if (!registration->away && registration->handle)
			devices |= 1ull << registration->device->index;
	return devices;
}

void sched_host_device_opened(struct scheduler_device *device)
{
	for (struct sched_host *host = device->scheduler->hosts; host; host = host->next)
		if (!registration_of(host, device))
			add_registration(host, device);
}

/* Registrations that failed because the device was not open are removed. */
void scheduler_devices_opened(struct scheduler *scheduler, uint64_t devices)
{
	for (uint32_t i = 0; i < scheduler->device_count && i < 64; i++)
		if (devices >> i & 1 && scheduler->devices[i])
			sched_host_device_opened(scheduler->devices[i]);
}

/* The devices among `devices` whose registration is in flight. */
static uint64_t open_registrations(struct sched_host *host, uint64_t devices)
{
	uint64_t open = 0;
	for (uint32_t i = 0; i < host->scheduler->device_count; i++) {
		struct scheduler_device *device = host->scheduler->devices[i];
		if (!(devices >> i & 1) || !device ||
		    !(device->features & BACKEND_FEATURE_HOST_REGISTER))
			continue;
		const struct sched_registration *present = registration_of(host, device);
		if (!present)
			add_registration(host, device);
		if (!present || present->away)
			open |= 1ull << i;
	}
	return open;
}

int scheduler_host_await(struct sched_host *host, uint64_t devices, void *owner)
{
	struct sched_host_wait *wait = malloc(sizeof(*wait));
	if (!wait)
		return -ENOMEM;
	uint64_t open = open_registrations(host, devices);
	for (uint32_t i = 0; i < host->scheduler->device_count; i++) {
		if (open >> i & 1 && !registration_of(host, host->scheduler->devices[i])) {
			free(wait);
			return -ENOMEM;
		}
	}
	if (open == 0) {
		free(wait);
		return 1;
	}
	*wait = (struct sched_host_wait){
		.scheduler = host->scheduler, .next = host->waits, .devices = open, .owner = owner};
	host->waits = wait;
	return 0;
}

void sched_host_wait_notify(void *object)
{
	struct sched_host_wait *wait = object;
	struct scheduler *scheduler = wait->scheduler;
	scheduler->callbacks.on_host_ready(scheduler->context, wait->owner, &wait->fault);
	free(wait);
}

/* Called when a device has replied: removes it from the waits, and ends waits that are complete. */
static void host_waits_note_reply(struct sched_host *host, const struct scheduler_device *device,
				  const struct backend_fault *fault)
{
	struct sched_host_wait **at = &host->waits;
	while (*at) {
		struct sched_host_wait *wait = *at;
		if (wait->devices >> device->index & 1 && fault)
			wait->fault = *fault;
		wait->devices &= ~(1ull << device->index);
		if (wait->devices != 0) {
			at = &wait->next;
			continue;
		}
		*at = wait->next;
		sched_notice_queue(host->scheduler, &wait->notice, SCHED_NOTICE_HOST_READY, wait);
	}
}

static void release_if_unregistered(struct sched_host *host)
{
	if (host->registrations || !host->release || host->holds > 0)
		return;
	host->release(host->owner);
	free(host);
}

static void remove_registration(struct sched_registration *registration)
{
	struct sched_registration **at = &registration->host->registrations;
	while (*at != registration)
		at = &(*at)->next;
	*at = registration->next;
	free(registration);
}

static void unregister_from_device(struct sched_registration *registration)
{
	registration->device->scheduler->host_changes++;
	registration->away = true;
	registration->message.kind = SCHED_MESSAGE_HOST_UNREGISTER;
	sched_device_post_load(registration->device, &registration->message);
}

/* No task needs the memory any more. Memory that a graph names stays until the graph is freed. */
static void release_host(struct sched_host *host)
{
	if (host->holds > 0)
		return;
	for (struct sched_registration *registration = host->registrations; registration;
	     registration = registration->next)
		if (!registration->away)
			unregister_from_device(registration);
	release_if_unregistered(host);
}

void scheduler_host_unregister(struct sched_host *host, void (*release)(void *owner), void *owner)
{
	if (!host) {
		release(owner);
		return;
	}
	if (host->previous)
		host->previous->next = host->next;
	else
		host->scheduler->hosts = host->next;
	if (host->next)
		host->next->previous = host->previous;
	host->release = release;
	host->owner = owner;
	release_host(host);
}

void sched_host_hold(struct sched_host *host)
{
	host->holds++;
}

void sched_host_drop(struct sched_host *host)
{
	host->holds--;
	if (host->release)
		release_host(host);
}

void sched_registration_returned(void *object)
{
	struct sched_registration *registration = object;
	struct sched_host *host = registration->host;
	struct scheduler_counters *counters = &host->scheduler->counters;
	host->scheduler->host_changes++;
	registration->away = false;
	sched_loss_found(registration->device, &registration->fault);
	if (registration->message.kind == SCHED_MESSAGE_HOST_UNREGISTER) {
		counters->host_registrations--;
		remove_registration(registration);
	} else if (!registration->handle) {
		host_waits_note_reply(host, registration->device, &registration->fault);
		remove_registration(registration);
	} else {
		counters->host_registrations++;
		host_waits_note_reply(host, registration->device, NULL);
		if (host->release && host->holds == 0)
			unregister_from_device(registration);
	}
	release_if_unregistered(host);
}
