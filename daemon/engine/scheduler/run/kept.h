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

#define KEPT_READ_BYTES 65536u
#define KEPT_READ_TIMES 2u /* a read is done so once it came so often in a row */
#define KEPT_READ_VAIN  8u /* and no more, once nobody wanted it so often in a row, */
/* or the task could not do it so often in a row: a backend may need some time to prepare it. */
#define KEPT_READ_UNDONE 256u

/*
 * A program that waits for results reads the same few bytes behind each of its stretches. Then the
 * kept task does the read itself, behind its launches. An access that comes meanwhile waits for the
 * task, and a later one finds the bytes at the host. If the task could not do it after all, a move
 * brings them as always.
 */
struct kept_read {
	/* What came behind the task lately, and how often in a row. The buffer is only compared. */
	const struct sched_buffer *buffer;
	struct interval bytes;
	uint32_t times;
	uint32_t vain, undone; /* how often in a row it was not wanted, and not done */
	uint16_t seen;         /* the buffer's `host_reads` when the task was submitted last */
	uint64_t host_changes; /* the scheduler's, with which `task` was filled in */
	/* Of the task that is open: the use whose bytes it reads. */
	uint32_t use;
	struct interval reads;
	struct task_read task;
};

struct sched_kept {
	struct task *task; /* NULL: none is kept */
	bool is_open;      /* a task in flight comes back */
	bool is_dropped;   /* it does not come back any more */
	bool has_moved;    /* a memory of the task has; the next watched task takes its place */
	/* Of a graph's launch: its place in the task's storage; NULL: it is none. */
	struct sched_graph_launch *graph;
	struct kept_memory memories[KEPT_USES_MOST];
	struct kept_read read;
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

/* The task is open; a move brings these bytes of what it writes to the host, in the cheapest way.
 */
void sched_kept_note_read(struct task *task, const struct sched_buffer *buffer,
			  const struct interval *bytes);
/* The task will be sent, and is entered in its buffers: it gets its read, if it is to have one. */
void sched_kept_begin_read(struct sched_kept *kept, struct task *task);
/* True if the task, which is open, reads these bytes itself. */
bool sched_kept_reads(const struct task *task, const struct sched_buffer *buffer,
		      const struct interval *bytes);
/* The task is over, but its buffers and followers do not know yet. */
void sched_kept_end_read(struct task *task);

/* True if the backend has something of the task: the device's thread ends that first, by a message
 * (SCHED_MESSAGE_FORGET). */
static inline bool sched_kept_has_row(const struct task *task)
{
	return task->command.burst && task->command.burst->row;
}

#endif
