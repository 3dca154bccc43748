/*
 * Where contents are, piece by piece, and the moves that bring them elsewhere (front thread).
 * Decided when a task is submitted: then the order is known. Places: 0 is the host; a device with
 * memory of its own is its index + 1, one with unified memory 0, but for images (sched_place_of).
 *
 * A piece is good in some places, in one only after a write there. It has an author while the task
 * that wrote it is open: who needs the piece fails with its author. When the author has failed, the
 * piece is poisoned until something is written over it that does not need it. A move is of one
 * piece as it is then; later cuts leave it in both parts.
 *
 * Shared contents have a home, and other processes write there when they like: so a copy elsewhere
 * is good only while somebody uses it (a piece is forgotten as a whole, when nobody does), and what
 * is written elsewhere goes home at once, before the writer counts as done. Of their buffers each
 * has a host range of its own: a piece says in which of these it is good, so that no other buffer's
 * reader has a range written over again that a host accessor holds.
 */
#ifndef SYCL_ENGINE_SCHED_RESIDENCY_H
#define SYCL_ENGINE_SCHED_RESIDENCY_H

#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/state/buffer.h"
#include "scheduler/dependencies.h"
#include "scheduler/state/task.h"

struct sched_access;
struct sched_cost;

extern const struct interval_ops sched_piece_ops; /* context: struct sched_contents */

static inline struct sched_piece *sched_piece_of(struct interval *interval)
{
	return (struct sched_piece *)(void *)interval;
}

/* Must the bytes be a piece of their own? Else nothing about the piece, part of which they are,
 * changes. */
bool sched_residency_cuts(const struct sched_access *access, const struct sched_piece *piece);
/* What bringing and returning may take, added, and what there is to bring; makes memories known
 * that moves use. -ENOMEM. */
int sched_residency_cost(struct sched_access *access, struct sched_cost *cost);
/* The edges from authors and moves to the task. */
void sched_residency_wait(struct task *task, const struct sched_access *access);
/* The edges from moves to the place, whatever becomes of them. */
void sched_residency_wait_moves(struct task *task, const struct sched_access *access);
/* The task writes the pieces, or is at least behind those who did. */
void sched_residency_enter(struct task *task, const struct sched_access *access);
/* It writes contents with a home, and is open: bring them home, then it is done. */
void sched_residency_return(struct task *task, const struct sched_access *access);
/* Of a buffer that is new, with a home: its first contents are in its host range. */
void sched_residency_first(struct sched_buffer *buffer);
/* The end of a use: of a move that has failed, where nobody wrote over it: what it was to bring is
 * not there ... */
void sched_residency_move_failed(struct task_use *use, struct sched_cause *cause);
/* ... of a write: the author is gone, and has left poison or not ... */
void sched_residency_written(struct task *task, const struct task_use *use);
/* ... of any of contents with a home: copies that nobody uses any more are worth nothing. */
void sched_residency_forget(struct sched_contents *contents, const struct interval *range);
/* The range of this buffer is no place any more. */
void sched_residency_host_gone(struct sched_buffer *buffer);

#endif
