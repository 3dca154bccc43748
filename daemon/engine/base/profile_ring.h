/*
 * When the latest command groups of a profiling queue were submitted, started and ended. Bounded:
 * an entry is overwritten by the group PROFILE_GROUPS_KEPT later, or earlier where the session has
 * used up what it may keep. Front thread.
 */
#ifndef SYCL_ENGINE_PROFILE_RING_H
#define SYCL_ENGINE_PROFILE_RING_H

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_GROUPS_KEPT  65536u
#define PROFILE_GROUPS_FIRST 64u

struct profile_times {
	uint64_t group;                       /* 0: nothing here */
	uint64_t submit_ns, start_ns, end_ns; /* CLOCK_MONOTONIC */
};

struct profile_ring {
	struct profile_times *entries;
	uint32_t capacity; /* a power of two, or 0 */
};

/* The budget counts entries, of all rings of a session; a ring gives back at its end what it took.
 */
void profile_ring_fini(struct profile_ring *ring, uint64_t *budget);
void profile_ring_put(struct profile_ring *ring, const struct profile_times *times,
		      uint64_t *budget);
/* False: not kept (any more). */
bool profile_ring_get(const struct profile_ring *ring, uint64_t group,
		      struct profile_times *times_out);

#endif
