/*
 * Stretches: launches of several kernels, one behind the other in an in-order queue, as one task. A
 * stretch is a burst (burst.h) whose launches differ in more than their values. Each launch needs
 * what the one before it writes, so after a failure all later ones fail with it. What earlier ones
 * have written last stays good, and a task that needs only that does not fail.
 */
#ifndef SYCL_ENGINE_SCHED_STRETCH_H
#define SYCL_ENGINE_SCHED_STRETCH_H

#include "scheduler/public/task.h"
#include "scheduler/state/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * May the launches be one task? All accesses are known to be of whole buffers that are ready.
 * False in these cases:
 * - a kernel or a memory is not there yet: its failure would be that of one launch;
 * - memory may leave the device: it would have to hold the memory of all launches at one time;
 * - a later launch needs what an open task writes, and the first one does not: should that task
 *   fail, the first one must run all the same.
 */
bool sched_stretch_allows(const struct task_request *request);
size_t sched_stretch_storage(const struct task_request *request);
/* Fills in the whole command; `at`: the storage. */
void sched_stretch_fill(struct task_command *command, const struct task_request *request,
			uint8_t *at);
/* Releases the kernels of a stretch that is done, except the first, which is the command's. */
void sched_stretch_unuse(const struct task *task);

#endif
