/* Graphs that can be launched: made from a graph that can be changed, with its sub-graphs put in
 * place, and sent once (L1, L14). */
#include "graph/executable_graph.h"

#include "access_mode.h"
#include "memory/own_pages.h"
#include "interop/bridge.h"
#include "interop/native_commands.h"
#include "protocol_limits.h"

#include <stdlib.h>

/* Edges that are sent with a node; further edges follow in records of their own. */
#define EDGES_WITH_NODE 256u

void graph_flattened_fini(struct executable_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++) {
		/* Before memory that the native graph names is closed. */
		bridge_graph_drop(graph->nodes[i].native_graph);
		if (graph->nodes[i].handler)
			object_unref(&graph->nodes[i].handler->object);
	}
	free(graph->nodes);
	free(graph->edges);
	free(graph->place);
}

static void executable_graph_destroy(struct object *object)
{
	struct executable_graph *graph = (struct executable_graph *)object;
	remote_release(object->connection, &graph->remote);
	free(graph->remote.why);
	graph_flattened_fini(graph);
	object_unref(&graph->device->object);
	object_unref(&graph->context->object);
	object_delete(object);
}

/* Adds one node without edges. The node takes a reference of its own. */
static sycl_result executable_graph_add_node(struct executable_graph *to, struct handler *handler)
{
	if (to->count == GRAPH_NODES_MAX)
		return error_set(SYCL_ERROR_QUOTA,
				 "a graph may have at most %u nodes, with those of its sub-graphs",
				 GRAPH_NODES_MAX);
	if (to->count == to->capacity) {
		uint32_t capacity = to->capacity ? to->capacity * 2 : 16;
		struct executable_node *nodes = realloc(to->nodes, capacity * sizeof(*nodes));
		if (!nodes)
			return error_no_memory();
		to->nodes = nodes;
		to->capacity = capacity;
	}
	to->nodes[to->count++] = (struct executable_node){
		.handler = handler,
		.first_edge = to->edge_count,
		.is_host_task = handler && handler->action == HANDLER_ACTION_HOST_TASK,
		.is_native = handler && handler->action == HANDLER_ACTION_NATIVE,
	};
	if (handler)
		object_ref(&handler->object);
	return SYCL_SUCCESS;
}

/* Adds an edge from node `before` to the latest node. */
static sycl_result append_edge(struct executable_graph *to, uint32_t before)
{
	if (to->edge_count == GRAPH_EDGES_MAX)
		return error_set(SYCL_ERROR_QUOTA,
				 "a graph may have at most %u edges, with those of its sub-graphs",
				 GRAPH_EDGES_MAX);
	if (to->edge_count == to->edge_capacity) {
		uint32_t capacity = to->edge_capacity ? to->edge_capacity * 2 : 16;
		uint32_t *edges = realloc(to->edges, capacity * sizeof(*edges));
		if (!edges)
			return error_no_memory();
		to->edges = edges;
		to->edge_capacity = capacity;
	}
	to->edges[to->edge_count++] = before;
	to->nodes[to->count - 1].edge_count++;
	to->nodes[before].has_successor = true;
	return SYCL_SUCCESS;
}

/* The nodes that stand for one node of the graph. */
struct span {
	uint32_t first, count;
	bool is_subgraph;
};

/* Adds edges from all predecessors of the item. Of a sub-graph these are the nodes that no other
 * node inside follows. */
static sycl_result add_outer_edges(struct executable_graph *to, const struct graph *graph,
				   uint32_t item, const struct span *spans, const bool *last)
{
	const struct graph_edge_list *before = &graph->edges.nodes[item].before;
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < before->count && !result; i++) {
		struct span span = spans[before->nodes[i]];
		for (uint32_t node = span.first; node < span.first + span.count && !result;
		     node++) {
			if (last[node])
				result = append_edge(to, node);
		}
	}
	return result;
}

/* Adds a copy of a node of another executable graph, `deeper` by so many bodies, with its edges
 * inside that graph. */
