/*
 * Native commands through a service as nodes of graphs (K13 - K17). When the graph was finalized, a
 * function has added the commands to a CUgraph of the program's own context. That graph is made
 * executable once. Each launch sends it to a stream, as the function of a plain command would.
 *
 * made --launches, one after the other--> ... --no node and no launch has it any more--> destroyed
 *                                              \--the context is released, or stuck-----> left
 */
#include "interop/bridge.h"

#include "handler/handler.h"
#include "interop/native_commands.h"
#include "native_scope.h"

#include <stdlib.h>

struct bridge_graph {
	/* Neighbours in the context's list. The bridge's lock guards these and the context. */
	struct bridge_graph *next, *previous;
	/* NULL: the context was released, with all objects in it. */
	struct bridge_context *context;
	struct bridge *bridge;
	_Atomic uint32_t references; /* one of the node, and one of each unfinished launch */
	cuda_graph_exec exec;        /* NULL: the function has added no node */
};

sycl_result bridge_graph_check(const struct handler *handler)
{
	const struct connection *c = handler->object.connection;
	if (!c->has_native_nodes)
		return error_set(
			SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			"the service is too old for native handles in graphs of other processes: open \"embedded:\"");
	if (handler->native && !cuda_driver_has_graphs(cuda_driver_get()))
		return error_set(
			SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			"this program's NVIDIA driver is too old for native commands in graphs: it has no "
			"cuStreamBeginCaptureToGraph");
	return SYCL_SUCCESS;
}

/* ------------------------------------- the function ------------------------------------- */

/* The graph that is being made, with the context current. */
struct making {
	const struct handler *handler;
	uint64_t *memories;
	/* A stream of this call alone: work on a stream that captures becomes a part of the
	 * capture. */
	cuda_stream stream;
	cuda_graph graph;
	int mode; /* mode of the thread, as in bridge_calls.c */
};

/* Ends a capture that was left open, which would hold the graph. True: there was a capture. */
static bool bridge_end_capture(const struct cuda_driver *cuda, const struct making *making)
{
	int status = CUDA_CAPTURING_NOT;
	cuda_graph captured = NULL;
	if (cuda->cuStreamIsCapturing(making->stream, &status) == CUDA_OK &&
	    status == CUDA_CAPTURING_NOT)
		return false;
	(void)cuda->cuStreamEndCapture(making->stream, &captured);
	if (captured && captured != making->graph)
		(void)cuda->cuGraphDestroy(captured);
	return true;
}

/* The thread's latest failure gives the text, if its code is the one that the function returns. */
static sycl_result function_failed(sycl_result result)
{
	struct failure why;
	sycl_result code = result < 0 && result >= SYCL_ERROR_FORKED ? result : SYCL_ERROR_RUNTIME;
	error_get(&why);
	return why.code == code ? code
				: error_set(code, "the function of a native command failed with %d",
					    (int)result);
}

static sycl_result making_call_function(const struct cuda_driver *cuda, struct making *making)
{
	struct bridge_context *context = making->handler->bridge;
	const struct backend_native_scope scope = {
		.device = (uint64_t)context->device,
		.context = (uintptr_t)context->context,
		.queue = (uintptr_t)making->stream,
		.graph = (uintptr_t)making->graph,
		.memories = making->memories,
		.memory_count = making->handler->requirements.count,
	};
	error_note_failure(&(struct failure){.code = SYCL_SUCCESS});
	cuda_driver_exchange_mode(cuda, &making->mode);
	sycl_result result = native_call_here(making->handler, &scope);
	cuda_driver_exchange_mode(cuda, &making->mode);
	bool was_open = bridge_end_capture(cuda, making);
	if (result)
		return function_failed(result);
	return was_open
		       ? error_set(SYCL_ERROR_INVALID, "a native command left its stream capturing")
		       : SYCL_SUCCESS;
}

static sycl_result making_instantiate(const struct cuda_driver *cuda, const struct making *making,
				      cuda_graph_exec *exec_out)
{
	size_t count = 0;
	cuda_result result = cuda->cuGraphGetNodes(making->graph, NULL, &count);
	if (result == CUDA_OK && count > 0)
		result = cuda->cuGraphInstantiateWithFlags(exec_out, making->graph, 0);
	return result == CUDA_OK
		       ? SYCL_SUCCESS
		       : cuda_driver_error(result,
					   "what a native command has made cannot be launched");
}

static sycl_result make_exec(const struct cuda_driver *cuda, struct making *making,
			     cuda_graph_exec *exec_out)
{
	sycl_result result = bridge_open_memories(making->handler, making->memories);
	if (result)
		return result;
	cuda_result made = cuda->cuStreamCreate(&making->stream, CUDA_STREAM_NON_BLOCKING);
	if (made != CUDA_OK)
		return cuda_driver_error(made,
					 "a stream to capture with cannot be made in this process");
	made = cuda->cuGraphCreate(&making->graph, 0);
	if (made == CUDA_OK) {
		result = making_call_function(cuda, making);
		if (!result)
			result = making_instantiate(cuda, making, exec_out);
		(void)cuda->cuGraphDestroy(making->graph);
	} else {
		result = cuda_driver_error(
			made, "a graph for a native command cannot be made in this process");
	}
	/* The function must not send work to this stream. If it did, that work continues. */
	(void)cuda->cuStreamDestroy_v2(making->stream);
	return result;
}

