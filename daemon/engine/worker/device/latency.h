/* Passes the front thread's settings of a whole device to its backend (device thread). */
#ifndef SYCL_ENGINE_WORKER_LATENCY_H
#define SYCL_ENGINE_WORKER_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;

/* True if the device has got its first session of the latency class, or lost its last one, since
 * the last apply. */
bool worker_latency_changed(const struct scheduler_device *device);
void worker_latency_apply(struct scheduler_device *device);
/* Reads back how many compute units the backend has reserved for the latency class. */
void worker_latency_note(struct scheduler_device *device);
/* Returns how long this thread may spin before it sleeps: spin_pace.h. */
uint64_t worker_latency_spin_most_ns(const struct scheduler_device *device);
/* As worker_latency_changed and _apply, for the bytes of windows that persist in the cache. */
bool worker_l2_changed(const struct scheduler_device *device);
void worker_l2_apply(struct scheduler_device *device);

#endif
