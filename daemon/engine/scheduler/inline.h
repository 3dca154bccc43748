/* Launches that the front thread sends itself. */
#ifndef SYCL_ENGINE_SCHED_INLINE_H
#define SYCL_ENGINE_SCHED_INLINE_H

#include <stdbool.h>

struct scheduler_device;
struct task;

/*
 * At a flush: executes `unposted`, the only command since the last flush, on this thread, if the
 * device is idle. False: it is still to be posted.
 */
bool sched_inline_send(struct scheduler_device *device);
/* A launch came back with success. */
void sched_inline_learn(const struct task *task);
/* Take what has completed of what was sent so. */
void sched_inline_collect(struct scheduler_device *device);
/* The front will not look any more: what it sent to a polled device is its thread's from now on. */
void sched_inline_hand_over(struct scheduler_device *device);

#endif
