/* The early event of a host task: recorded on a lane before the task has run. */
#ifndef SYCL_ENGINE_SCHED_EARLY_H
#define SYCL_ENGINE_SCHED_EARLY_H

#include "scheduler/state/event.h"
#include "scheduler/state/task.h"

#include <stdbool.h>

/* Called for a host task whose predecessors are all sent or done. True: it goes to a lane to record
 * its event. */
bool sched_early_begin(struct task *task);
/* Takes events that were recorded since the last call. */
void sched_early_collect(struct scheduler *scheduler);
/* The task is back from its lane. A client that was not notified early need not be notified early
 * any more. */
void sched_early_returned(struct task *task);
void sched_early_notify(void *object);
/* The task is done: its event is free for another one. Any task may be given. */
void sched_early_end(struct task *task);

#endif
