#include "opencl/lane/graph.h"

#include "opencl/driver/device_clock.h"
#include "opencl/driver/fault.h"
#include "opencl/lane/native_command.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 8u

static int invalid_graph(struct backend_fault *fault_out, const char *what)
{
	opencl_fault_words(fault_out, STATUS_INVALID, "%s", what);
	return -EINVAL;
}

int opencl_graphs_open(struct backend_device *device, struct backend_fault *fault_out)
{
	if (!(device->facts->features & BACKEND_FEATURE_GRAPH))
		return 0;
	struct opencl_graphs *graphs = calloc(1, sizeof(*graphs));
	if (!graphs)
		return opencl_no_memory(fault_out, "a graph");
	if (opencl_command_buffers_find(device->cl, device->id, &graphs->buffers) < 0) {
		free(graphs);
		return invalid_graph(fault_out, "the device has lost its command buffers");
	}
	device->graphs = graphs;
	return 0;
}

/* The queue is made with the first graph, because it holds its context, which may be the
 * application's. */
static int graph_need_queue(struct backend_device *device, struct backend_fault *fault_out)
{
	cl_int code = CL_SUCCESS;

	if (device->graphs->queue)
		return 0;
	device->graphs->queue = opencl_queue_create(device->cl, device->context, device->id,
						    device->profiling, &code);
	return device->graphs->queue ? 0
				     : opencl_fault_code(fault_out, code, "make a command queue");
}

void opencl_graphs_close(struct backend_device *device)
{
	if (device->graphs && device->graphs->queue)
		(void)device->cl->ReleaseCommandQueue(device->graphs->queue);
	free(device->graphs);
	device->graphs = NULL;
}

int opencl_graph_create(struct backend_device *device, struct backend_graph **graph_out,
			struct backend_fault *fault_out)
{
	static const cl_command_buffer_properties_khr properties[] = {
		CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
	cl_int code = CL_SUCCESS;

	if (!device->graphs)
		return opencl_node_refuse(fault_out,
					  "a command of a device without command buffers");
	int error = graph_need_queue(device, fault_out);
	if (error < 0)
		return error;
	struct backend_graph *graph = calloc(1, sizeof(*graph));
	if (!graph)
		return opencl_no_memory(fault_out, "a graph");
	graph->device = device;
	graph->buffer =
		device->graphs->buffers.create(1, &device->graphs->queue, properties, &code);
	if (!graph->buffer) {
		free(graph);
		return opencl_fault_code(fault_out, code, "make a command buffer");
	}
	*graph_out = graph;
	return 0;
}

void opencl_graph_free(struct backend_graph *graph)
{
	if (!graph)
		return;
	(void)graph->device->graphs->buffers.release(graph->buffer);
	for (uint32_t i = 0; i < graph->node_count; i++)
		opencl_node_clear(graph->device, &graph->nodes[i]);
	free(graph->nodes);
	free(graph->growths);
	free(graph);
}

/* -------------------------------------- recording --------------------------------------- */

static int reserve_nodes(struct backend_graph *graph, uint32_t more,
			 struct backend_fault *fault_out)
{
	uint64_t wanted = graph->node_capacity ? graph->node_capacity : FIRST_CAPACITY;

	while (wanted < (uint64_t)graph->node_count + more)
		wanted *= 2;
	if (wanted > UINT32_MAX)
		return opencl_no_memory(fault_out, "a graph");
	if (wanted > graph->node_capacity) {
		struct opencl_node *nodes = reallocarray(graph->nodes, wanted, sizeof(*nodes));
		if (!nodes)
			return opencl_no_memory(fault_out, "a graph");
		graph->nodes = nodes;
		graph->node_capacity = (uint32_t)wanted;
	}
	return 0;
}

static cl_int record_graph(const struct backend_graph *graph, const struct opencl_node *node)
{
	const struct opencl_command_buffers *buffers = &graph->device->graphs->buffers;
	const struct opencl_geometry *geometry = &node->geometry;

	switch (node->kind) {
	case OPENCL_NODE_LAUNCH:
		return buffers->launch(
			graph->buffer, NULL, NULL, node->prepared, geometry->dimensions,
			geometry->has_offset ? geometry->offset : NULL, geometry->global,
			geometry->has_local ? geometry->local : NULL, 0, NULL, NULL, NULL);
	case OPENCL_NODE_COPY:
		if (node->is_box)
			return opencl_command_copy_box(buffers, graph->buffer, node->source,
						       node->destination, &node->box);
		return opencl_command_copy(buffers, graph->buffer, node->source, node->destination,
					   node->box.source_origin[0],
					   node->box.destination_origin[0], node->size);
	case OPENCL_NODE_FILL:
		return opencl_command_fill(buffers, graph->buffer, node->destination, node->pattern,
					   node->pattern_bytes, node->offset, node->size);
	case OPENCL_NODE_EMPTY:
	case OPENCL_NODE_NATIVE:
		break;
	}
	return CL_SUCCESS;
}

static int opencl_add_plain(struct backend_graph *graph, const struct backend_command *command,
			    struct backend_fault *fault_out)
{
	struct opencl_node node = {.kind = OPENCL_NODE_EMPTY};

