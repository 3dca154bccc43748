/* What an account uses of each device. */
#ifndef SYCL_ENGINE_SCHED_USE_H
#define SYCL_ENGINE_SCHED_USE_H

#include <stdint.h>

struct sched_memory;
struct task;

/* It is sent; it is back, and took so much of the device's time; what of it was
 * spilled becomes its account's. */
void sched_use_sent(struct task *task);
void sched_use_back(struct task *task, uint64_t device_ns);
void sched_use_settle(struct sched_memory *memory);

#endif
