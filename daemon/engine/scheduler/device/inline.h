/* Launches that the front thread sends itself. */
#ifndef SYCL_ENGINE_SCHED_INLINE_H
#define SYCL_ENGINE_SCHED_INLINE_H

#include <stdbool.h>

struct scheduler_device;
struct task;

/* True if the task can join `unposted`, which the next flush may send inline. */
bool sched_inline_may_keep(const struct scheduler_device *device, const struct task *task);
/*
 * At a flush: executes `unposted` on this thread, all commands since the last flush. Only if the
 * device is idle or has only commands of this thread. False: they are still to be posted.
 */
bool sched_inline_send(struct scheduler_device *device);
/*
 * True if `unposted` should be sent now, so that the task can be kept: more commands come than one
 * flush sends, but no more than the front may have in flight on a device that it polls. Its thread
 * need not be woken for them.
 */
bool sched_inline_is_full(const struct scheduler_device *device, const struct task *task);
/* A command has succeeded, so the driver has run its kind, or its kernel and range, before. */
void sched_inline_update(struct task *task);
/* A message has come back from the device. */
void sched_inline_returned(struct scheduler_device *device);
/* Takes completions of commands that the front thread has sent. */
void sched_inline_collect(struct scheduler_device *device);
/* The front stops polling: the device thread takes over what the front sent to a polled device. */
void sched_inline_hand_over(struct scheduler_device *device);

#endif
