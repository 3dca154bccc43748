/* Windows that are to persist in a device's cache: what its backend is told (device thread). */
#ifndef SYCL_ENGINE_SCHED_L2_H
#define SYCL_ENGINE_SCHED_L2_H

#include <stdbool.h>

struct scheduler_device;

bool sched_l2_is_news(const struct scheduler_device *device);
void sched_l2_hear(struct scheduler_device *device);

#endif
