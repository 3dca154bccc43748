/*
 * The room in the driver's queue of a stream. If the queue is full, a call waits for the device. A
 * stream takes 1,022 operations, of which 55 may be functions of the host. So the operations of
 * each command in flight are counted. When a lane has settings.lane_operations, the engine holds
 * back further commands. One command adds a bounded number of operations. Of a long transfer
 * through memory/staging.h only the beginning is sent; the rest is sent as the beginning ends.
 */
#ifndef SYCL_BACKENDS_CUDA_ROOM_H
#define SYCL_BACKENDS_CUDA_ROOM_H

#include "cuda/lane/lane.h"

/* The most operations that the command itself puts on the lane's stream. */
uint32_t cuda_room_operations(const struct cuda_lane_state *state,
			      const struct backend_command *command,
			      const struct cuda_finish *finish);
/* Counts so many more operations for the command that was sent last. */
void cuda_room_add(struct cuda_lane_state *state, uint32_t operations);

/* Called when only a part of the last transfer is on the stream. The completion is written behind
 * the rest. `direct`: as for the command; 0: there is no direct completion. */
void cuda_rest_begin(struct cuda_lane_state *state, CUdeviceptr direct, uint32_t direct_value);
/* Sends as much of the rest as there is room for. Does not block. */
void cuda_rest_step(struct cuda_lane_state *state);
/* Sends all of the rest, because other work must follow. May wait for the device. */
void cuda_rest_finish(struct cuda_lane_state *state);
/* Ends a command that has been sent: records its event and writes its direct completion. */
void cuda_write_completions(struct cuda_lane_state *state, struct cuda_pending *pending,
			    CUdeviceptr direct, uint32_t direct_value);

#endif
