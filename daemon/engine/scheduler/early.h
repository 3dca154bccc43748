/* The early event of a host task: recorded on a lane before the task has run. */
#ifndef SYCL_ENGINE_SCHED_EARLY_H
#define SYCL_ENGINE_SCHED_EARLY_H

#include "scheduler/event.h"
#include "scheduler/task.h"

#include <stdbool.h>

/* early.c. A host task whose predecessors are all sent or over: does it go to a lane, to
 * record its event there? */
bool sched_early_begin(struct task *task);
/* Front: what was recorded since the last call. */
void sched_early_collect(struct scheduler *scheduler);
/* It is back from its lane: who was not told yet need not be. */
void sched_early_returned(struct task *task);
void sched_early_notify(struct sched_event *event);
/* It is over: its event may be another one's. Also of what is none. */
void sched_early_end(struct task *task);

#endif
