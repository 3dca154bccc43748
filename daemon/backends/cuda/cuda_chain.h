/*
 * Chain templates: executable graphs of 1, 2, 4, 8 or 16 kernels in a row and the completion word, made once per lane,
 * whose functions, grids, arguments and values are set at each launch. One launch of a chain costs little more than one
 * launch of a kernel, and a memset node is the quickest way to tell that it ended.
 */
#ifndef SYCL_BACKENDS_CUDA_CHAIN_H
#define SYCL_BACKENDS_CUDA_CHAIN_H

#include "cuda_lane.h"

/* Whether this driver has all that chains need. */
bool cuda_chains_are_possible(const struct cuda_library *library);
/* The empty kernel; without it chains are made from the first launch. */
void cuda_chains_open(struct backend_device *device);
void cuda_chains_close(struct backend_device *device);

/* Make those that a lane will need, so that no launch has to; those that cannot be made are marked broken. */
void cuda_chains_make(struct cuda_lane_state *state);
void cuda_chains_free(struct cuda_lane_state *state);

/*
 * Send `1 << level` launches and have `value` written to the lane's word; the last launch may have a direct completion.
 * -EAGAIN: nothing was sent, send them plainly. -EIO: the device is lost.
 */
int cuda_chain_send(struct cuda_lane_state *state, const struct cuda_collected *launches, uint32_t level,
		    uint32_t value);

#endif
