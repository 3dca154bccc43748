/* Edges between tasks: made, and removed where the first of the two lets the other go on. */
#include "scheduler/state/task.h"

#include "base/cause.h"
#include "scheduler/admission/pause.h"
#include "scheduler/task/burst.h"
#include "scheduler/dispatch/choose.h"
#include "scheduler/dispatch/trace.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/task/pool.h"
#include "scheduler/state/buffer.h"

#define FAILING_MOVES_MOST 16u

/* Adds to the edge that the two tasks have already. */
static void edge_unite(struct task_edge *edge, bool data, uint32_t launches)
{
	edge->data |= data;
	edge->launches |= launches;
	/* The failed launches are known when all launches are complete. */
	if (edge->sent && launches & ~SCHED_LAUNCHES_ALL && !task_is_stretch(edge->from)) {
		edge->sent = false;
		edge->to->unmet++;
	}
}

static void edge_add(struct task *from, struct task *to, bool data, uint32_t launches)
{
	/* Two buffers of one task may have the same contents. */
	if (from == to)
		return;
	if (from->state == TASK_DONE ||
	    (from->state == TASK_RETURNING && to->role == TASK_ROLE_MOVE)) {
		struct sched_cause *cause = data ? sched_launches_cause(from, launches) : NULL;
		if (cause)
			task_doom(to, cause, false);
		return;
	}
	if (__builtin_expect(to->scheduler->paused_count > 0, 0) && data)
		sched_pause_needed(from);
	if (from->mark == to->identity) {
		edge_unite(from->mark_edge, data, launches);
		return;
	}
	struct task_edge *edge = sched_take_edge(to->scheduler);
	*edge = (struct task_edge){.from = from,
				   .to = to,
				   .data = data,
				   .launches = launches,
				   .next_out = from->out,
				   .next_in = to->in};
	from->out = edge;
	if (to->in)
		to->in->previous_in = edge;
	to->in = edge;
	from->mark = to->identity;
	from->mark_edge = edge;
	edge->sent = task_is_on_lane(from) && !from->held_by_host && !to->front_only &&
		     from->device == to->device && !sched_lane_waits(to) &&
		     (!(launches & ~SCHED_LAUNCHES_ALL) || task_is_stretch(from));
	to->open_in++;
	if (!edge->sent)
		to->unmet++;
}

void task_edge_add(struct task *from, struct task *to, bool data)
{
	edge_add(from, to, data, data ? SCHED_LAUNCHES_ALL : 0);
}

void task_edge_add_data(struct task *from, struct task *to, uint32_t launches)
{
	edge_add(from, to, true, launches);
}

uint32_t task_launches_of(const struct task *task, const struct sched_contents *contents)
{
	for (uint32_t i = 0; i < task->use_count; i++) {
		const struct task_use *use = &task->uses[i];
		if (use->buffer->contents != contents || use->last_writer >= SCHED_BURST_MAX)
			continue;
		return use->last_writer + 1u == task->command.burst->count ? SCHED_LAUNCHES_ALL
									   : 1u << use->last_writer;
	}
	return SCHED_LAUNCHES_ALL;
}

void task_edge_add_author(struct task *author, struct task *to,
			  const struct sched_contents *contents)
{
	edge_add(author, to, true,
		 task_is_stretch(author) ? task_launches_of(author, contents) : SCHED_LAUNCHES_ALL);
}

static void edge_remove(struct task_edge *edge)
{
	struct task *to = edge->to;
	if (edge->previous_in)
		edge->previous_in->next_in = edge->next_in;
	else
		to->in = edge->next_in;
	if (edge->next_in)
		edge->next_in->previous_in = edge->previous_in;
	to->open_in--;
	if (!edge->sent)
		to->unmet--;
	sched_give_edge(to->scheduler, edge);
}

/*
 * True if the task waits for nothing but moves that will fail. The question comes again with each
 * failing move, so a task that waits for many is refused when they are back.
 */
static bool waits_for_failing_moves_only(const struct task *task)
{
	const struct task_edge *edge = task->in;
	for (uint32_t i = 0; edge && i < FAILING_MOVES_MOST; i++, edge = edge->next_in) {
		const struct task *from = edge->from;
		bool fails = from->role == TASK_ROLE_MOVE && from->cause;
		task->scheduler->visits++;
		if (from->state != TASK_DONE && !fails)
			return false;
	}
	return !edge;
}

/*
 * The task will fail. A host access that waits for a failing move is refused before the move is
 * back. Another access, which needs no move, may be granted meanwhile, and the client relies on
 * knowing all losses by then. Moves fail with their authors, so whatever needs a move is told, too.
 * Two moves may follow each other, and more with copies between devices.
 */
static void refuse_at_once(struct task *task)
{
	if (task->role == TASK_ROLE_HOST_ACCESS && task->state == TASK_PENDING && !task->notified &&
	    waits_for_failing_moves_only(task))
		sched_notice_queue(task->scheduler, &task->notice, SCHED_NOTICE_TASK, task);
	if (task->role != TASK_ROLE_MOVE)
		return;
	for (struct task_edge *edge = task->out; edge; edge = edge->next_out) {
		if (!edge->data)
			continue;
		task_doom(edge->to, task->cause, task->direct);
		refuse_at_once(edge->to);
	}
}

void task_edges_release(struct task *task, bool moves_only)
{
	/* Only tasks of callers count: a task that a move was made for has failed by itself. */
	bool direct = task_is_internal(task) && task->direct;
	struct task_edge **at = &task->out;
	while (*at) {
		struct task_edge *edge = *at;
		struct task *to = edge->to;
		uint32_t launches = edge->data ? edge->launches : 0;
		if (moves_only && to->role != TASK_ROLE_MOVE) {
			at = &edge->next_out;
			continue;
		}
		*at = edge->next_out;
		if (__builtin_expect(task->scheduler->trace != NULL, 0))
			sched_trace_follow(task, to);
		edge_remove(edge);
		struct sched_cause *cause = launches ? sched_launches_cause(task, launches) : NULL;
		if (cause) {
			task_doom(to, cause, direct);
			refuse_at_once(to);
		}
		task_consider(to);
	}
}
