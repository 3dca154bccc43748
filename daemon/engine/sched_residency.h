/*
 * Where contents are, and the moves that bring them elsewhere (front thread). Decided when a task is submitted: then
 * the order is known. Places: 0 is the host; a device with memory of its own is its index + 1, one with unified memory
 * 0. Ranges are given, whole buffers are moved.
 *
 * Shared contents have a home, and other processes write there when they like: so a copy elsewhere is good only while
 * somebody uses it, and what is written elsewhere goes home at once, before the writer counts as done. Their host's place is in the range of one buffer at
 * a time; for another buffer it is as if it were not valid.
 */
#ifndef SYCL_ENGINE_SCHED_RESIDENCY_H
#define SYCL_ENGINE_SCHED_RESIDENCY_H

#include "sched_internal.h"

/* How many moves sched_residency_bring would make. */
uint32_t sched_residency_moves(const struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			       uint64_t size_bytes);
/* How many more sched_residency_return would make after a write at this place. */
uint32_t sched_residency_return_moves(const struct sched_buffer *buffer, uint32_t place);
/* Is the memory that those moves use known? -ENOMEM: no. */
int sched_residency_prepare(struct sched_buffer *buffer, uint32_t place);
/* Make the range valid at the place for `task`: moves with edges of their own, and the edge from the last one to it. */
void sched_residency_bring(struct task *task, struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			   uint64_t size_bytes);
/* The place was written: only it is valid now. */
void sched_residency_written(struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes, uint64_t size_bytes);
/* `task`, or nobody (NULL), writes shared contents at this place, and is open: bring them home, then it is done. */
void sched_residency_return(struct task *task, struct sched_buffer *buffer, uint32_t place);
/* A move that nobody wrote over has failed: what it was to bring is not there. */
void sched_residency_move_failed(struct sched_buffer *buffer, uint32_t place, struct sched_cause *cause);
/* A use has ended: copies of shared contents that nobody uses any more are worth nothing. */
void sched_residency_forget(struct sched_contents *contents);

#endif
