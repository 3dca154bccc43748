#include "base/trace_ring.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

int trace_ring_init(struct trace_ring *ring, uint32_t room)
{
	/* The memory is mapped and not from the heap, which may keep freed memory. It must return
	 * to the system at the end of the trace. */
	void *records = mmap(NULL, room * sizeof(*ring->records), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (records == MAP_FAILED)
		return -ENOMEM;
	*ring = (struct trace_ring){.records = records, .room = room};
	return 0;
}

void trace_ring_fini(struct trace_ring *ring)
{
	if (ring->records)
		(void)munmap(ring->records, ring->room * sizeof(*ring->records));
	*ring = (struct trace_ring){.records = NULL};
}

void trace_ring_note(struct trace_ring *ring, const struct trace_entry *entry)
{
	ring->noted++;
	if (ring->count == ring->room)
		return;
	uint32_t at = ring->first + ring->count++;
	ring->records[at < ring->room ? at : at - ring->room] = *entry;
}

struct trace_entry *trace_ring_first(struct trace_ring *ring)
{
	return ring->count > 0 ? &ring->records[ring->first] : NULL;
}

void trace_ring_remove_first(struct trace_ring *ring)
{
	ring->count--;
	if (++ring->first == ring->room)
		ring->first = 0;
}
