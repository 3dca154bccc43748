/* Bursts: several launches of one kernel as one task. */
#ifndef SYCL_ENGINE_SCHED_BURST_H
#define SYCL_ENGINE_SCHED_BURST_H

#include "scheduler/public/task.h"
#include "scheduler/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_BURST_NS 100000u /* what a burst may take, by what its kernel took lately */
#define SCHED_BURST_SURPRISE_NS                                                                    \
	1000000u /* one that took longer held back those in it: its kernel goes without for a      \
		    while */

size_t sched_burst_storage(const struct task_request *request);
/* The first launch's arguments are filled in, its values at `values`; behind them is room for those
 * of the others, and for the rest. */
void sched_burst_fill(struct task_command *command, const struct task_request *request,
		      uint8_t *values);

/* Has it failed, for whoever is behind such an edge? NULL: no. */
struct sched_cause *sched_launches_cause(const struct task *task, uint32_t launches);
/* Front: nobody asks any more. */
void sched_burst_end(struct task_burst *burst);
/* Front: a launch, or several, came back with success. */
void sched_burst_learn(const struct task *task);

#endif
