/*
 * Residency: where contents are valid, piece by piece, and the moves that bring them elsewhere
 * (front thread). Moves are decided at submission, when the order is known. Place 0 is the host. A
 * device with its own memory is the place index + 1; a device with unified memory is place 0,
 * except for images (sched_place_of).
 *
 * A piece is valid in some places; after a write, in one. It has an author while the task that
 * wrote it is open: tasks that need the piece fail with its author. When the author has failed, the
 * piece is poisoned until a task overwrites it without needing it. A move is of one piece; later
 * cuts leave the move in both parts.
 *
 * Shared contents have a home, where other processes may write at any time. So a copy elsewhere is
 * valid only while a task uses it, and writes elsewhere are brought home before the writer is done.
 * Each buffer of shared contents has its own host range. A piece records in which of them it is
 * valid, so that no range is overwritten that a host accessor of another buffer holds.
 */
#ifndef SYCL_ENGINE_SCHED_RESIDENCY_H
#define SYCL_ENGINE_SCHED_RESIDENCY_H

#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/task.h"

struct sched_access;
struct sched_cost;

extern const struct interval_ops sched_piece_ops; /* context: struct sched_contents */

static inline struct sched_piece *sched_piece_of(struct interval *interval)
{
	return (struct sched_piece *)(void *)interval;
}

static inline uint64_t sched_place_bit(uint32_t place)
{
	return 1ull << place;
}

/* The places where the piece is valid for this buffer: a bit each. */
static inline uint64_t sched_piece_places(const struct sched_buffer *buffer,
					  const struct sched_piece *piece)
{
	return piece->hosts & buffer->host_bit ? piece->valid
					       : piece->valid & ~sched_place_bit(SCHED_HOST_PLACE);
}

/* Makes the piece valid in this place and in no other. */
static inline void sched_piece_set_place(struct sched_piece *piece,
					 const struct sched_buffer *buffer, uint32_t place)
{
	piece->valid = sched_place_bit(place);
	piece->hosts = place == SCHED_HOST_PLACE ? buffer->host_bit : 0;
}

/* True if the bytes must become a separate piece. Otherwise the piece that contains them does not
 * change. */
bool sched_residency_cuts(const struct sched_access *access, const struct sched_piece *piece);
/*
 * Adds up what bringing and returning may take, finds what to bring, and creates memories that
 * moves use. -ENOMEM.
 */
int sched_residency_cost(struct sched_access *access, struct sched_cost *cost);
/* The edges from authors and moves to the task. */
void sched_residency_wait(struct task *task, const struct sched_access *access);
/* Adds edges from the moves to the place; the task waits for their end, even if they fail. */
void sched_residency_wait_moves(struct task *task, const struct sched_access *access);
/* The task writes the pieces, or at least comes behind their writers. */
void sched_residency_enter(struct task *task, const struct sched_access *access);
/* An open task writes contents that have a home. Makes the moves that bring them home before the
 * task is done. */
void sched_residency_return(struct task *task, const struct sched_access *access);
/* A new buffer with a home: its first contents are in its host range. */
void sched_residency_first(struct sched_buffer *buffer);
/*
 * A move has failed: the contents are not valid in its target, unless a task has overwritten them.
 */
void sched_residency_move_failed(struct task_use *use, struct sched_cause *cause);
/* A writing task ends: the piece has no author any more, and may be poisoned. */
void sched_residency_written(struct task *task, const struct task_use *use);
/* For contents with a home: copies that no task uses are no longer valid. */
void sched_residency_forget(struct sched_contents *contents, const struct interval *range);
/* The buffer's host range ends: no piece is valid in it any more. */
void sched_residency_host_gone(struct sched_buffer *buffer);

#endif
