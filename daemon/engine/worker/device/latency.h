/* Passes the front thread's settings of a whole device to its backend (device thread). */
#ifndef SYCL_ENGINE_WORKER_LATENCY_H
#define SYCL_ENGINE_WORKER_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;

/* Has the device been given sessions of the latency class, or lost them, since the last apply? */
bool worker_latency_changed(const struct scheduler_device *device);
void worker_latency_apply(struct scheduler_device *device);
/* Reads back how many compute units the backend has reserved for the latency class. */
void worker_latency_note(struct scheduler_device *device);
/* How long this thread may spin before it sleeps: spin_pace.h. */
uint64_t worker_latency_spin_most_ns(const struct scheduler_device *device);
/* The same for the bytes of windows that are to persist in the cache. */
bool worker_l2_changed(const struct scheduler_device *device);
void worker_l2_apply(struct scheduler_device *device);

#endif
