/*
 * Records of a trace until they are taken. The size is fixed; records without room are only
 * counted. Pure; one thread.
 */
#ifndef SYCL_ENGINE_TRACE_RING_H
#define SYCL_ENGINE_TRACE_RING_H

#include "trace_record.h"

struct trace_entry {
	struct trace_record record;
	uint64_t profile;  /* backend.h, profile_times; 0: there are no other times */
	uint64_t noted_ns; /* when it was noted */
};

struct trace_ring {
	struct trace_entry *records;
	uint32_t room, first, count;
	/* All records, also those without room, so that the reader can count the missing ones. */
	uint64_t noted;
};

/* -ENOMEM. `room` is at least 1. */
int trace_ring_init(struct trace_ring *ring, uint32_t room);
void trace_ring_fini(struct trace_ring *ring);
void trace_ring_note(struct trace_ring *ring, const struct trace_entry *entry);
/* The oldest entry, until it is removed; NULL: there is none. */
struct trace_entry *trace_ring_first(struct trace_ring *ring);
void trace_ring_remove_first(struct trace_ring *ring);

#endif
