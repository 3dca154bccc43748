/* Host accesses: tasks of the host's, held from the grant to the release. */
#include "sched_dependencies.h"
#include "sched_internal.h"
#include "sched_residency.h"

#include "access_mode.h"
#include "clock.h"

#include <errno.h>
#include <stdio.h>

int host_access_submit(struct scheduler *scheduler, struct sched_buffer *buffer, uint32_t mode, void *owner,
		       struct task **task_out)
{
	struct sched_access access = {
		.buffer = buffer,
		.size_bytes = buffer->contents->size_bytes,
		.place = SCHED_HOST_PLACE,
		.writes = access_mode_writes(mode),
		.needs = !access_mode_writes(mode) || access_mode_needs_contents(mode),
		.moves = true,
		.host = true,
	};
	uint32_t edges = 0, tasks = 0;
	struct task *task = sched_take_task(scheduler, sizeof(struct task_use));
	if (!task)
		return -ENOMEM;
	sched_access_cost(&access, &edges, &tasks);
	if (sched_residency_prepare(buffer, SCHED_HOST_PLACE) < 0 || sched_reserve_edges(scheduler, edges) < 0 ||
	    sched_reserve_tasks(scheduler, tasks) < 0) {
		sched_give_task(scheduler, task);
		return -ENOMEM;
	}
	task->role = TASK_ROLE_HOST_ACCESS;
	task->owner = owner;
	task->front_only = true;
	task->submit_ns = clock_now_ns();
	(void)snprintf(task->send.what, sizeof(task->send.what),
		       access.writes ? "host write access" : "host read access");
	if (access.needs && buffer->contents->poison)
		task_doom(task, buffer->contents->poison, false);
	sched_access_apply(task, &access);
	task_open(task);
	sched_access_finish(task, &access);
	task_consider(task);
	*task_out = task;
	scheduler_run(scheduler);
	return 0;
}

void host_access_release(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	task->released = true;
	if (task->state == TASK_HELD) {
		task_finish(task);
		scheduler_run(scheduler);
	} else if (task->state == TASK_PENDING) {
		/* The owner is told now; the task keeps its place in the order until what it waits for is done. */
		sched_notice_queue(scheduler, &task->notice, SCHED_NOTICE_TASK, task);
	}
}
