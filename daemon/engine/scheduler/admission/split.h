/* Launches that are sent in parts. */
#ifndef SYCL_ENGINE_SCHED_SPLIT_H
#define SYCL_ENGINE_SCHED_SPLIT_H

#include <stdbool.h>

struct scheduler_device;
struct task;

/* Chooses the next part of a task that is about to request admission. */
void sched_split_next(struct task *task);
/* The task is back from its lane and accounted for. Returns true if it has more parts; then it is
 * dispatched again. */
bool sched_split_goes_on(struct task *task);
void sched_split_free(struct scheduler_device *device);

#endif
