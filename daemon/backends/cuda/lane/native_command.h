/*
 * A native command (K6 - K12): a function of the application that sends work to the lane's stream
 * by itself. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_NATIVE_COMMAND_H
#define SYCL_BACKENDS_CUDA_NATIVE_COMMAND_H

#include "cuda/lane/lane.h"

/* The addresses of the function's memories; ended by cuda_native_memories_free. */
struct cuda_native_memories {
	uint64_t *addresses; /* owned; NULL: none */
	uint32_t count;
};

/*
 * Does what can fail before the function is called: looks up the addresses, and has the lane wait
 * until the memories' old bytes are erased. -EOPNOTSUPP: an image is among them.
 */
int cuda_native_memories(struct backend_lane *lane, const struct backend_command *command,
			 struct cuda_native_memories *memories_out,
			 struct backend_fault *fault_out);
void cuda_native_memories_free(struct cuda_native_memories *memories);

/*
 * Call the function, once, and put the thread and the stream back into order. What it has sent is
 * on the stream, also when this fails: the command is to be completed behind it either way. May
 * take as long as the function does. -EIO with a fault: the function failed, or left the stream so
 * that it cannot go on.
 */
int cuda_native_call(struct backend_lane *lane, const struct backend_command *command,
		     const struct cuda_native_memories *memories, struct backend_fault *fault_out);

#endif
