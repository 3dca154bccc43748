/*
 * Multiprocessors set apart for lanes of the latency class (option latency_multiprocessors): a
 * short kernel of theirs need not wait until work-groups of others end. Two green contexts share
 * the primary one's memory, modules and events. The small one has the streams of such lanes, the
 * other one those of all other compute lanes.
 *
 * It is made and ended in quiet moments alone, in which no lane has work in flight. So each lane
 * may get another stream, and commands stay in order. A lane keeps its own stream of the whole
 * device (`whole`) meanwhile, for work that must run there. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_PARTITION_H
#define SYCL_BACKENDS_CUDA_PARTITION_H

#include "cuda/lane/lane.h"

/* Has this driver all that is needed? */
bool cuda_partition_is_possible(const struct cuda_library *library);
/*
 * Why a device of so many multiprocessors cannot have the partition of the settings, in a sentence
 * of BACKEND_TEXT_BYTES at most. False: it can, or none is set.
 */
bool cuda_partition_refuses(const struct backend *backend, const struct cuda_device_facts *facts,
			    char *why_out);
/* The effect of the option on a device: as many as it can split off, `wanted` or a few more. */
uint32_t cuda_partition_round(const struct cuda_device_facts *facts, uint32_t wanted);

/* Is there something to make or to end in a quiet moment? */
bool cuda_partition_is_due(const struct backend_device *device);
/* A quiet moment. What fails is not tried again before the class has been away: lanes go on on the
 * whole device. */
void cuda_partition_step(struct backend_device *device);
void cuda_partition_close(struct backend_device *device); /* lanes are freed */

/* A new lane: with a partition it gets a stream there; without, or if that fails, it stays on the
 * whole device. */
void cuda_partition_join(struct cuda_lane_state *state);
/* From now on the lane stays on its own stream, which the application has: what is sent goes before
 * what comes. */
int cuda_partition_leave(struct cuda_lane_state *state, struct backend_fault *fault_out);
/* The lane goes. */
void cuda_partition_forget(struct cuda_lane_state *state);

static inline bool cuda_lane_is_apart(const struct cuda_lane_state *state)
{
	return state->lane->stream != state->whole;
}

/*
 * Around work that must run on the whole device. That is a graph, whose kernels run where their
 * functions belong, or a launch with more groups at one time than the lane's part holds. Work that
 * is sent to `state->whole` in between comes behind the lane's earlier work, and before its later
 * work.
 */
CUresult cuda_whole_begin(const struct cuda_lane_state *state);
CUresult cuda_whole_end(const struct cuda_lane_state *state);
/* Must this launch run there? */
bool cuda_launch_needs_whole(const struct cuda_lane_state *state, const struct cuda_launch *launch);

#endif
