#include "cuda/clock/device_clock.h"
#include "cuda/lane/begin.h"

#include "cuda/lane/lane.h"

/*
 * A command that is not timed has no event in front: here it counts as begun, and the engine
 * decides. That holds for a timed one, too, until its event has happened. Does not call the driver.
 */
bool cuda_begun(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out)
{
	struct cuda_begin *begin = &lane->state->begin;

	if (begin->sequence != sequence)
		*begin = (struct cuda_begin){.sequence = sequence};
	*begun_ns_out = begin->begun_ns;
	return true;
}

void cuda_begin_poll(struct backend_device *device, struct cuda_lane_state *state)
{
	struct cuda_begin *begin = &state->begin;
	uint64_t begun_ns = 0, again_ns = 0;

	if (begin->sequence == 0 || begin->begun_ns != 0 || state->head == state->sent_end)
		return;
	const struct cuda_pending *pending = cuda_pending_at(state, state->head);
	if (pending->sequence != begin->sequence || !pending->start ||
	    cuda_clock_times(device, pending->start, pending->start, &begun_ns, &again_ns, NULL) !=
		    0)
		return;
	/* The same time is reported at the command's end (lane/progress.c). */
	begin->begun_ns = begun_ns > pending->submit_ns ? begun_ns : pending->submit_ns;
	if (begin->begun_ns < state->timed_end_ns)
		begin->begun_ns = state->timed_end_ns;
}
