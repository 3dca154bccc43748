/*
 * Which task waits for which, by the buffers that they use (front thread).
 *
 * Per contents of a buffer: the last writer while it is open, and what was submitted since: readers, host accesses for reading,
 * moves. A reader gets edges from the writer and from host accesses; a writer from all of them; then the lists start
 * anew.
 */
#ifndef SYCL_ENGINE_SCHED_DEPENDENCIES_H
#define SYCL_ENGINE_SCHED_DEPENDENCIES_H

#include "sched_internal.h"

/* What a task does with a buffer. */
struct sched_access {
	struct sched_buffer *buffer;
	uint64_t offset_bytes, size_bytes;
	uint32_t place;
	bool writes;
	bool needs; /* the present contents: all but a no-init write of the whole (C7) */
	bool moves; /* residency changes; false: only ordered (an empty range touches nothing) */
	bool host;  /* a host access */
};

/* Edges and tasks that sched_access_apply and sched_access_finish may take. */
void sched_access_cost(const struct sched_access *access, uint32_t *edges, uint32_t *tasks);
/* Adds edges, moves and the use to the task. Everything is reserved; cannot fail. */
void sched_access_apply(struct task *task, const struct sched_access *access);
/* After the task was opened: what it writes of shared contents goes home. Reserved too. */
void sched_access_finish(struct task *task, const struct sched_access *access);

/* The task is done: take its uses out of their buffers; a failed write poisons. */
void sched_uses_finish(struct task *task);

/* The next free use of the task, put into a list (NULL: none) and counted by the buffer. */
struct task_use *sched_use_add(struct task *task, struct sched_buffer *buffer, enum task_use_kind kind, uint32_t place,
			       struct task_use_list *list);

#endif
