/* A native command (K6 - K12): a function of the application that sends work to the lane's queue
 * by itself. Device thread. */
#ifndef SYCL_BACKENDS_OPENCL_NATIVE_COMMAND_H
#define SYCL_BACKENDS_OPENCL_NATIVE_COMMAND_H

#include "opencl/driver/objects.h"

/*
 * Calls the function once, between two marks on the queue. The function's work begins behind all of
 * `waits`; *start_out is its beginning and *event_out its end. The call takes as long as the
 * function, which may not wait for the device. Both events are the caller's. On failure either both
 * are set, and the function's work may still run, or neither is, and none of its work runs.
 */
int opencl_native_command(struct backend_lane *lane, const struct backend_command *command,
			  cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			  cl_event *start_out, struct backend_fault *fault_out);

/* The function's memories, one number each; NULL: out of memory. The caller frees the array. */
uint64_t *opencl_native_memories(const struct backend_command *command);

#endif
