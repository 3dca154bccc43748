/*
 * Captures: operations that are sent to a stream become nodes, each after the one before it. In the
 * global mode, calls that may wait are refused meanwhile and break every such capture. That also
 * holds for other threads, unless they have set a weaker mode.
 */
#include "fake_graph.h"

#include <stdlib.h>

static __thread CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

bool fake_is_capturing(CUstream stream)
{
	if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
		return false;
	LOCKED();
	return fake_handle_alive(FAKE_STREAM, stream) && !stream->destroyed && stream->capture;
}

void fake_capture_break(struct CUstream_st *stream)
{
	fake_misuse("stream %d gets a call that is not allowed while it captures", stream->number);
	stream->capture_is_broken = true;
}

bool fake_capture_permits(void)
{
	bool is_free = true;

	if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return true;
	for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next) {
		if (!stream->capture || !stream->capture_is_global)
			continue;
		fake_capture_break(stream);
		is_free = false;
	}
	return is_free;
}

static CUresult add_captured(CUstream stream, const struct CUgraphNode_st *made)
{
	CUgraphNode node = NULL;

	if (!stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (stream->capture_is_broken)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	struct CUgraphNode_st **tails =
		reallocarray(stream->tails, stream->tail_count + 1, sizeof(CUgraphNode));
	if (!tails)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->tails = tails;
	CUresult result = fake_graph_node_add(&node, stream->capture, stream->tails,
					      stream->tail_count, made);
	if (result != CUDA_SUCCESS)
		return result;
	stream->tails[0] = node;
	stream->tail_count = 1;
	return CUDA_SUCCESS;
}

CUresult fake_capture_launch(CUstream stream, const struct fake_launch *launch)
{
	LOCKED();
	struct CUgraphNode_st node = {.kind = NODE_KERNEL, .launch = *launch};
	CUresult result = fake_launch_check(launch);
	if (result == CUDA_SUCCESS)
		result = add_captured(stream, &node);
	if (result != CUDA_SUCCESS)
		fake_launch_free(&node.launch);
	return result;
}

CUresult fake_capture_copy(CUstream stream, const CUDA_MEMCPY3D *copy)
{
	LOCKED();
	const struct CUgraphNode_st node = {.kind = NODE_COPY, .copy = *copy};
	CUresult result = fake_copy3d_check(copy);
	return result == CUDA_SUCCESS ? add_captured(stream, &node) : result;
}

/* Captured operations may use memory of pools, too. */
CUresult fake_capture_memset(CUstream stream, const CUDA_MEMSET_NODE_PARAMS *parameters)
{
	LOCKED();
	const struct CUgraphNode_st node = {.kind = NODE_MEMSET, .memset = *parameters};
	CUresult result = fake_memset_check(parameters->dst,
					    (parameters->height - 1) * parameters->pitch +
						    parameters->width * parameters->elementSize,
					    parameters->elementSize);
	return result == CUDA_SUCCESS ? add_captured(stream, &node) : result;
}

static CUresult begin_capture(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
			      size_t count, CUstreamCaptureMode mode)
{
	if (!stream || !fake_handle_alive(FAKE_STREAM, stream) || stream->destroyed)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	stream->tails = calloc(count + 1, sizeof(CUgraphNode));
	if (!stream->tails)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < count; i++)
		stream->tails[i] = dependencies[i];
	stream->tail_count = count;
	stream->capture = graph;
	stream->capture_is_broken = false;
	stream->capture_is_global = mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
				    thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
	graph->capturing++;
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	CUgraph graph = NULL;

	ENTER(NEED_CONTEXT);
	CUresult result = cuGraphCreate(&graph, 0);
	if (result != CUDA_SUCCESS)
		return result;
	fake_lock();
	result = begin_capture(stream, graph, NULL, 0, mode);
	if (result == CUDA_SUCCESS)
		stream->capture_owns = true;
	fake_unlock();
	if (result != CUDA_SUCCESS)
		(void)cuGraphDestroy(graph);
	return result;
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
				     const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
				     size_t count, CUstreamCaptureMode mode)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!fake_handle_alive(FAKE_GRAPH, graph) || edges)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = begin_capture(stream, graph, dependencies, count, mode);
	if (result == CUDA_SUCCESS)
		stream->capture_owns = false;
	return result;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph_out)
{
	ENTER(NEED_CONTEXT);
	fake_lock();
	bool is_one = stream && fake_handle_alive(FAKE_STREAM, stream) && stream->capture;
	CUgraph graph = is_one ? stream->capture : NULL;
	bool is_broken = is_one && stream->capture_is_broken,
	     drops = is_broken && stream->capture_owns;
	if (is_one) {
		graph->capturing--;
		stream->capture = NULL;
		free(stream->tails);
		stream->tails = NULL;
		stream->tail_count = 0;
	}
	fake_unlock();
	if (drops)
		(void)cuGraphDestroy(graph);
	if (graph_out)
		*graph_out = is_broken ? NULL : graph;
	if (!is_one)
		return CUDA_ERROR_ILLEGAL_STATE;
	return is_broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!stream || !fake_handle_alive(FAKE_STREAM, stream) || !status_out)
		return CUDA_ERROR_INVALID_HANDLE;
	*status_out = !stream->capture            ? CU_STREAM_CAPTURE_STATUS_NONE
		      : stream->capture_is_broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
						  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	ENTER(NEED_INIT);
	if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	CUstreamCaptureMode before = thread_mode;
	thread_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}
