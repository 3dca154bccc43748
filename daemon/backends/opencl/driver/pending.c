#include "opencl/driver/pending.h"

#include <errno.h>

int opencl_lane_pending(const struct backend_lane *lane, uint64_t sequence,
			const struct opencl_pending **pending_out)
{
	size_t low = lane->head, high = lane->tail;

	if (sequence > lane->last_sequence)
		return -EINVAL;
	/* Finds the first pending command at or after `sequence`. If none reaches so far back, the
	 * command was reported. */
	while (low != high) {
		size_t middle = low + (high - low) / 2;
		if (lane->pending_ring[middle & (lane->capacity - 1)].sequence < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	bool reported = low == lane->head &&
			(low == lane->tail ||
			 lane->pending_ring[low & (lane->capacity - 1)].sequence > sequence);
	*pending_out = reported ? NULL : &lane->pending_ring[low & (lane->capacity - 1)];
	return 0;
}

int opencl_lane_event(const struct backend_lane *lane, uint64_t sequence, cl_event *event_out)
{
	const struct opencl_pending *pending = NULL;
	int error = opencl_lane_pending(lane, sequence, &pending);

	if (error == 0)
		*event_out = pending ? pending->event : NULL;
	return error;
}
