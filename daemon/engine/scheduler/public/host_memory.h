/* Host memory that devices register. */
#ifndef SYCL_ENGINE_PUBLIC_HOST_MEMORY_H
#define SYCL_ENGINE_PUBLIC_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_host;
struct scheduler;

/*
 * Page-aligned shared memory that commands will read and write. Each device that gains by it
 * registers it in the background, also devices that are opened later. Transfers are slower until
 * then. -ENOMEM.
 */
int scheduler_host_register(struct scheduler *scheduler, void *host, uint64_t size_bytes,
			    struct sched_host **host_out);
/* These devices (bits) are open now, by the flight page: they retry registrations that have failed.
 */
void scheduler_devices_opened(struct scheduler *scheduler, uint64_t devices);
/*
 * No task uses the memory any more. `release(owner)` is called once, when no device and no graph
 * has the memory: from scheduler_progress, from scheduler_free or from here. It stays mapped until
 * then. `host` NULL: nothing was registered, and release is called at once.
 */
void scheduler_host_unregister(struct sched_host *host, void (*release)(void *owner), void *owner);

/*
 * Checks whether these devices have registered the memory (bit n: device n; only open devices
 * count). 1: they have, or need not. 0: on_host_ready will be called, and failed registrations are
 * tried again. -ENOMEM. Until then the memory is not unregistered.
 */
int scheduler_host_await(struct sched_host *host, uint64_t devices, void *owner);

#endif
