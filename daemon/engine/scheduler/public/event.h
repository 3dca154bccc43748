/* Events that other processes can wait for and record. */
#ifndef SYCL_ENGINE_PUBLIC_EVENT_H
#define SYCL_ENGINE_PUBLIC_EVENT_H

#include "backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_event;
struct scheduler;
struct scheduler_device;
struct task;

/*
 * Events that other processes can wait for and record (BACKEND_FEATURE_SHARED_EVENT): created here,
 * or opened by the handle of one created elsewhere. on_event_ready follows; tasks may name it
 * before. Released at any time, once, as a program; tasks that use it keep it.
 */
int sched_event_create(struct scheduler *scheduler, struct scheduler_device *device, void *owner,
		       struct sched_event **event_out);
int sched_event_open(struct scheduler *scheduler, struct scheduler_device *device,
		     const uint8_t handle[64], void *owner, struct sched_event **event_out);
/*
 * As sched_event_create, and recorded at once on the lane of a task that has been sent, behind all
 * that was sent to it. When the task turns out not to be on the lane yet, on_event_ready tells a
 * fault.
 */
int sched_event_create_behind(struct scheduler *scheduler, const struct task *task, void *owner,
			      struct sched_event **event_out);
void sched_event_release(struct sched_event *event);
/* The application's event, for TASK_EVENT_WAIT. on_event_ready follows, without a handle. */
int sched_event_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			    uint64_t native, void *owner, struct sched_event **event_out);
/* It waits for an event that may never happen: it fails with this, when its turn comes at the
 * latest. Any other task is left alone. */
void task_end_event_wait(struct task *task, const struct backend_fault *fault);

#endif
