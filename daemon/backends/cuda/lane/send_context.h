/* A command on its way to a lane's stream: between submit.c, waits.c and burst.c. */
#ifndef SYCL_BACKENDS_CUDA_SEND_CONTEXT_H
#define SYCL_BACKENDS_CUDA_SEND_CONTEXT_H

#include "cuda/lane/lane.h"

/* The state of one submit(). */
struct cuda_send_context {
	struct backend_device *device;
	struct cuda_lane_state *state;
	const struct backend_command *command;
	struct cuda_pending pending; /* the caller ends its resources on failure */
	CUdeviceptr direct;
	_Atomic uint32_t *direct_host; /* the same word for the host */
	uint32_t direct_value;
};

/* lane/waits.c: makes the stream wait for a command of another lane, unless that command is
 * complete. */
int cuda_send_wait(struct cuda_send_context *context, const struct backend_wait *wait,
		   struct backend_fault *fault_out);
/* lane/submit.c: adds the command to those in flight. `is_sent` false: its launch was collected. */
void cuda_send_push(struct cuda_send_context *context, bool is_sent);
/* lane/submit.c: makes the lane wait until memory that the command uses is zeroed. Nearly always
 * the zeroing is long over. */
int cuda_send_settle(struct cuda_send_context *context, struct backend_fault *fault_out);

#endif
