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
 * Creates a shared event (BACKEND_FEATURE_SHARED_EVENT), or opens an event by the handle that
 * another process has created. on_event_ready follows; tasks may name the event before. The caller
 * releases it once, at any time; tasks hold it.
 */
int sched_event_create(struct scheduler *scheduler, struct scheduler_device *device, void *owner,
		       struct sched_event **event_out);
int sched_event_open(struct scheduler *scheduler, struct scheduler_device *device,
		     const uint8_t handle[64], void *owner, struct sched_event **event_out);
/*
 * As sched_event_create. The event is recorded at once on the lane of a task that was sent, behind
 * all commands there. If the task is not on the lane yet, on_event_ready has a fault.
 */
int sched_event_create_behind(struct scheduler *scheduler, const struct task *task, void *owner,
			      struct sched_event **event_out);
void sched_event_release(struct sched_event *event);
/* The application's event, for TASK_EVENT_WAIT. on_event_ready follows, without a handle. */
int sched_event_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			    uint64_t native, void *owner, struct sched_event **event_out);
/*
 * Ends a wait for a watched event, which may never happen: the task fails with this fault, at the
 * latest when its turn comes. Other tasks are left alone.
 */
void task_end_event_wait(struct task *task, const struct backend_fault *fault);

#endif
