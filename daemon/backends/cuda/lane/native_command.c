#include "cuda/lane/native_command.h"

#include "cuda/lane/lane.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

int cuda_native_memories(struct backend_lane *lane, const struct backend_command *command,
			 struct cuda_native_memories *memories_out, struct backend_fault *fault_out)
{
	const uint32_t count = command->native.memory_count;
	uint64_t *addresses = NULL;
	int error = 0;

	if (count > 0) {
		addresses = calloc(count, sizeof(*addresses));
		if (!addresses)
			return cuda_no_memory(fault_out, "a command");
	}
	for (uint32_t i = 0; error == 0 && i < count; i++) {
		struct backend_memory *memory = command->native.memories[i];
		if (!memory) /* a buffer of no bytes */
			continue;
		error = cuda_native_get(lane->device, BACKEND_NATIVE_MEMORY, memory, &addresses[i],
					fault_out);
		if (error == 0)
			error = cuda_memory_settle(lane, memory, fault_out);
	}
	if (error < 0) {
		free(addresses);
		return error;
	}
	*memories_out = (struct cuda_native_memories){.addresses = addresses, .count = count};
	return 0;
}

void cuda_native_memories_free(struct cuda_native_memories *memories)
{
	free(memories->addresses);
	*memories = (struct cuda_native_memories){.count = 0};
}

static bool is_capturing(struct backend_lane *lane)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult result = lane->device->backend->library.cuStreamIsCapturing(lane->stream, &status);

	return result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* While a stream captures, no work on it runs. The write that shows the command's completion would
 * not run either. */
static int native_command_end_capture(struct backend_lane *lane, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &lane->device->backend->library;
	CUgraph graph = NULL;

	if (!is_capturing(lane))
		return 0;
	(void)cu->cuStreamEndCapture(lane->stream, &graph);
	if (graph && cu->cuGraphDestroy)
		(void)cu->cuGraphDestroy(graph);
	(void)cuda_fault_words(
		fault_out, -EIO, STATUS_INVALID,
		"a native command left its stream capturing; what was captured is dropped");
	if (is_capturing(lane)) {
		/* The stream was drawn into the capture of another stream, and only that other
		 * stream can end the capture. No work on the lane can run any more. */
		fault_out->status = STATUS_DEVICE_LOST;
		cuda_lose(lane->device, fault_out);
	}
	return -EIO;
}

int cuda_native_call(struct backend_lane *lane, const struct backend_command *command,
		     const struct cuda_native_memories *memories, struct backend_fault *fault_out)
{
	struct backend_device *device = lane->device;
	const struct backend_native_scope scope = {
		.device = (uint64_t)device->facts->device,
		.context = (uintptr_t)device->context,
		.queue = (uintptr_t)lane->stream,
		.memories = memories->addresses,
		.memory_count = memories->count,
	};

	int outcome = command->native.function(command->native.context, &scope);
	int error = cuda_enter_again(device, fault_out);
	if (error == 0)
		error = native_command_end_capture(lane, fault_out);
	if (error == 0 && outcome != 0)
		error = cuda_fault_words(
			fault_out, -EIO,
			outcome < 0 && outcome >= STATUS_FORKED ? outcome : STATUS_RUNTIME,
			"the function of a native command failed with %d", outcome);
	return error;
}
