/* Reports of other threads to the front thread, and its wake-up. */
#ifndef SYCL_ENGINE_WORKER_WAKE_H
#define SYCL_ENGINE_WORKER_WAKE_H

#include <stdint.h>

struct scheduler;
struct task;

/* Any thread. */
void worker_wake_front(struct scheduler *scheduler);
/* Any thread: a watched event (struct sched_event) has happened. */
void worker_event_happened(void *event, int32_t native_code);
/* Device thread: the early event of a host task has been recorded. */
void worker_early_recorded(struct task *task);

#endif
