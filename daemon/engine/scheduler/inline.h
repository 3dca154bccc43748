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
/* A launch succeeded: its kernel and range are known to the driver now. */
void sched_inline_update(const struct task *task);
/* Takes completions of what the front has sent. */
void sched_inline_collect(struct scheduler_device *device);
/* The front stops polling: the device thread takes over what the front sent to a polled device. */
void sched_inline_hand_over(struct scheduler_device *device);

#endif
