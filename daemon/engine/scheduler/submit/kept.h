/* The scheduler's own part of public/kept.h. */
#ifndef SYCL_ENGINE_SCHED_KEPT_H
#define SYCL_ENGINE_SCHED_KEPT_H

#include "scheduler/state/task.h"

#include <stdbool.h>

/* The task is done, was notified, and holds nothing any more. True: it is kept; false: the caller
 * frees it. */
bool sched_kept_take_back(struct task *task);

/* True if the backend has something of the task: the device's thread ends that first, by a message
 * (SCHED_MESSAGE_FORGET). */
static inline bool sched_kept_has_row(const struct task *task)
{
	return task->command.burst && task->command.burst->row;
}

#endif
