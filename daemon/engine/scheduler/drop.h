/* Tasks whose session has ended. */
#ifndef SYCL_ENGINE_SCHED_DROP_H
#define SYCL_ENGINE_SCHED_DROP_H

#include "scheduler/account.h"
#include "scheduler/state/task.h"

#include <stdbool.h>

/* The task is back from its lane. It fails if it was dropped and skipped, or had more parts. */
static inline void sched_drop_returned(struct task *task)
{
	if (task_is_dropped(task) && (task->command.skipped || task->split.more) && !task->cause)
		task_doom(task, *sched_account_ended(task->account), true);
}

#endif
