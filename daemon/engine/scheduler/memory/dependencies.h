/*
 * Dependencies: which task waits for which, by the parts of buffers that they use (front thread).
 *
 * A span is a part of a buffer with its open last writer, and the tasks and host accesses that have
 * read since. A reader waits for the writer and, if it is a task, for the host accesses. A writer
 * waits for all of them, and the span drops them. An edge to the writer is left out where a reader
 * in between waits for it. Failures do not follow spans: they follow contents (residency.h), by
 * what is accessed and not by what orders.
 *
 * A submission has steps, each for all accesses of the task: cut and reserve, bring, wait, enter.
 * Cut has no visible effect; enter changes the maps. So a task with several ranges of a buffer
 * never waits for itself, and where they overlap their modes are united.
 *
 * A buffer has at most SCHED_INTERVALS_MAX spans and as many pieces. Beyond that, when nothing can
 * be joined, a range is widened to existing cuts. It orders and brings more than was requested, and
 * no-init is ignored. A task that reads more spans than there are links orders as a writer does.
 */
#ifndef SYCL_ENGINE_SCHED_DEPENDENCIES_H
#define SYCL_ENGINE_SCHED_DEPENDENCIES_H

#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/state/access.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

/* Upper bounds for the steps after the first. */
struct sched_cost {
	/*
	 * Edges to the task; at most one comes from each open task, even if several spans name it.
	 */
	uint64_t edges;
	uint64_t visits;       /* parts that the steps visit */
	uint32_t tasks, nodes; /* tasks: moves, each with a few edges */
};

/*
 * Sets the ranges of an access to a buffer. The caller has checked that they lie inside.
 * order_size_bytes 0: the whole buffer.
 */
static inline void sched_access_ranges(struct sched_access *access, uint64_t order_offset_bytes,
				       uint64_t order_size_bytes, uint64_t offset_bytes,
				       uint64_t size_bytes)
{
	uint64_t all = access->buffer->contents->size_bytes;
	access->order = (struct interval){.begin = 0, .end = all};
	access->bytes = (struct interval){.begin = offset_bytes, .end = offset_bytes + size_bytes};
	if (order_size_bytes > 0)
		access->order = (struct interval){.begin = order_offset_bytes,
						  .end = order_offset_bytes + order_size_bytes};
	/* A buffer without bytes has one span and one piece all the same. */
	if (all == 0)
		access->order = access->bytes = (struct interval){.begin = 0, .end = 1};
}

/* True if the access is to all of a buffer that is in one part. Such an access needs no cut. */
static inline bool sched_access_is_plain(const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	uint64_t end = contents->first_span.interval.end;
	return contents->spans.count + contents->pieces.count == 2 && access->order.begin == 0 &&
	       access->order.end >= end && access->bytes.begin == 0 && access->bytes.end >= end;
}
/*
 * First step, for all accesses of a task unless all are plain: cuts, and may widen ranges. -ENOMEM,
 * -E2BIG: without a visible effect.
 */
int sched_accesses_prepare(struct sched_access *accesses, uint32_t count);
/*
 * Second step: adds up what the rest may take, and reserves it, charged to the account (NULL: to
 * none). On failure call sched_access_join. `task`: the task of the accesses. -ENOMEM, -EDQUOT,
 * -E2BIG as in task_submit.
 */
int sched_access_cost(const struct task *task, struct sched_access *access,
		      struct sched_cost *cost);
int sched_cost_reserve(struct scheduler *scheduler, const struct sched_cost *cost,
		       const struct sched_account *account);
/* cut.c: joins equal neighbours at the cuts again. */
void sched_access_join(const struct sched_access *access);
void sched_ranges_join(struct sched_contents *contents, const struct interval *order,
		       const struct interval *bytes);
/* The cause for which needed contents are lost; NULL: none are. */
struct sched_cause *sched_access_poison(const struct sched_access *access);
/* From here on all is reserved, and nothing fails. A task that is doomed already moves nothing. */
void sched_access_bring(struct task *task, const struct sched_access *access); /* residency.c */
void sched_access_wait(struct task *task, const struct sched_access *access);
/* Instead of sched_access_wait: waits only for writers, and for moves to the place, even if those
 * fail. */
void sched_access_wait_written(struct task *task, const struct sched_access *access);
void sched_access_enter(struct task *task, const struct sched_access *access);
/* After the task was opened: joins, and makes moves that bring writes to shared contents home. */
void sched_access_finish(struct task *task, const struct sched_access *access);

/* The task is done: take its uses out of their buffers; a failed write poisons. */
void sched_uses_finish(struct task *task);

/* A move is cancelled: no task finds it any more, and its target has no valid contents. */
void sched_move_forget(struct task_use *use, struct sched_cause *cause);

/* The next free use of the task, in no list, counted by the buffer. */
static inline struct task_use *sched_use_add(struct task *task, struct sched_buffer *buffer,
					     enum task_use_kind kind, uint32_t place,
					     const struct interval *order,
					     const struct interval *bytes)
{
	/* Field by field: it is on the way of every requirement, and setting all of it to 0 first
	 * takes its time. */
	struct task_use *use = &task->uses[task->use_count++];
	use->buffer = buffer;
	use->task = task;
	use->kind = kind;
	use->place = (uint8_t)place;
	use->from = SCHED_NO_PLACE;
	use->order = *order;
	use->bytes = *bytes;
	use->link.list = NULL;
	use->link.more = NULL;
	buffer->references++;
	return use;
}

static inline void sched_link(struct task_use *use, struct task_link *link,
			      struct task_link_list *list)
{
	link->use = use;
	link->list = list;
	link->previous = NULL;
	link->next = list->first;
	if (list->first)
		list->first->previous = link;
	list->first = link;
	list->count++;
}

/* Empties the list; its uses are not found by it any more. */
void sched_links_detach(struct task_link_list *list);
/* `to`, which is empty, gets the same uses as `from`: a node each. */
void sched_links_copy(struct scheduler *scheduler, struct task_link_list *to,
		      const struct task_link_list *from);

extern const struct interval_ops sched_span_ops; /* context: struct sched_contents */

static inline struct sched_span *sched_span_of(struct interval *interval)
{
	return (struct sched_span *)(void *)interval;
}

static inline struct sched_span *sched_span_at(const struct sched_contents *contents,
					       uint32_t index)
{
	return sched_span_of(interval_map_get(&contents->spans, index));
}

#endif
