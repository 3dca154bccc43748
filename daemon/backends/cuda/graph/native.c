/*
 * Native commands as nodes. The function gets a separate graph, so that everything it adds lies
 * between the node's edges (K16). For captures it gets an idle stream that has no other use (K17).
 * The graph becomes a child when the function returns.
 */
#include "cuda/memory/array.h"
#include "cuda/graph/graph.h"
#include "cuda/lane/streams.h"
#include "status.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>

/* Ends a capture that the function has left open, because the capture would include later work on
 * the stream. True: there was one. */
static bool graph_native_end_capture(const struct cuda_library *cu, CUstream stream, CUgraph inner)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUgraph captured = NULL;

	if (cu->cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
	    status == CU_STREAM_CAPTURE_STATUS_NONE)
		return false;
	(void)cu->cuStreamEndCapture(stream, &captured);
	if (captured && captured != inner)
		(void)cu->cuGraphDestroy(captured);
	return true;
}

static void give_stream(struct backend_device *device, CUstream stream)
{
	const struct cuda_library *cu = &device->backend->library;

	/* The function has left work on the stream, which it must not. No other work may be put
	 * behind that. */
	if (cu->cuStreamQuery(stream) == CUDA_SUCCESS)
		cuda_stream_give(device, BACKEND_LANE_COMPUTE, stream);
	else
		(void)cu->cuStreamDestroy(stream);
}

/*
 * The engine's threads are in the relaxed mode (cuda_enter), so captures of other threads forbid
 * them no call. The function runs in the mode of an application's thread. This restores the
 * engine's context, because the function may leave any context current.
 */
static int cuda_graph_call_native(struct backend_device *device,
				  const struct backend_command *command,
				  const struct backend_native_scope *scope)
{
	const struct cuda_library *cu = &device->backend->library;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

	(void)cu->cuThreadExchangeStreamCaptureMode(&mode);
	int result = command->native.function(command->native.context, scope);
	(void)cu->cuThreadExchangeStreamCaptureMode(&mode);
	(void)cu->cuCtxSetCurrent(device->context);
	return result;
}

static int run_captured(struct backend_device *device, const struct backend_command *command,
			CUgraph inner, CUstream stream, struct backend_fault *fault_out)
{
	const uint32_t count = command->native.memory_count;
	CLEANUP(free_pointer) uint64_t *memories = calloc(count ? count : 1, sizeof(uint64_t));

	if (!memories)
		return cuda_no_memory(fault_out, "a native command");
	for (uint32_t i = 0; i < count; i++) {
		const struct backend_memory *memory = command->native.memories[i];
		if (memory && memory->array)
			return cuda_fault_words(fault_out, -EOPNOTSUPP,
						STATUS_FEATURE_NOT_SUPPORTED,
						"a native command takes no image");
		memories[i] = memory ? memory->address : 0; /* none: a buffer of no bytes */
	}
	const struct backend_native_scope scope = {
		.device = (uint64_t)device->facts->device,
		.context = (uint64_t)(uintptr_t)device->context,
		.queue = (uint64_t)(uintptr_t)stream,
		.graph = (uint64_t)(uintptr_t)inner,
		.memories = memories,
		.memory_count = count,
	};
	int result = cuda_graph_call_native(device, command, &scope);
	bool was_open = graph_native_end_capture(&device->backend->library, stream, inner);
	if (result != 0)
		return cuda_fault_words(fault_out, -EINVAL,
					result < 0 && result >= STATUS_FORKED ? result
									      : STATUS_RUNTIME,
					"the function of a native command failed with %d", result);
	if (was_open)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a native command left its stream capturing");
	return 0;
}

int cuda_graph_add_native(struct backend_graph *graph, const struct backend_command *command,
			  const CUgraphNode *after, uint32_t after_count, CUgraphNode *node_out,
			  struct backend_fault *fault_out)
{
	struct backend_device *device = graph->device;
	const struct cuda_library *cu = &device->backend->library;
	CUstream stream = NULL;
	CUgraph inner = NULL;

	int error =
		cuda_check(device, cu->cuGraphCreate(&inner, 0), fault_out, "cannot make a graph");
	if (error < 0)
		return error;
	error = cuda_stream_take(device, BACKEND_LANE_COMPUTE, &stream, fault_out);
	if (error == 0) {
		error = run_captured(device, command, inner, stream, fault_out);
		give_stream(device, stream);
	}
	if (error == 0)
		error = cuda_check(device,
				   cu->cuGraphAddChildGraphNode(node_out, graph->graph, after,
								after_count, inner),
				   fault_out,
				   "the graph that a native command has made cannot be a node");
	(void)cu->cuGraphDestroy(inner);
	return error;
}
