/*
 * For how long commands may be held back so that a chain can be made. The chain saves a few
 * microseconds at each send. So nobody may wait for it for long: a few times what commands take
 * here, and not at all beside the latency class, or beside commands whose length is not known.
 */
#include "cuda/lane/chain.h"
#include "cuda/lane/series.h"
#include "cuda/program/pace.h"

#include "clock.h"

/* A command that is held back waits for so many times the length of a short one of its lanes. */
#define HOLD_TIMES   4u
#define HOLD_MOST_NS 100000u
/* A client of the latency class may come back within this time. */
#define LATENCY_REST_NS 1000000000u

/* The time of a command in flight by its latest ones. 0: it is not known. */
static uint64_t pending_expected_ns(const struct cuda_pending *pending)
{
	const uint32_t launches = pending->launches + (pending->launches == 0);

	if (pending->fault || pending->check)
		return 0;
	if (pending->copy_ns > 0)
		return pending->copy_ns;
	if (pending->series)
		return cuda_pace_is_open(&pending->series->pace, 1)
			       ? 0
			       : pending->series->pace.period_ns;
	if (!pending->kernel)
		return 0;
	const struct cuda_pace *pace = cuda_kernel_pace(pending->kernel);
	return cuda_pace_is_open(pace, pending->items) ? 0 : pace->period_ns * launches;
}

/* The time of all that is in flight on a lane. 0: it is not known. */
static uint64_t lane_expected_ns(const struct cuda_lane_state *state)
{
	uint64_t sum_ns = 0;

	for (size_t at = state->head; at != state->tail && sum_ns <= HOLD_MOST_NS; at++) {
		const uint64_t expected_ns = pending_expected_ns(cuda_pending_at(state, at));
		if (expected_ns == 0)
			return 0;
		sum_ns += expected_ns;
	}
	return sum_ns;
}

static bool latency_class_is_here(const struct cuda_lanes *lanes)
{
	const uint64_t now_ns = clock_now_ns();

	for (const struct cuda_lane_state *state = lanes->first; state; state = state->next)
		if (state->lane->kind == BACKEND_LANE_LATENCY &&
		    (state->head != state->tail ||
		     (state->last_end_ns > 0 && now_ns < state->last_end_ns + LATENCY_REST_NS)))
			return true;
	return false;
}

uint64_t cuda_chains_hold_ns(const struct cuda_lanes *lanes)
{
	uint64_t shortest_ns = HOLD_MOST_NS, longest_ns = 0;

	if (latency_class_is_here(lanes))
		return 0;
	for (const struct cuda_lane_state *state = lanes->first; state; state = state->next) {
		if (state->head == state->tail)
			continue;
		const uint64_t expected_ns = lane_expected_ns(state);
		if (expected_ns == 0)
			return 0;
		shortest_ns = expected_ns < shortest_ns ? expected_ns : shortest_ns;
		longest_ns = expected_ns > longest_ns ? expected_ns : longest_ns;
	}
	const uint64_t most_ns =
		shortest_ns < HOLD_MOST_NS / HOLD_TIMES ? HOLD_TIMES * shortest_ns : HOLD_MOST_NS;
	return longest_ns <= most_ns ? most_ns : 0;
}
