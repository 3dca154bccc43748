#include "base/profile_ring.h"

#include <stdlib.h>

void profile_ring_fini(struct profile_ring *ring, uint64_t *budget)
{
	free(ring->entries);
	*budget += ring->capacity;
	*ring = (struct profile_ring){.capacity = 0};
}

/* Twice as many, if memory and budget allow. Newer groups win a place. */
static void grow_profile_ring(struct profile_ring *ring, uint64_t *budget)
{
	uint32_t capacity = ring->capacity ? ring->capacity * 2 : PROFILE_GROUPS_FIRST;
	uint32_t more = capacity - ring->capacity;
	if (capacity > PROFILE_GROUPS_KEPT || more > *budget)
		return;
	struct profile_times *entries = calloc(capacity, sizeof(*entries));
	if (!entries)
		return;
	for (uint32_t i = 0; i < ring->capacity; i++) {
		const struct profile_times *old = &ring->entries[i];
		struct profile_times *place = &entries[old->group & (capacity - 1)];
		if (old->group > place->group)
			*place = *old;
	}
	free(ring->entries);
	ring->entries = entries;
	ring->capacity = capacity;
	*budget -= more;
}

void profile_ring_put(struct profile_ring *ring, const struct profile_times *times,
		      uint64_t *budget)
{
	if (ring->capacity == 0)
		grow_profile_ring(ring, budget);
	/* Grow while a living entry would be lost. */
	for (;;) {
		if (ring->capacity == 0)
			return;
		const struct profile_times *place =
			&ring->entries[times->group & (ring->capacity - 1)];
		uint32_t before = ring->capacity;
		if (place->group == 0 || before == PROFILE_GROUPS_KEPT)
			break;
		grow_profile_ring(ring, budget);
		if (ring->capacity == before)
			break;
	}
	struct profile_times *place = &ring->entries[times->group & (ring->capacity - 1)];
	if (times->group > place->group)
		*place = *times;
}

bool profile_ring_get(const struct profile_ring *ring, uint64_t group,
		      struct profile_times *times_out)
{
	if (ring->capacity == 0 || group == 0)
		return false;
	const struct profile_times *place = &ring->entries[group & (ring->capacity - 1)];
	if (place->group != group)
		return false;
	*times_out = *place;
	return true;
}