	int error = reserve_nodes(graph, 1, fault_out);
	if (error == 0)
		error = opencl_node_make(graph->device, command, &node, fault_out);
	if (error < 0)
		return error;
	cl_int code = record_graph(graph, &node);
	if (code != CL_SUCCESS) {
		opencl_node_clear(graph->device, &node);
		return opencl_fault_code(fault_out, code, "record a command");
	}
	graph->nodes[graph->node_count++] = node;
	return 0;
}

/* Adds the nodes of another graph. A part that was recorded cannot be removed, so after a failure
 * the graph cannot be used any more. */
static int add_graph(struct backend_graph *graph, const struct backend_graph *child,
		     struct backend_fault *fault_out)
{
	if (!child || child == graph || !child->is_finished || child->device != graph->device)
		return invalid_graph(
			fault_out,
			"a graph that becomes a node must be finished, and belong to the same device");
	if (child->has_native)
		return opencl_node_refuse(fault_out, "a graph with a native command");
	int error = reserve_nodes(graph, child->node_count, fault_out);
	for (uint32_t i = 0; error == 0 && i < child->node_count; i++) {
		struct opencl_node node;
		cl_int code = record_graph(graph, &child->nodes[i]);
		if (code == CL_SUCCESS)
			error = opencl_node_copy(graph->device, &child->nodes[i], &node);
		else
			error = opencl_fault_code(fault_out, code, "record a graph");
		graph->is_broken |= error < 0;
		if (error == 0)
			graph->nodes[graph->node_count++] = node;
	}
	return error;
}

/* K15 - K17: the function is called once, and the commands that it records lie between barriers. */
static int add_native(struct backend_graph *graph, const struct backend_command *command,
		      struct backend_fault *fault_out)
{
	struct backend_device *device = graph->device;
	const struct opencl_command_buffers *buffers = &device->graphs->buffers;

	int error = reserve_nodes(graph, 1, fault_out);
	uint64_t *memories = opencl_native_memories(command);
	if (error < 0 || !memories) {
		free(memories);
		return error < 0 ? error : opencl_no_memory(fault_out, "a graph");
	}
	const struct backend_native_scope scope = {
		.device = (uint64_t)(uintptr_t)device->id,
		.context = (uint64_t)(uintptr_t)device->context,
		.queue = (uint64_t)(uintptr_t)device->graphs->queue,
		.graph = (uint64_t)(uintptr_t)graph->buffer,
		.memories = memories,
		.memory_count = command->native.memory_count,
	};
	cl_int code = opencl_command_barrier(buffers, graph->buffer);
	if (code == CL_SUCCESS && command->native.function(command->native.context, &scope) != 0) {
		free(memories);
		/* Recorded commands cannot be undone, and a function that fails may have recorded
		 * only some of its commands. */
		graph->is_broken = true;
		return invalid_graph(fault_out, "a native command failed");
	}
	free(memories);
	if (code == CL_SUCCESS)
		code = opencl_command_barrier(buffers, graph->buffer);
	if (code != CL_SUCCESS) {
		graph->is_broken = true;
		return opencl_fault_code(fault_out, code, "record a barrier");
	}
	graph->has_native = true;
	graph->nodes[graph->node_count++] = (struct opencl_node){.kind = OPENCL_NODE_NATIVE};
	return 0;
}

int opencl_graph_add(struct backend_graph *graph, const struct backend_command *command,
		     const uint32_t *after, uint32_t after_count, uint32_t *node_out,
		     struct backend_fault *fault_out)
{
	int error;

