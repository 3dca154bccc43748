/*
 * Marks. A chain's last node writes the lane's word, and the value must be set at each launch. That
 * is a call of the driver, and changes the executable each time. A chain that has a mark of its own
 * writes 1 there instead, always the same. The host clears the mark before the launch, and keeps
 * the number that the mark stands for. So a chain with the same arguments as last time is launched
 * with one call. While its mark is on its way, the chain writes the lane's word as others do.
 */
#ifndef SYCL_BACKENDS_CUDA_MARK_H
#define SYCL_BACKENDS_CUDA_MARK_H

#include "cuda/lane/lane.h"

/* The word must not fall behind so far that it seems to be ahead (cuda_has_reached). */
#define CUDA_MARKS_MOST (1u << 30)

/* Give a chain a mark, before it is made, if chains of its kind have one. */
void cuda_mark_open_lone(struct cuda_lane_state *state);
void cuda_mark_open_level(struct cuda_lane_state *state, struct cuda_chain *chain, uint32_t level,
			  enum cuda_chain_form form);
void cuda_mark_open_exact(struct cuda_lane_state *state, struct cuda_exact *exact);
/* Before the chain is freed. Nothing of it is in flight. */
void cuda_mark_close(struct cuda_lane_state *state, struct cuda_chain *chain);
/* The chain was launched, and writes its mark when the lane has reached `value`. */
void cuda_mark_sent(struct cuda_lane_state *state, struct cuda_chain *chain, uint32_t value);

/* May the next launch of the chain, with this value, write the mark? */
static inline bool cuda_mark_is_free(const struct cuda_lane_state *state,
				     const struct cuda_chain *chain, uint32_t value)
{
	return chain->mark_host && !chain->is_marked && state->written == state->sent &&
	       value - state->word_value < CUDA_MARKS_MOST;
}

/* Before the launch. */
static inline void cuda_mark_clear(const struct cuda_chain *chain)
{
	atomic_store_explicit(chain->mark_host, 0, memory_order_release);
}

#endif
