/*
 * Launches whose contents are already on their device: one pass over their buffers instead of the
 * steps of dependencies.h, with the same result (front thread). Programs that repeat launches
 * mostly have these. Each buffer is used once and as a whole, and its order has one span. All
 * contents that the launch needs are valid on the device and have not failed.
 */
#ifndef SYCL_ENGINE_SCHED_WHOLE_H
#define SYCL_ENGINE_SCHED_WHOLE_H

#include <stdbool.h>

struct sched_cost;
struct task;
struct task_request;

/*
 * Instead of sched_accesses_prepare and sched_access_cost for all accesses. False: it is no such
 * launch, and nothing has changed. True: the memories are found, and the cost is added up.
 */
bool sched_whole_plan(const struct task *task, const struct task_request *request,
		      struct sched_cost *cost);
/* Instead of sched_access_bring to sched_access_enter; there is nothing to finish. */
void sched_whole_enter(struct task *task, const struct task_request *request);

#endif
