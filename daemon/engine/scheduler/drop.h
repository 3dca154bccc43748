/* Tasks whose session has ended. */
#ifndef SYCL_ENGINE_SCHED_DROP_H
#define SYCL_ENGINE_SCHED_DROP_H

#include <stdbool.h>

struct task;

/* The task is back from its lane. It fails if it was dropped and skipped, or had more parts. */
void sched_drop_returned(struct task *task);

#endif