static sycl_result flattened_add_copy(struct executable_graph *to, uint32_t base,
				      const struct executable_graph *from, uint32_t index,
				      uint32_t deeper)
{
	const struct executable_node *node = &from->nodes[index];
	sycl_result result = executable_graph_add_node(to, node->handler);
	if (result)
		return result;
	to->nodes[base + index].body_count = node->body_count;
	to->nodes[base + index].depth = node->depth + deeper;
	for (uint32_t edge = 0; edge < node->edge_count && !result; edge++)
		result = append_edge(to, base + from->edges[node->first_edge + edge]);
	return result;
}

static sycl_result add_subgraph(struct executable_graph *to, const struct graph *graph,
				uint32_t item, const struct span *spans, bool *last)
{
	const struct executable_graph *from = graph->items[item].handler->graph;
	uint32_t base = to->count;
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < from->count && !result; i++) {
		const struct executable_node *node = &from->nodes[i];
		result = flattened_add_copy(to, base, from, i, 0);
		if (result)
			return result;
		last[base + i] = !node->has_successor && node->depth == 0;
		if (node->edge_count == 0 && node->depth == 0)
			result = add_outer_edges(to, graph, item, spans, last);
	}
	return result;
}

/* Adds a body behind its condition. Outside, the condition represents the body. */
static sycl_result add_body(struct executable_graph *to, const struct executable_graph *body)
{
	uint32_t base = to->count;
	sycl_result result = SYCL_SUCCESS;
	to->nodes[base - 1].body_count = body->count;
	for (uint32_t i = 0; i < body->count && !result; i++)
		result = flattened_add_copy(to, base, body, i, 1);
	return result;
}

static sycl_result flattened_add_item(struct executable_graph *to, const struct graph *graph,
				      uint32_t item, struct span *spans, bool *last)
{
	struct handler *handler = graph->items[item].handler;
	bool subgraph =
		handler && handler->action == HANDLER_ACTION_GRAPH && handler->graph->count > 0;
	spans[item].first = to->count;
	sycl_result result = SYCL_SUCCESS;
	if (subgraph) {
		result = add_subgraph(to, graph, item, spans, last);
	} else {
		bool empty = handler && handler->action == HANDLER_ACTION_GRAPH;
		result = executable_graph_add_node(to, empty ? NULL : handler);
		if (!result)
			last[to->count - 1] = true;
		if (!result)
			result = add_outer_edges(to, graph, item, spans, last);
		if (!result && handler && handler->action == HANDLER_ACTION_CONDITION)
			result = add_body(to, handler->graph);
	}
	spans[item].count = to->count - spans[item].first;
	return result;
}

sycl_result graph_flatten(const struct graph *graph, struct executable_graph *to)
{
	uint32_t count = graph->edges.count;
	CLEANUP(free_pointer) uint32_t *order = malloc((count ? count : 1) * sizeof(*order));
	CLEANUP(free_pointer) struct span *spans = calloc(count ? count : 1, sizeof(*spans));
	/* for each node: no other node of the same item follows it */
	CLEANUP(free_pointer) bool *last = calloc(GRAPH_NODES_MAX, sizeof(*last));
	to->place = malloc((count ? count : 1) * sizeof(*to->place));
	if (!order || !spans || !last || !to->place || graph_edges_order(&graph->edges, order) < 0)
		return error_no_memory();
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < count && !result; i++)
		result = flattened_add_item(to, graph, order[i], spans, last);
	for (uint32_t i = 0; i < count && !result; i++)
		to->place[i] = spans[i].first;
	to->place_count = count;
	for (uint32_t i = 0; i < to->count; i++)
		to->host_count += to->nodes[i].is_host_task;
	for (uint32_t i = 0; i < to->count; i++)
		to->native_count += to->nodes[i].is_native;
	for (uint32_t i = 0; i < to->count; i++)
		to->condition_count += to->nodes[i].body_count > 0;
	return result;
}

