/* Native handles: the device thread's answers. */
#ifndef SYCL_ENGINE_SCHED_WORKER_NATIVE_H
#define SYCL_ENGINE_SCHED_WORKER_NATIVE_H

#include <stdbool.h>

struct sched_native;
struct scheduler_device;

/* False: it was set aside. */
bool sched_native_handle(struct scheduler_device *device, struct sched_native *question);

#endif