	if (graph->is_finished)
		return invalid_graph(fault_out, "a finished graph takes no more nodes");
	for (uint32_t i = 0; i < after_count; i++)
		if (after[i] >= graph->count)
			return invalid_graph(fault_out,
					     "a node waits for a node that does not exist");
	if (command->kind == BACKEND_COMMAND_GRAPH)
		error = add_graph(graph, command->graph, fault_out);
	else if (command->kind == BACKEND_COMMAND_NATIVE)
		error = add_native(graph, command, fault_out);
	else
		error = opencl_add_plain(graph, command, fault_out);
	if (error < 0)
		return error;
	*node_out = graph->count++;
	return 0;
}

/* Collects the needs of the launches. Each kernel with one work-group size has one need. */
static int find_growths(struct backend_graph *graph, struct backend_fault *fault_out)
{
	graph->growths = calloc(graph->node_count + 1u, sizeof(*graph->growths));
	if (!graph->growths)
		return opencl_no_memory(fault_out, "a graph");
	for (uint32_t n = 0; n < graph->node_count; n++) {
		struct opencl_growth_user user = {.growth = NULL};
		uint32_t i = 0;
		if (graph->nodes[n].kind == OPENCL_NODE_LAUNCH &&
		    opencl_growth_find(graph->nodes[n].kernel, &graph->nodes[n].geometry, &user) <
			    0)
			return opencl_no_memory(fault_out, "a graph");
		if (!user.growth)
			continue;
		while (i < graph->growth_count && graph->growths[i].growth != user.growth)
			i++;
		if (i < graph->growth_count)
			opencl_growth_merge(&graph->growths[i].need, &user.need);
		else
			graph->growths[graph->growth_count++] = user;
	}
	return 0;
}

int opencl_graph_finish(struct backend_graph *graph, bool updatable,
			struct backend_fault *fault_out)
{
	(void)updatable; /* no driver can change recorded commands so far */
	if (graph->is_finished || graph->is_broken)
		return invalid_graph(fault_out, graph->is_broken
							? "a part of the graph was not recorded"
							: "the graph is finished already");
	int error = graph->growths ? 0 : find_growths(graph, fault_out);
	if (error < 0)
		return error;
	cl_int code = graph->device->graphs->buffers.finalize(graph->buffer);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "finish a command buffer");
	graph->is_finished = true;
	return 0;
}

/* -------------------------------------- launching --------------------------------------- */

/* The leaders are noted only when the graph is sent, so a second loop follows then. */
static int join_growths(struct backend_lane *lane, struct backend_graph *graph,
			struct opencl_waits *waits, bool *leads)
{
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < graph->growth_count; i++)
		error = opencl_growth_join(lane, &graph->growths[i], waits, &leads[i]);
	return error;
}

int opencl_graph_send(struct backend_lane *lane, struct backend_graph *graph,
		      struct opencl_waits *waits, cl_event *event_out, cl_event *start_out,
		      struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	cl_command_queue queue = lane->queue;
	cl_event start = NULL;

	if (!graph || !graph->is_finished || graph->device != lane->device)
		return invalid_graph(fault_out, "a finished graph of this device is launched");
	CLEANUP(free_pointer) bool *leads = calloc(graph->growth_count + 1u, sizeof(bool));
	if (!leads || join_growths(lane, graph, waits, leads) < 0)
		return opencl_no_memory(fault_out, "a graph");
	cl_int code = cl->EnqueueMarkerWithWaitList(queue, waits->count, waits->events, &start);
	if (code == CL_SUCCESS)
		code = lane->device->graphs->buffers.enqueue(1, &queue, graph->buffer, 0, NULL,
							     event_out);
	if (code != CL_SUCCESS) {
		if (start)
			(void)cl->ReleaseEvent(start);
		return opencl_fault_code(fault_out, code, "launch a graph");
	}
	for (uint32_t i = 0; i < graph->growth_count; i++)
		if (leads[i])
			opencl_growth_led(lane->device, &graph->growths[i], *event_out);
	*start_out = start;
	return 0;
}
