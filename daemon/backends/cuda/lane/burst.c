/* A burst: launches of one kernel that differ in their values are collected with one call. */
#include "cuda/lane/send_context.h"
#include "cuda/lane/signal.h"
#include "cuda/program/pace.h"

#include <errno.h>

/* Collects the launches behind the first one, which is prepared already. */
static void burst_collect_followers(struct cuda_send_context *context, uint32_t count,
				    uint32_t value_stride_bytes)
{
	struct cuda_lane_state *state = context->state;
	struct cuda_collected *first = &state->collected[state->collected_count];

	first->kernel = context->command->launch.kernel;
	first->copy_ns = 0;
	first->series = NULL;
	first->stamp = 0;
	first->values = first->storage;
	first->direct = 0;
	first->ends_command = false;
	cuda_collected_own(first, context->command);
	for (uint32_t i = 1; i < count; i++) {
		struct cuda_collected *next = first + i;
		next->kernel = first->kernel;
		next->copy_ns = 0;
		next->series = NULL;
		next->stamp = 0;
		next->values = next->storage;
		next->direct = 0;
		next->ends_command = i == count - 1;
		cuda_collected_own(next, context->command);
		next->launch = first->launch;
		next->launch.parameters = next->parameters;
		cuda_kernel_repeat(first->kernel, context->command, (size_t)i * value_stride_bytes,
				   first->storage, first->parameters, next->storage,
				   next->parameters);
	}
	context->pending.kernel = first->kernel;
	context->pending.items = cuda_launch_items(&first->launch);
	context->pending.launches = count;
	cuda_kernel_hold(first->kernel);
	context->pending.operations += count + 1;
	context->pending.value = state->issued + 1;
	cuda_send_push(context, false);
	state->collected_count += count;
	if (state->collected_count == context->device->backend->settings.chain_length)
		cuda_lane_send(state);
}

/* The burst's waits may be on the stream. They count for the next command of the lane, which is its
 * first launch. */
static int burst_leave_waits(const struct cuda_send_context *context, int error)
{
	context->state->left_operations += context->pending.operations;
	return error;
}

int cuda_submit_burst(struct backend_lane *lane, const struct backend_command *command,
		      uint32_t count, uint32_t value_stride_bytes, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out)
{
	struct cuda_lane_state *state = lane->state;
	const uint32_t longest = lane->device->backend->settings.chain_length;
	struct cuda_send_context context = {
		.device = lane->device,
		.state = state,
		.command = command,
		.pending = {.sequence = sequence},
	};

	/* The next call reports that the device is lost. */
	if (!state->collected || count > longest || cuda_lost(lane->device))
		return -EAGAIN;
	if (cuda_pending_reserve(state) < 0)
		return cuda_no_memory(fault_out, "a command");
	int error = cuda_enter(lane->device, fault_out);
	if (error == 0)
		error = cuda_send_settle(&context, fault_out);
	for (uint32_t i = 0; error == 0 && i < wait_count; i++)
		error = cuda_send_wait(&context, &waits[i], fault_out);
	if (error < 0)
		return burst_leave_waits(&context, error);
	cuda_signal_collect(state, command, false);
	if (state->collected_count + count > longest)
		cuda_lane_send(state);
	struct cuda_collected *first = &state->collected[state->collected_count];
	error = cuda_kernel_prepare(command->launch.kernel, command, first->storage,
				    sizeof(first->storage), first->parameters,
				    CUDA_CHAIN_PARAMETERS, &first->launch, fault_out);
	if (error < 0)
		return burst_leave_waits(&context, error == -ENOSPC ? -EAGAIN : error);
	if (first->launch.cooperative || first->launch.cluster[0] != 0 ||
	    first->launch.window.size_bytes > 0 || first->launch.check ||
	    cuda_pace_is_open(cuda_kernel_pace(command->launch.kernel),
			      cuda_launch_items(&first->launch)))
		return burst_leave_waits(&context, -EAGAIN);
	burst_collect_followers(&context, count, value_stride_bytes);
	return 0;
}
