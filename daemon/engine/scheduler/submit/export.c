/* Contents are exported to other processes. */
#include "scheduler/run/shared.h"

#include "base/interval_map.h"
#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/task/pool.h"
#include "scheduler/public/buffer.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>
#include <stdio.h>

#define USE_BYTES ((sizeof(struct task_use) + 15) & ~(size_t)15)

static struct task *take_export(struct sched_buffer *buffer, void *owner)
{
	struct sched_contents *contents = buffer->contents;
	struct task *task = sched_take_task(buffer->scheduler,
					    USE_BYTES + sizeof(struct backend_shared_memory));
	if (!task)
		return NULL;
	task->role = TASK_ROLE_EXPORT;
	task->shared = (struct backend_shared_memory *)(void *)(task->storage + USE_BYTES);
	task->device = contents->home->device;
	task->memory = contents->home;
	task->owner = owner;
	task->front_only = true;
	(void)snprintf(task->command.what, sizeof(task->command.what), "export");
	return task;
}

static void start_export(struct task *task, struct sched_buffer *buffer)
{
	buffer->references++; /* until the callback */
	task_open(task);
	task_consider(task);
	scheduler_run(buffer->scheduler);
}

static bool is_exportable(const struct sched_contents *contents)
{
	return contents->home && contents->home->export_kind != BACKEND_EXPORT_NONE;
}

/* The export comes after all submitted writers, as a reader at home, but ignores whether they
 * succeeded. */
int sched_buffer_export(struct sched_buffer *buffer, void *owner)
{
	struct sched_contents *contents = buffer->contents;
	struct scheduler *scheduler = buffer->scheduler;
	if (!is_exportable(contents))
		return -EINVAL;
	struct task *task = take_export(buffer, owner);
	if (!task)
		return -ENOMEM;
	struct sched_access access = {.buffer = buffer, .place = contents->home_place};
	struct sched_cost cost = {.edges = 0};
	sched_access_ranges(&access, 0, 0, 0, contents->size_bytes);
	if (sched_accesses_prepare(&access, 1) < 0 || sched_access_cost(task, &access, &cost) < 0 ||
	    sched_cost_reserve(scheduler, &cost, NULL) < 0) {
		sched_give_task(scheduler, task);
		return -ENOMEM;
	}
	sched_access_wait_written(task, &access);
	sched_access_enter(task, &access);
	start_export(task, buffer);
	return 0;
}

/*
 * The export has no predecessor: the memory exists, or is being made on its device's thread. Nor is
 * the export a reader in the order of the contents. Later writers would take it for a reader that
 * has waited for all earlier writers.
 */
int sched_buffer_export_at_once(struct sched_buffer *buffer, void *owner)
{
	struct sched_contents *contents = buffer->contents;
	if (!is_exportable(contents))
		return -EINVAL;
	struct task *task = take_export(buffer, owner);
	if (!task)
		return -ENOMEM;
	const struct interval whole = {.end = contents->size_bytes};
	(void)sched_use_add(task, buffer, TASK_USE_READ, contents->home_place, &whole, &whole);
	start_export(task, buffer);
	return 0;
}
