/* The device's thread opens and closes its device. */
#ifndef SYCL_ENGINE_WORKER_OPEN_H
#define SYCL_ENGINE_WORKER_OPEN_H

#include <stdint.h>

struct scheduler_device;

/* Opens the device. May take a second where memory is short. */
void worker_open_device(struct scheduler_device *device);
/* Tries again when open_again_ns has passed. */
void worker_retry_open(struct scheduler_device *device);
/* Returns how long the thread may sleep until the next attempt: `ns` at most. */
uint64_t worker_open_wait_ns(const struct scheduler_device *device, uint64_t ns);
void worker_close_device(struct scheduler_device *device);

#endif