static sycl_result making_enter_context(struct making *making, cuda_graph_exec *exec_out)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	cuda_context popped = NULL;
	cuda_result entered = cuda->cuCtxPushCurrent_v2(making->handler->bridge->context);
	if (entered != CUDA_OK)
		return cuda_driver_error(
			entered, "the CUDA context of a native command cannot be made current");
	making->mode = CUDA_CAPTURE_RELAXED;
	cuda_driver_exchange_mode(cuda, &making->mode);
	sycl_result result = make_exec(cuda, making, exec_out);
	cuda_driver_exchange_mode(cuda, &making->mode);
	(void)cuda->cuCtxPopCurrent_v2(&popped);
	return result;
}

/* ----------------------------------- life of a graph ------------------------------------ */

static void bridge_graph_list(struct bridge_graph *graph)
{
	struct bridge_context *context = graph->context;
	(void)pthread_mutex_lock(&graph->bridge->lock);
	graph->next = context->graphs;
	if (graph->next)
		graph->next->previous = graph;
	context->graphs = graph;
	(void)pthread_mutex_unlock(&graph->bridge->lock);
}

/* No thread releases the context from now on: the command has been counted. */
static sycl_result bridge_graph_check_context(const struct handler *handler)
{
	struct bridge *bridge = handler->object.connection->bridge;
	(void)pthread_mutex_lock(&bridge->lock);
	bool is_left = handler->bridge->is_left;
	(void)pthread_mutex_unlock(&bridge->lock);
	return is_left ? error_set(SYCL_ERROR_INVALID,
				   "another thread has released the last handle of the connection")
		       : SYCL_SUCCESS;
}

static sycl_result bridge_graph_new(const struct handler *handler, uint64_t *memories,
				    struct bridge_graph **graph_out)
{
	struct bridge_graph *graph = calloc(1, sizeof(*graph));
	if (!graph || !memories) {
		free(graph);
		return error_no_memory();
	}
	struct making making = {.handler = handler, .memories = memories};
	sycl_result result = making_enter_context(&making, &graph->exec);
	if (result) {
		free(graph);
		return result;
	}
	graph->references = 1;
	graph->context = handler->bridge;
	graph->bridge = handler->object.connection->bridge;
	bridge_graph_list(graph);
	*graph_out = graph;
	return SYCL_SUCCESS;
}

sycl_result bridge_graph_make(const struct handler *handler, struct bridge_graph **graph_out)
{
	struct bridge *bridge = handler->object.connection->bridge;
	struct failure before;
	sycl_result result = bridge_graph_check(handler);
	if (result)
		return result;
	error_get(&before);
	uint64_t *memories = calloc(handler->requirements.count + 1, sizeof(*memories));
	/* With this count the context stays, whatever handles other threads release meanwhile. */
	atomic_fetch_add_explicit(&bridge->commands, 1, memory_order_relaxed);
	result = bridge_graph_check_context(handler);
	if (!result)
		result = bridge_graph_new(handler, memories, graph_out);
	atomic_fetch_sub_explicit(&bridge->commands, 1, memory_order_release);
	free(memories);
	if (!result)
		error_note_failure(&before);
	return result;
}

struct bridge_graph *bridge_graph_hold(struct bridge_graph *graph)
{
	if (graph)
		atomic_fetch_add_explicit(&graph->references, 1, memory_order_relaxed);
	return graph;
}

cuda_result bridge_graph_launch(const struct bridge_graph *graph, cuda_stream stream)
{
	return graph->exec ? cuda_driver_get()->cuGraphLaunch(graph->exec, stream) : CUDA_OK;
}

/* With the lock. */
static void bridge_graph_unlist(struct bridge_graph *graph)
{
	if (graph->previous)
		graph->previous->next = graph->next;
	else
		graph->context->graphs = graph->next;
	if (graph->next)
		graph->next->previous = graph->previous;
}

/* With the lock, so that no thread releases the context meanwhile. */
static void bridge_graph_destroy(struct bridge_graph *graph)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	cuda_context popped = NULL;
	int mode = CUDA_CAPTURE_RELAXED;
	if (!graph->exec || graph->context->is_stuck ||
	    cuda->cuCtxPushCurrent_v2(graph->context->context) != CUDA_OK)
		return;
	cuda_driver_exchange_mode(cuda, &mode);
	(void)cuda->cuGraphExecDestroy(graph->exec);
	cuda_driver_exchange_mode(cuda, &mode);
	(void)cuda->cuCtxPopCurrent_v2(&popped);
}

void bridge_graph_drop(struct bridge_graph *graph)
{
	if (!graph || atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) != 1)
		return;
	(void)pthread_mutex_lock(&graph->bridge->lock);
	if (graph->context) {
		bridge_graph_unlist(graph);
		bridge_graph_destroy(graph);
	}
	(void)pthread_mutex_unlock(&graph->bridge->lock);
	free(graph);
}

void bridge_graphs_leave(struct bridge_context *context, bool is_there)
{
	for (struct bridge_graph *graph = context->graphs; graph; graph = graph->next) {
		if (graph->exec && is_there)
			(void)cuda_driver_get()->cuGraphExecDestroy(graph->exec);
		graph->exec = NULL;
		graph->context = NULL;
	}
	context->graphs = NULL;
}
