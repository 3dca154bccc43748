/* The device's thread opens and closes its device. */
#ifndef SYCL_ENGINE_SCHED_OPEN_H
#define SYCL_ENGINE_SCHED_OPEN_H

#include <stdint.h>

struct scheduler_device;

/* Opens the device. May take a second where memory is short. */
void sched_open(struct scheduler_device *device);
/* Tries again when open_again_ns has passed. */
void sched_open_again(struct scheduler_device *device);
/* How long the thread may rest: `ns` at most. */
uint64_t sched_open_rest(const struct scheduler_device *device, uint64_t ns);
void sched_close(struct scheduler_device *device);

#endif