sycl_result graph_node_message(struct group_messages *messages, const struct handler *handler)
{
	if (!handler) {
		sycl__v1__command_group__init(&messages->group);
		return SYCL_SUCCESS;
	}
	struct handler view = *handler;
	view.depends_on.count = 0; /* dependencies are edges of the graph */
	sycl_result result = group_messages_fill(messages, &view);
	/* The view points into the handler's lists, and to its own copies of these. */
	messages->launch.global = (uint64_t *)(uintptr_t)handler->global;
	messages->launch.local = (uint64_t *)(uintptr_t)handler->local;
	messages->launch.offset = (uint64_t *)(uintptr_t)handler->offset.size;
	messages->fill.pattern.data = (uint8_t *)(uintptr_t)handler->pattern;
	messages->usm_fill.pattern.data = (uint8_t *)(uintptr_t)handler->pattern;
	messages->group.queue = 0;
	messages->group.after_all = false;
	return result;
}

static sycl_result send_edges(const struct executable_graph *graph,
			      const struct executable_node *node, uint32_t sent)
{
	sycl_result result = SYCL_SUCCESS;
	while (sent < node->edge_count && !result) {
		uint32_t count = node->edge_count - sent;
		Sycl__V1__GraphEdges edges = SYCL__V1__GRAPH_EDGES__INIT;
		edges.graph = graph->remote.id;
		edges.n_after = count < GRAPH_EDGES_SENT_MAX ? count : GRAPH_EDGES_SENT_MAX;
		edges.after = graph->edges + node->first_edge + sent;
		Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
		command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_EDGES;
		command.graph_edges = &edges;
		result = connection_send(graph->object.connection, &command);
		sent += (uint32_t)edges.n_after;
	}
	return result;
}

static sycl_result send_node(const struct executable_graph *graph,
			     const struct executable_node *node)
{
	CLEANUP(group_messages_fini) struct group_messages messages;
	messages.block = messages.small;
	messages.lent = NULL;
	sycl_result result = graph_node_message(&messages, node->handler);
	if (result)
		return result;
	struct native_call *call = NULL;
	if (node->is_native)
		result = native_call_new(graph->object.connection, node->handler, &call);
	if (result)
		return result;
	if (call)
		messages.native.context = native_call_context(call);
	messages.condition.body_nodes = node->body_count;
	uint32_t with_node = node->edge_count <= EDGES_WITH_NODE ? node->edge_count : 0;
	Sycl__V1__GraphNode message = SYCL__V1__GRAPH_NODE__INIT;
	message.graph = graph->remote.id;
	message.group = &messages.group;
	message.n_after = with_node;
	message.after = graph->edges ? graph->edges + node->first_edge : NULL;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_NODE;
	command.graph_node = &message;
	result = connection_send(graph->object.connection, &command);
	if (result)
		native_call_discard(call);
	return result ? result : send_edges(graph, node, with_node);
}

/* Copies the first contents of the handler's buffers to where the service reads them. From then on,
 * a buffer that the graph writes has the contents that launches have written. */
static void flattened_settle_buffers(const struct handler *handler)
{
	for (uint32_t i = 0; handler && i < handler->requirements.count; i++) {
		const struct handler_requirement *requirement = handler_requirement_at(handler, i);
		struct buffer *root = buffer_root(requirement->buffer);
		own_pages_settle(root);
		atomic_store_explicit(&root->used, 1, memory_order_relaxed);
		if (access_mode_writes(requirement->mode))
			atomic_store_explicit(&root->modified, 1, memory_order_relaxed);
	}
}

/* Calls native commands through a service before the service gets the graph (K15). An engine in
 * this process calls them itself. */
static sycl_result call_natives(struct executable_graph *graph)
{
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < graph->count && !result; i++) {
		struct executable_node *node = &graph->nodes[i];
		if (node->handler && node->handler->native && node->handler->bridge)
			result = bridge_graph_make(node->handler, &node->native_graph);
	}
	return result;
}

