/* An account's use of each device. */
#ifndef SYCL_ENGINE_SCHED_USE_H
#define SYCL_ENGINE_SCHED_USE_H

#include <stdint.h>

struct sched_memory;
struct task;

/*
 * A task is sent; a task is back and took so much device time; spills of a memory are charged to
 * its account.
 */
void sched_use_sent(struct task *task);
void sched_use_back(struct task *task, uint64_t device_ns);
void sched_use_settle(struct sched_memory *memory);

#endif
