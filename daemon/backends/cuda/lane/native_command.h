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

/* Does all steps that can fail before the function is called. Looks up the addresses, and makes the
 * lane wait until the memories' old bytes are erased. -EOPNOTSUPP: an image is among the memories.
 * */
int cuda_native_memories(struct backend_lane *lane, const struct backend_command *command,
			 struct cuda_native_memories *memories_out,
			 struct backend_fault *fault_out);
void cuda_native_memories_free(struct cuda_native_memories *memories);

/*
 * Calls the function once, and then restores the thread and the stream. The function's work is on
 * the stream even if this call fails, so the command is completed behind that work either way. The
 * call takes as long as the function. -EIO with a fault: the function failed, or the stream cannot
 * be used any more.
 */
int cuda_native_call(struct backend_lane *lane, const struct backend_command *command,
		     const struct cuda_native_memories *memories, struct backend_fault *fault_out);

#endif
