/* Tasks that are kept: state, and the scheduler's own part of public/kept.h. */
#ifndef SYCL_ENGINE_SCHED_KEPT_H
#define SYCL_ENGINE_SCHED_KEPT_H

#include "scheduler/state/buffer.h"
#include "scheduler/state/task.h"

#include <stdbool.h>

#define KEPT_USES_MOST 16u

/* A memory when the task was submitted last; a first launch may have made it later. */
struct kept_memory {
	const struct sched_memory *memory;
	const struct backend_memory *handle;
};

struct sched_kept {
	struct task *task; /* NULL: none is kept */
	bool is_open;      /* a task in flight comes back */
	bool is_dropped;   /* it does not come back any more */
	bool has_moved;    /* a memory of the task has; the next watched task takes its place */
	/* Of a graph's launch: its place in the task's storage; NULL: it is none. */
	struct sched_graph_launch *graph;
	struct kept_memory memories[KEPT_USES_MOST];
};

/* The memory of a use of the task on its device, if it is there. */
static inline struct kept_memory sched_kept_memory(const struct task *task,
						   const struct task_use *use)
{
	const struct sched_memory *memory = use->place == SCHED_HOST_PLACE
						    ? use->buffer->memories
						    : use->buffer->contents->memories;
	while (memory && memory->device != task->device)
		memory = memory->next;
	return (struct kept_memory){
		memory,
		memory ? atomic_load_explicit(&memory->handle, memory_order_acquire) : NULL};
}

/* The task is done, was notified, and holds nothing any more, not even its cause if it
 * `has_failed`. True: it is kept; false: the caller frees it. */
bool sched_kept_take_back(struct task *task, bool has_failed);

/* True if the backend has something of the task: the device's thread ends that first, by a message
 * (SCHED_MESSAGE_FORGET). */
static inline bool sched_kept_has_row(const struct task *task)
{
	return task->command.burst && task->command.burst->row;
}

#endif
