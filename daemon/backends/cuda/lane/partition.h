/*
 * Multiprocessors reserved for lanes of the latency class (option latency_multiprocessors). A short
 * kernel of these lanes need not wait for the work-groups of other lanes. Two green contexts share
 * the memory, modules and events of the primary context. The small one has the streams of latency
 * lanes, the other one the streams of all other compute lanes.
 *
 * Without that option, best_effort_spares keeps lanes of best effort off some multiprocessors while
 * other classes use the device. Then there is one green context, which has the streams of best
 * effort. All other lanes stay on the whole device.
 *
 * The partition is made and ended only in quiet moments, when no lane has work in flight. So each
 * lane may get another stream, and its commands stay in order. Meanwhile a lane keeps its stream of
 * the whole device (`whole`), for work that must run there. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_PARTITION_H
#define SYCL_BACKENDS_CUDA_PARTITION_H

#include "cuda/lane/lane.h"

/* True if a device with so many multiprocessors cannot have the partition of the settings. why_out:
 * the reason, a sentence of at most BACKEND_TEXT_BYTES. False: it can, or no partition is set. */
bool cuda_partition_refuses(const struct backend *backend, const struct cuda_device_facts *facts,
			    char *why_out);

/* True if it is due and other work may be held back for that. One that only keeps best effort off
 * some multiprocessors is not worth much of that: 0.2 s in a minute. Otherwise it waits until the
 * device happens to be idle. */
bool cuda_partition_wants_quiet(const struct backend_device *device);
/* Called in a quiet moment. After a failure, lanes stay on the whole device, and no partition is
 * tried until no session needs one. */
void cuda_partition_step(struct backend_device *device);
/* The lanes are freed before this call. */
void cuda_partition_close(struct backend_device *device);

/* Called for a new lane. If there is a partition, the lane gets a stream of its part. Without one,
 * or on a failure, the lane stays on the whole device. */
void cuda_partition_join(struct cuda_lane_state *state);
/* From now on the lane stays on its own stream, which the application has. Work already sent runs
 * before later work. */
int cuda_partition_leave(struct cuda_lane_state *state, struct backend_fault *fault_out);
/* Called when the lane is freed. */
void cuda_partition_forget(struct cuda_lane_state *state);

static inline bool cuda_lane_is_apart(const struct cuda_lane_state *state)
{
	return state->lane->stream != state->whole;
}

/*
 * Called before and after work that must run on the whole device. Such work is a graph, whose
 * kernels run where their functions belong. Or it is a launch with more groups at one time than the
 * lane's part holds. Work that is sent to `state->whole` in between runs after the lane's earlier
 * work, and before its later work.
 */
CUresult cuda_whole_begin(const struct cuda_lane_state *state);
CUresult cuda_whole_end(const struct cuda_lane_state *state);
/* True if this launch must run on the whole device. */
bool cuda_launch_needs_whole(const struct cuda_lane_state *state, const struct cuda_launch *launch);

#endif
