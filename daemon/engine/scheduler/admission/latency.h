/* Sessions of the latency class on a device. */
#ifndef SYCL_ENGINE_SCHED_LATENCY_H
#define SYCL_ENGINE_SCHED_LATENCY_H

#include <stdint.h>

struct scheduler;
struct scheduler_device;

/* The number of sessions of the latency class on the device has changed. */
void sched_latency_review(struct scheduler_device *device);
void sched_latency_poll(struct scheduler *scheduler);
uint64_t sched_latency_again_ns(const struct scheduler *scheduler);

#endif