static sycl_result executable_graph_send_nodes(const struct executable_graph *graph)
{
	struct connection *c = graph->object.connection;
	Sycl__V1__GraphCreate create = SYCL__V1__GRAPH_CREATE__INIT;
	create.graph = graph->remote.id;
	create.context = graph->context->remote.id;
	create.device = graph->device->facts->device;
	create.nodes = graph->count;
	create.updatable = (graph->flags & SYCL_GRAPH_UPDATABLE) != 0;
	create.profiling = (graph->flags & SYCL_GRAPH_ENABLE_PROFILING) != 0;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_CREATE;
	command.graph_create = &create;
	sycl_result result = connection_send(c, &command);
	for (uint32_t i = 0; i < graph->count && !result; i++) {
		flattened_settle_buffers(graph->nodes[i].handler);
		result = send_node(graph, &graph->nodes[i]);
	}
	if (result)
		return result;
	Sycl__V1__GraphFinish finish = SYCL__V1__GRAPH_FINISH__INIT;
	finish.graph = graph->remote.id;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_FINISH;
	command.graph_finish = &finish;
	if (graph->native_count == 0)
		return connection_send(c, &command);
	/* When the request returns, the functions of native commands have been called (K15). */
	struct pending pending = {.take = NULL};
	finish.wants_answer = true;
	return connection_request(c, &command, &pending, UINT64_MAX);
}

static sycl_result executable_graph_make(struct graph *from, uint32_t flags,
					 struct executable_graph **graph_out)
{
	struct connection *c = from->object.connection;
	struct executable_graph *graph = object_new(sizeof(*graph), c);
	if (!graph)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	if (handle_create(&graph->object, HANDLE_EXECUTABLE_GRAPH, executable_graph_destroy) < 0) {
		object_delete(&graph->object);
		return error_no_memory();
	}
	graph->context = from->context;
	graph->device = from->device;
	object_ref(&from->context->object);
	object_ref(&from->device->object);
	graph->flags = flags;
	graph->origin = from->number;
	(void)pthread_mutex_lock(&c->graph_lock);
	sycl_result result = graph_flatten(from, graph);
	if (!result)
		result = graph_check_flattened(graph);
	if (!result)
		result = graph_check_conditions(graph);
	(void)pthread_mutex_unlock(&c->graph_lock);
	if (!result)
		result = call_natives(graph);
	if (!result)
		result = remote_name(c, OBJECT_GRAPH, &graph->remote);
	if (!result)
		result = executable_graph_send_nodes(graph);
	if (!result) {
		*graph_out = graph;
		return SYCL_SUCCESS;
	}
	struct failure why;
	error_get(&why);
	object_unref(&graph->object);
	return error_set_failure(&why);
}

SYCL_API sycl_result sycl_graph_finalize(sycl_graph handle,
					 const struct sycl_graph_finalize_properties *properties,
					 sycl_executable_graph *graph_out)
{
	PIN(graph, graph, handle);
	REQUIRE_OUTPUT(graph_out);
	const uint32_t all = SYCL_GRAPH_UPDATABLE | SYCL_GRAPH_ENABLE_PROFILING;
	if (properties &&
	    (properties->struct_bytes != sizeof(*properties) || properties->flags & ~all))
		return error_set(SYCL_ERROR_INVALID,
				 "properties: struct_bytes or flags are wrong; start from "
				 "SYCL_GRAPH_FINALIZE_PROPERTIES_INIT");
	struct executable_graph *made = NULL;
	sycl_result result =
		executable_graph_make(graph, properties ? properties->flags : 0, &made);
	if (!result)
		*graph_out = handle_of(&made->object);
	return result;
}

SYCL_API sycl_result sycl_executable_graph_retain(sycl_executable_graph graph)
{
	return handle_retain(graph, HANDLE_EXECUTABLE_GRAPH);
}

SYCL_API sycl_result sycl_executable_graph_release(sycl_executable_graph graph)
{
	return handle_release(graph, HANDLE_EXECUTABLE_GRAPH);
}

SYCL_API sycl_result sycl_executable_graph_get_reference_count(sycl_executable_graph graph,
							       uint32_t *count_out)
{
	return handle_get_reference_count(graph, HANDLE_EXECUTABLE_GRAPH, count_out);
}

SYCL_API sycl_result sycl_executable_graph_is_updatable(sycl_executable_graph handle,
							uint32_t *updatable_out)
{
	PIN(executable_graph, graph, handle);
	REQUIRE_OUTPUT(updatable_out);
	*updatable_out = graph->flags & SYCL_GRAPH_UPDATABLE ? 1 : 0;
	return SYCL_SUCCESS;
}
