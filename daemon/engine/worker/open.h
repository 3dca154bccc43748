/* The device's thread opens and closes its device. */
#ifndef SYCL_ENGINE_SCHED_OPEN_H
#define SYCL_ENGINE_SCHED_OPEN_H

#include <stdint.h>

struct scheduler_device;

/* May take a second where memory is short. */
void sched_open(struct scheduler_device *device);
/* There is a time for it (open_again_ns); nothing is done before that. */
void sched_open_again(struct scheduler_device *device);
/* So long it may rest: `ns` at most. */
uint64_t sched_open_rest(const struct scheduler_device *device, uint64_t ns);
void sched_close(struct scheduler_device *device);

#endif
