/* What a device's backend is told of the latency class. */
#ifndef SYCL_ENGINE_SCHED_WORKER_LATENCY_H
#define SYCL_ENGINE_SCHED_WORKER_LATENCY_H

#include <stdbool.h>

struct scheduler_device;

/* The device's thread: is there something new? Tell the backend; note what it has made of it. */
bool sched_latency_is_news(const struct scheduler_device *device);
void sched_latency_hear(struct scheduler_device *device);
void sched_latency_note(struct scheduler_device *device);

#endif
