/* Launches that are sent in parts. */
#ifndef SYCL_ENGINE_SCHED_SPLIT_H
#define SYCL_ENGINE_SCHED_SPLIT_H

#include <stdbool.h>

struct scheduler_device;
struct task;

/* It is to be dispatched, and the fair queue has not been asked for it yet: which part of
 * it? */
void sched_split_next(struct task *task);
/* It has come back from its lane, and has been accounted for. True: it is to be dispatched again.
 */
bool sched_split_goes_on(struct task *task);
void sched_split_free(struct scheduler_device *device);

#endif
