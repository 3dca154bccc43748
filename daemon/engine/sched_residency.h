/*
 * Where the contents of a buffer are, and the moves that bring them elsewhere (front thread). Decided when a task is
 * submitted: then the order is known. Places: 0 is the host; a device with memory of its own is its index + 1, one with
 * unified memory 0. Ranges are given, whole buffers are moved.
 */
#ifndef SYCL_ENGINE_SCHED_RESIDENCY_H
#define SYCL_ENGINE_SCHED_RESIDENCY_H

#include "sched_internal.h"

/* How many moves sched_residency_bring would make. */
uint32_t sched_residency_moves(const struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			       uint64_t size_bytes);
/* Is the memory that those moves use known? -ENOMEM: no. */
int sched_residency_prepare(struct sched_buffer *buffer, uint32_t place);
/* Make the range valid at the place for `task`: moves with edges of their own, and the edge from the last one to it. */
void sched_residency_bring(struct task *task, struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			   uint64_t size_bytes);
/* The place was written: only it is valid now. */
void sched_residency_written(struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes, uint64_t size_bytes);
/* A move that nobody wrote over has failed: what it was to bring is not there. */
void sched_residency_move_failed(struct sched_buffer *buffer, uint32_t place);

#endif
