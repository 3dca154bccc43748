/*
 * Records of a trace until they are taken. The size is fixed; records without room are only
 * counted. Pure; one thread.
 */
#ifndef SYCL_ENGINE_TRACE_RING_H
#define SYCL_ENGINE_TRACE_RING_H

#include "trace_record.h"

struct trace_ring {
	struct trace_record *records;
	uint32_t room, first, count;
	/* All records, also those without room, so that the reader can count the missing ones. */
	uint64_t noted;
};

/* -ENOMEM. `room` is at least 1. */
int trace_ring_init(struct trace_ring *ring, uint32_t room);
void trace_ring_fini(struct trace_ring *ring);
void trace_ring_note(struct trace_ring *ring, const struct trace_record *record);
/* Moves the oldest records, at most `most`, to the caller. Returns their number. */
uint32_t trace_ring_take(struct trace_ring *ring, struct trace_record *records_out, uint32_t most);

#endif
