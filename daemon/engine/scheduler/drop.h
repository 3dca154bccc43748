/* Tasks whose session has ended. */
#ifndef SYCL_ENGINE_SCHED_DROP_H
#define SYCL_ENGINE_SCHED_DROP_H

#include <stdbool.h>

struct task;

/* It has come back from its lane: it has failed, if it was to be skipped or had parts
 * to come. */
void sched_drop_returned(struct task *task);

#endif
