/* Tasks, edges and nodes that are kept for the next submission, so that a steady stream allocates
 * nothing. */
#include "scheduler/task/pool.h"

#include "base/mailbox.h"
#include "base/pool.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

void sched_pool_init(struct scheduler *scheduler)
{
	pool_init(&scheduler->tasks, sizeof(struct task) + SCHED_STORAGE_BYTES, 64,
		  SCHED_TASKS_KEPT);
	pool_init(&scheduler->bursts, sizeof(struct task) + SCHED_BURST_STORAGE_BYTES, 64,
		  SCHED_BURSTS_KEPT);
	pool_init(&scheduler->stretches, sizeof(struct task) + SCHED_STRETCH_STORAGE_BYTES, 64,
		  SCHED_STRETCHES_KEPT);
	pool_init(&scheduler->edges, sizeof(struct task_edge), _Alignof(struct task_edge),
		  SCHED_EDGES_KEPT);
	pool_init(&scheduler->nodes, sizeof(union sched_node), _Alignof(union sched_node),
		  SCHED_NODES_KEPT);
}

union sched_node *sched_take_node(struct scheduler *scheduler)
{
	scheduler->pool_bytes += sizeof(union sched_node);
	return pool_take(&scheduler->nodes);
}

void sched_give_node(struct scheduler *scheduler, union sched_node *node)
{
	scheduler->pool_bytes -= sizeof(*node);
	pool_give(&scheduler->nodes, node);
}

static struct task *allocate_large_task(size_t storage_bytes)
{
	size_t bytes = sizeof(struct task) + storage_bytes;
	return aligned_alloc(_Alignof(struct task), (bytes + 63) & ~(size_t)63);
}

/* The pool for tasks with this much storage, which is at most that of a stretch. */
static struct pool *pool_for_bytes(struct scheduler *scheduler, size_t storage_bytes)
{
	if (storage_bytes <= SCHED_STORAGE_BYTES)
		return &scheduler->tasks;
	return storage_bytes <= SCHED_BURST_STORAGE_BYTES ? &scheduler->bursts
							  : &scheduler->stretches;
}

/* The storage that a task gets. */
static size_t round_up_bytes(size_t storage_bytes)
{
	if (storage_bytes <= SCHED_STORAGE_BYTES)
		return SCHED_STORAGE_BYTES;
	if (storage_bytes <= SCHED_BURST_STORAGE_BYTES)
		return SCHED_BURST_STORAGE_BYTES;
	return storage_bytes <= SCHED_STRETCH_STORAGE_BYTES ? SCHED_STRETCH_STORAGE_BYTES
							    : storage_bytes;
}

struct task *sched_take_task(struct scheduler *scheduler, size_t storage_bytes)
{
	if (storage_bytes > UINT32_MAX / 2)
		return NULL;
	bool large = storage_bytes > SCHED_STRETCH_STORAGE_BYTES;
	struct task *task = large ? allocate_large_task(storage_bytes)
				  : pool_take(pool_for_bytes(scheduler, storage_bytes));
	if (!task)
		return NULL;
	memset(task, 0, offsetof(struct task, storage));
	task->storage_bytes = (uint32_t)round_up_bytes(storage_bytes);
	scheduler->pool_bytes += sizeof(*task) + task->storage_bytes;
	task->scheduler = scheduler;
	task->identity = ++scheduler->last_identity;
	task->message.kind = SCHED_MESSAGE_COMMAND;
	task->uses = (struct task_use *)(void *)task->storage;
	task->command.flight = SCHED_NO_FLIGHT;
	return task;
}

void sched_give_task(struct scheduler *scheduler, struct task *task)
{
	scheduler->pool_bytes -= sizeof(*task) + task->storage_bytes;
	if (task->storage_bytes > SCHED_STRETCH_STORAGE_BYTES)
		free(task);
	else
		pool_give(pool_for_bytes(scheduler, task->storage_bytes), task);
}

void sched_pool_trim(struct scheduler *scheduler)
{
	pool_trim(&scheduler->tasks);
	pool_trim(&scheduler->bursts);
	pool_trim(&scheduler->stretches);
	pool_trim(&scheduler->edges);
	pool_trim(&scheduler->nodes);
}

bool sched_pool_trim_idle(struct scheduler *scheduler)
{
	if (!pool_is_large(&scheduler->tasks) && !pool_is_large(&scheduler->bursts) &&
	    !pool_is_large(&scheduler->stretches) && !pool_is_large(&scheduler->edges) &&
	    !pool_is_large(&scheduler->nodes))
		return false;
	uint64_t now = clock_now_ns();
	bool more = pool_trim_idle(&scheduler->tasks, now);
	more |= pool_trim_idle(&scheduler->bursts, now);
	more |= pool_trim_idle(&scheduler->stretches, now);
	more |= pool_trim_idle(&scheduler->edges, now);
	more |= pool_trim_idle(&scheduler->nodes, now);
	return more;
}

void sched_pool_free(struct scheduler *scheduler)
{
	pool_fini(&scheduler->tasks);
	pool_fini(&scheduler->bursts);
	pool_fini(&scheduler->stretches);
	pool_fini(&scheduler->edges);
	pool_fini(&scheduler->nodes);
	free(scheduler->accesses);
}
