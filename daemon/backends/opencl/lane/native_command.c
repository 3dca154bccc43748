#include "opencl/lane/native_command.h"

#include "opencl/driver/fault.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

uint64_t *opencl_native_memories(const struct backend_command *command)
{
	const uint32_t count = command->native.memory_count;
	uint64_t *memories = calloc(count ? count : 1, sizeof(*memories));

	for (uint32_t i = 0; memories && i < count; i++)
		if (command->native.memories[i]) /* none: a buffer of no bytes */
			memories[i] = (uint64_t)(uintptr_t)command->native.memories[i]->buffer;
	return memories;
}

/* Makes later commands of the queue begin behind the waits and all earlier commands. For a queue in
 * order a mark is enough. */
static cl_int native_command_begin(struct backend_lane *lane, cl_uint wait_count,
				   const cl_event *waits, cl_event *start_out)
{
	const struct opencl_library *cl = lane->device->cl;

	if (lane->is_out_of_order)
		return cl->EnqueueBarrierWithWaitList(lane->queue, wait_count, waits, start_out);
	return cl->EnqueueMarkerWithWaitList(lane->queue, wait_count, waits, start_out);
}

static int opencl_call_native(const struct backend_lane *lane,
			      const struct backend_command *command, const uint64_t *memories,
			      struct backend_fault *fault_out)
{
	const struct backend_device *device = lane->device;
	const struct backend_native_scope scope = {
		.device = (uint64_t)(uintptr_t)device->id,
		.context = (uint64_t)(uintptr_t)device->context,
		.queue = (uint64_t)(uintptr_t)lane->queue,
		.memories = memories,
		.memory_count = command->native.memory_count,
	};

	int outcome = command->native.function(command->native.context, &scope);
	if (outcome == 0)
		return 0;
	opencl_fault_words(fault_out,
			   outcome < 0 && outcome >= STATUS_FORKED ? outcome : STATUS_RUNTIME,
			   "the function of a native command failed with %d", outcome);
	return -EIO;
}

int opencl_native_command(struct backend_lane *lane, const struct backend_command *command,
			  cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			  cl_event *start_out, struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	uint64_t *memories = opencl_native_memories(command);
	cl_event start = NULL;

	if (!memories)
		return opencl_no_memory(fault_out, "a native command");
	cl_int code = native_command_begin(lane, wait_count, waits, &start);
	if (code != CL_SUCCESS) {
		free(memories);
		return opencl_fault_code(fault_out, code, "mark the queue");
	}
	int error = opencl_call_native(lane, command, memories, fault_out);
	free(memories);
	/* A mark follows also a function that has failed: it may have sent work that uses memory
	 * which others get next. */
	code = cl->EnqueueMarkerWithWaitList(lane->queue, 0, NULL, event_out);
	if (code != CL_SUCCESS) {
		/* No event shows the end of that work, so this call waits for the queue. */
		(void)cl->Finish(lane->queue);
		(void)cl->ReleaseEvent(start);
		return error < 0 ? error : opencl_fault_code(fault_out, code, "mark the queue");
	}
	*start_out = start;
	return error;
}
