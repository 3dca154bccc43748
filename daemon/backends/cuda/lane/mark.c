#include "cuda/lane/mark.h"

#include <assert.h>

/*
 * Places in the line of the cache that has the lane's word. Chains of 2, 4 and 8 have one. Those of
 * 16 mostly come behind each other, and a single launch has the lone chain.
 */
enum {
	PLACE_OF_WORD,
	PLACE_OF_LONE,
	PLACES_OF_EXACT,
	PLACES_OF_PLAIN = PLACES_OF_EXACT + CUDA_EXACT_MAX,
	MARKED_LEVELS = 3,
	PLACES_OF_OVERLAPPED = PLACES_OF_PLAIN + MARKED_LEVELS,
	PLACES_END = PLACES_OF_OVERLAPPED + MARKED_LEVELS
};
static_assert(PLACES_END <= CUDA_WORD_STRIDE / sizeof(uint32_t), "the line is full");

static void mark_open(struct cuda_lane_state *state, struct cuda_chain *chain, uint32_t place)
{
	chain->mark_host = state->word_host + place;
	chain->mark_device = state->word_device + place * sizeof(*chain->mark_host);
}

static bool chains_have_marks(const struct cuda_lane_state *state)
{
	return state->lane->device->backend->settings.chain_marks;
}

void cuda_mark_open_lone(struct cuda_lane_state *state)
{
	mark_open(state, &state->lone, PLACE_OF_LONE);
}

void cuda_mark_open_level(struct cuda_lane_state *state, struct cuda_chain *chain, uint32_t level,
			  enum cuda_chain_form form)
{
	const uint32_t places =
		form == CUDA_CHAIN_OVERLAPPED ? PLACES_OF_OVERLAPPED : PLACES_OF_PLAIN;

	if (level > 0 && level <= MARKED_LEVELS && form != CUDA_CHAIN_DIRECT &&
	    chains_have_marks(state))
		mark_open(state, chain, places + level - 1);
}

void cuda_mark_open_exact(struct cuda_lane_state *state, struct cuda_exact *exact)
{
	if (chains_have_marks(state))
		mark_open(state, &exact->chain, PLACES_OF_EXACT + (uint32_t)(exact - state->exact));
}

void cuda_mark_sent(struct cuda_lane_state *state, struct cuda_chain *chain, uint32_t value)
{
	chain->is_marked = true;
	chain->mark_value = value;
	chain->next_marked = NULL;
	*(state->first_marked ? &state->last_marked->next_marked : &state->first_marked) = chain;
	state->last_marked = chain;
}

void cuda_mark_close(struct cuda_lane_state *state, struct cuda_chain *chain)
{
	struct cuda_chain *last = NULL;

	for (struct cuda_chain **at = &state->first_marked; *at;) {
		if (*at == chain) {
			*at = chain->next_marked;
			continue;
		}
		last = *at;
		at = &last->next_marked;
	}
	state->last_marked = last;
}
