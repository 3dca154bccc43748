/* Tasks that are kept when they have ended. submit/kept.c submits them again. */
#include "scheduler/run/kept.h"

#include "base/mailbox.h"
#include "scheduler/dispatch/print.h"
#include "scheduler/public/kept.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/task/pool.h"

#include <stdlib.h>

struct sched_kept *sched_kept_create(void)
{
	return calloc(1, sizeof(struct sched_kept));
}

static void kept_free_task(struct sched_kept *kept)
{
	if (!kept->task)
		return;
	struct task *task = kept->task;
	kept->task = NULL;
	task->scheduler->pool_bytes += sizeof(*task) + task->storage_bytes;
	if (sched_kept_has_row(task)) {
		task->message.kind = SCHED_MESSAGE_FORGET;
		sched_device_post(task->device, &task->message);
	} else {
		sched_give_task(task->scheduler, task);
	}
}

struct sched_kept *sched_kept_drop(struct sched_kept *kept)
{
	if (!kept)
		return NULL;
	kept_free_task(kept);
	kept->is_dropped = true;
	if (!kept->is_open)
		free(kept);
	return NULL;
}

/* True if the task uses all of the buffer, as reader or as writer. */
static bool kept_use_is_whole(const struct task_use *use)
{
	const uint64_t bytes = use->buffer->contents->size_bytes;
	return (use->kind == TASK_USE_READ || use->kind == TASK_USE_WRITE) && !use->link.more &&
	       use->order.begin == 0 && use->order.end == bytes && use->bytes.begin == 0 &&
	       use->bytes.end == bytes;
}

static bool is_plain_launch_task(const struct task *task)
{
	const struct backend_command *backend = &task->command.backend;
	return task->command.kernel && backend->kind == BACKEND_COMMAND_LAUNCH &&
	       !backend->launch.properties && backend->launch.part.of == 0 &&
	       !task->split.declared && (!task->command.burst || task_is_stretch(task));
}

/* The functions of native commands were called when the graph was made, and belong to it alone. */
static bool is_plain_graph_task(const struct task *task)
{
	const struct sched_graph_launch *launch = task->command.graph;
	return launch && !launch->changes && !launch->graph->has_native;
}

bool sched_kept_watch(struct sched_kept *kept, struct task *task)
{
	if (kept->has_moved)
		kept_free_task(kept);
	kept->has_moved = false;
	const bool is_plain = task->role == TASK_ROLE_GROUP && !task->front_only &&
			      (is_plain_launch_task(task) || is_plain_graph_task(task)) &&
			      !task->command.backend.timed && task->use_count <= KEPT_USES_MOST;
	/* What kernels print is told command by command. */
	if (!is_plain || kept->task || kept->is_open || sched_print_may(task))
		return false;
	for (uint32_t i = 0; i < task->use_count; i++)
		if (!kept_use_is_whole(&task->uses[i]))
			return false;
	for (uint32_t i = 0; i < task->use_count; i++)
		kept->memories[i] = sched_kept_memory(task, &task->uses[i]);
	kept->graph = task->command.graph;
	kept->is_open = true;
	task->kept = kept;
	return true;
}

bool sched_kept_is_ready(const struct sched_kept *kept)
{
	return kept->task != NULL && !kept->has_moved;
}

static bool task_has_ended_well(const struct task *task)
{
	const struct task_command *command = &task->command;
	return !command->cause && !command->skipped && !command->remembered && !command->suspect &&
	       !(command->burst && command->burst->failed) && !task_is_dropped(task) &&
	       !task->device->lost && !task->scheduler->spills;
}

bool sched_kept_take_back(struct task *task, bool has_failed)
{
	struct sched_kept *kept = task->kept;
	if (!kept)
		return false;
	task->kept = NULL;
	kept->is_open = false;
	if (kept->is_dropped) {
		free(kept);
		return false;
	}
	if (has_failed || !task_has_ended_well(task))
		return false;
	kept->task = task;
	task->scheduler->pool_bytes -= sizeof(*task) + task->storage_bytes;
	return true;
}
