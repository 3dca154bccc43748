/* Host memory that devices register. */
#ifndef SYCL_ENGINE_PUBLIC_HOST_MEMORY_H
#define SYCL_ENGINE_PUBLIC_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_host;
struct scheduler;

/*
 * Shared memory that commands will read and write (page-aligned, an arena): every device that gains
 * by it registers it, those that are open now and those opened later, in the background; transfers
 * meanwhile are slower. -ENOMEM.
 */
int scheduler_host_register(struct scheduler *scheduler, void *host, uint64_t size_bytes,
			    struct sched_host **host_out);
/* The flight page says that these (bits) are open now: what they could not register before, they
 * do. */
void scheduler_devices_opened(struct scheduler *scheduler, uint64_t devices);
/*
 * No task uses the memory any more. It stays mapped until `release(owner)`, which is called once,
 * when no device and no graph has it: from scheduler_progress, scheduler_free or from in here.
 * Accepts NULL (nothing was registered): calls it at once.
 */
void scheduler_host_unregister(struct sched_host *host, void (*release)(void *owner), void *owner);

/*
 * Have these devices (bit n: device n; those that are not open do not count) registered it? 1: yes,
 * or they need not. 0: on_host_ready follows; one that could not before tries again. -ENOMEM. The
 * memory is not unregistered meanwhile.
 */
int scheduler_host_await(struct sched_host *host, uint64_t devices, void *owner);

#endif
