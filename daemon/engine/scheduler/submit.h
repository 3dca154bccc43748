/* From a request to a task. */
#ifndef SYCL_ENGINE_SCHED_SUBMIT_H
#define SYCL_ENGINE_SCHED_SUBMIT_H

#include <stdint.h>

struct scheduler;

/* Makes room in scheduler.accesses. -ENOMEM. */
int sched_accesses_reserve(struct scheduler *scheduler, uint32_t count);

#endif
