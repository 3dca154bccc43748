/*
 * The room in the driver's queue of a stream. A call that finds it full waits for the device: a
 * stream takes 1,022 operations, 55 of them functions of the host. So each command in flight is
 * counted with the operations that it may have, and the engine holds back what comes when a lane
 * has settings.lane_operations. What one command adds to that is bounded. Of a long transfer
 * through memory/staging.h only the beginning is sent; the rest follows as the beginning ends.
 */
#ifndef SYCL_BACKENDS_CUDA_ROOM_H
#define SYCL_BACKENDS_CUDA_ROOM_H

#include "cuda/lane/lane.h"

/* How many operations the command itself puts on the lane's stream, at most. */
uint32_t cuda_room_operations(const struct cuda_lane_state *state,
			      const struct backend_command *command,
			      const struct cuda_finish *finish);
/* As many more operations, of the command that was sent last. */
void cuda_room_add(struct cuda_lane_state *state, uint32_t operations);

/*
 * The transfer that was sent last to the lane is not all there: its completion is written behind
 * the rest. `direct`: as for the command; 0: nowhere.
 */
void cuda_rest_begin(struct cuda_lane_state *state, CUdeviceptr direct, uint32_t direct_value);
/* Send as much of the rest as there is room for. Waits for nothing. */
void cuda_rest_step(struct cuda_lane_state *state);
/* Send all of it, because something else must come behind. May wait for the device. */
void cuda_rest_finish(struct cuda_lane_state *state);
/* The end of a command that has been sent: its event and its direct completion. */
void cuda_write_completions(struct cuda_lane_state *state, struct cuda_pending *pending,
			    CUdeviceptr direct, uint32_t direct_value);

#endif
