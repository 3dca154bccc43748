/* Bursts: several launches of one kernel as one task. */
#ifndef SYCL_ENGINE_SCHED_BURST_H
#define SYCL_ENGINE_SCHED_BURST_H

#include "scheduler/public/task.h"
#include "scheduler/state/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time that a burst may take, estimated by its kernel's latest times. */
#define SCHED_BURST_NS 100000u
/* A burst that took longer held its launches back; its kernel is in no burst for a while. */
#define SCHED_BURST_SURPRISE_NS 1000000u

/* For the mean times of kernels a stretch counts with no more than this. */
#define SCHED_STRETCH_TOOK_NS 1000000000u

size_t sched_burst_storage(const struct task_request *request);
/*
 * The first launch's arguments are filled in, with its values at `values`. Behind them is room for
 * the values of the others and for the struct task_burst.
 */
void sched_burst_fill(struct task_command *command, const struct task_request *request,
		      uint8_t *values);

/* The cause with which a task behind an edge with these launches fails. NULL: the launches have not
 * failed. */
struct sched_cause *sched_launches_cause(const struct task *task, uint32_t launches);
/* Front: frees the causes, which no task reads any more. */
void sched_burst_end(struct task_burst *burst);
/* Front: updates the mean time of the kernel's launches from a task that succeeded. */
void sched_burst_update(const struct task *task);

#endif
