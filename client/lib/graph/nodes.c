/* The nodes of a graph: nodes that the program adds or that are recorded, their order and their
 * types. */
#include "graph/command_graph.h"

#include "protocol_limits.h"

#include <errno.h>
#include <stdlib.h>

sycl_graph_node_type graph_type_of(const struct handler *handler)
{
	switch (handler->action) {
	case HANDLER_ACTION_LAUNCH:
		return SYCL_GRAPH_NODE_KERNEL;
	case HANDLER_ACTION_COPY:
	case HANDLER_ACTION_UPDATE:
	case HANDLER_ACTION_USM_COPY:
		return SYCL_GRAPH_NODE_MEMCPY;
	case HANDLER_ACTION_FILL:
	case HANDLER_ACTION_USM_FILL:
		return SYCL_GRAPH_NODE_MEMSET;
	case HANDLER_ACTION_RECORD_EVENT:
	case HANDLER_ACTION_WAIT_EVENT:
		return SYCL_GRAPH_NODE_EVENT;
	case HANDLER_ACTION_HOST_TASK:
		return handler->native ? SYCL_GRAPH_NODE_NATIVE_COMMAND : SYCL_GRAPH_NODE_HOST_TASK;
	case HANDLER_ACTION_USM_PREFETCH:
		return SYCL_GRAPH_NODE_PREFETCH;
	case HANDLER_ACTION_USM_ADVISE:
		return SYCL_GRAPH_NODE_MEMADVISE;
	case HANDLER_ACTION_GRAPH:
		return SYCL_GRAPH_NODE_SUBGRAPH;
	case HANDLER_ACTION_CONDITION:
		return SYCL_GRAPH_NODE_CONDITIONAL;
	case HANDLER_ACTION_NATIVE:
		return SYCL_GRAPH_NODE_NATIVE_COMMAND;
	case HANDLER_ACTION_NONE:
		break;
	}
	return handler->after_all ? SYCL_GRAPH_NODE_BARRIER : SYCL_GRAPH_NODE_EMPTY;
}

sycl_result graph_connect_nodes(struct graph *graph, uint32_t before, uint32_t after)
{
	int r = graph_edges_connect(&graph->edges, before, after, GRAPH_EDGES_MAX);
	if (r == -ELOOP)
		return error_set(SYCL_ERROR_INVALID,
				 "an edge between nodes %u and %u would make a cycle", before + 1,
				 after + 1);
	if (r == -EDQUOT)
		return error_set(SYCL_ERROR_QUOTA, "a graph may have at most %u edges",
				 GRAPH_EDGES_MAX);
	return r < 0 ? error_no_memory() : SYCL_SUCCESS;
}

static sycl_result graph_make_room(struct graph *graph)
{
	if (graph->edges.count >= GRAPH_NODES_MAX)
		return error_set(SYCL_ERROR_QUOTA, "a graph may have at most %u nodes",
				 GRAPH_NODES_MAX);
	if (graph->edges.count < graph->capacity)
		return SYCL_SUCCESS;
	uint32_t capacity = graph->capacity ? graph->capacity * 2 : 16;
	struct graph_item *items = realloc(graph->items, capacity * sizeof(*items));
	if (!items)
		return error_no_memory();
	graph->items = items;
	graph->capacity = capacity;
	return SYCL_SUCCESS;
}

sycl_result graph_add_node(struct graph *graph, const struct graph_addition *addition,
			   uint32_t *node_out)
{
	uint32_t node = graph->edges.count;
	sycl_result result = graph_make_room(graph);
	if (result)
		return result;
	if (graph_edges_add(&graph->edges) < 0)
		return error_no_memory();
	for (uint32_t i = 0; i < addition->before_count && !result; i++)
		result = graph_connect_nodes(graph, addition->before[i], node);
	if (!result && addition->handler)
		result = graph_accesses_connect(graph, node, addition->handler);
	if (result) {
		graph_edges_drop_last(&graph->edges);
		return result;
	}
	if (addition->handler)
		graph_accesses_enter(graph, node, addition->handler);
	graph->items[node] =
		(struct graph_item){addition->type, addition->handler, addition->recorded_from};
	*node_out = node;
	return SYCL_SUCCESS;
}

sycl_result graph_event_nodes(const struct graph *graph, const struct handler *handler,
			      uint32_t *nodes)
{
	for (uint32_t i = 0; i < handler->depends_on.count; i++) {
		const struct event *event = handler_dependency_at(handler, i)->event;
		if (event->graph != graph->number)
			return error_set(SYCL_ERROR_INVALID,
					 "a node of a graph depends on an event of %s",
					 event->graph ? "another graph" : "no graph");
		nodes[i] = event->node;
	}
	return SYCL_SUCCESS;
}

sycl_result graph_check_node(const struct graph *graph, sycl_graph_node node)
{
	if (node == 0 || node > graph->edges.count)
		return error_set(SYCL_ERROR_INVALID, "the graph has no node %u: there are %u", node,
				 graph->edges.count);
	return SYCL_SUCCESS;
}

/* The given predecessors, then those of the handler's events; malloc'ed. */
static sycl_result gather_predecessors(const struct graph *graph, const struct handler *handler,
				       uint32_t count, const sycl_graph_node *predecessors,
				       uint32_t **nodes_out)
{
	uint32_t events = handler ? handler->depends_on.count : 0;
	for (uint32_t i = 0; i < count; i++) {
		sycl_result result = graph_check_node(graph, predecessors[i]);
		if (result)
			return result;
	}
	uint32_t *nodes = malloc(((size_t)count + events + 1) * sizeof(*nodes));
	if (!nodes)
		return error_no_memory();
	for (uint32_t i = 0; i < count; i++)
		nodes[i] = predecessors[i] - 1;
	sycl_result result =
		handler ? graph_event_nodes(graph, handler, nodes + count) : SYCL_SUCCESS;
	if (result)
		free(nodes);
	else
		*nodes_out = nodes;
	return result;
}

/* `kept`: NULL, or a reference that the graph takes. */
static sycl_result node_add_kept(struct graph *graph, struct handler *kept, uint32_t count,
				 const sycl_graph_node *predecessors, sycl_graph_node *node_out)
{
	struct connection *c = graph->object.connection;
	if (count > 0 && !predecessors)
		return error_set(SYCL_ERROR_INVALID, "a list of %u nodes is NULL", count);
	uint32_t *nodes = NULL, node = 0;
	(void)pthread_mutex_lock(&c->graph_lock);
	sycl_result result = gather_predecessors(graph, kept, count, predecessors, &nodes);
	if (!result) {
		const struct graph_addition addition = {
			.handler = kept,
			.type = kept ? graph_type_of(kept) : SYCL_GRAPH_NODE_EMPTY,
			.before = nodes,
			.before_count = count + (kept ? kept->depends_on.count : 0),
		};
		result = graph_add_node(graph, &addition, &node);
	}
	(void)pthread_mutex_unlock(&c->graph_lock);
	free(nodes);
	if (!result && node_out)
		*node_out = node + 1;
	return result;
}

static sycl_result check_handler(const struct graph *graph, const struct handler *handler)
{
	sycl_result result = graph_check_place(graph, handler->queue);
	if (!result)
		result = handler_validate(handler, false);
	if (!result)
		result = graph_check_buffers(handler);
	return result;
}

static sycl_result add_handler(struct graph *graph, struct handler *handler, uint32_t count,
			       const sycl_graph_node *predecessors, sycl_graph_node *node_out)
{
	struct handler *kept = NULL;
	sycl_result result = check_handler(graph, handler);
	if (!result)
		result = graph_keep(handler, handler, &kept);
	if (result)
		return result;
	result = node_add_kept(graph, kept, count, predecessors, node_out);
	if (!result)
		return result;
	struct failure why;
	error_get(&why);
	object_unref(&kept->object);
	return error_set_failure(&why);
}

SYCL_API sycl_result sycl_graph_add(sycl_graph handle, sycl_handler handler_handle, uint32_t count,
				    const sycl_graph_node *predecessors, sycl_graph_node *node_out)
{
	PIN(handler, handler, handler_handle);
	CLEANUP(graph_unpin) struct graph *graph = NULL;
	sycl_result result = graph_pin(handle, &graph);
	if (!result)
		result = add_handler(graph, handler, count, predecessors, node_out);
	struct failure why;
	error_get(&why);
	sycl_result taken = object_take(&handler->object);
	connection_handle_released(handler->object.connection);
	return result ? error_set_failure(&why) : taken;
}

SYCL_API sycl_result sycl_graph_add_empty(sycl_graph handle, uint32_t count,
					  const sycl_graph_node *predecessors,
					  sycl_graph_node *node_out)
{
	PIN(graph, graph, handle);
	return node_add_kept(graph, NULL, count, predecessors, node_out);
}

SYCL_API sycl_result sycl_graph_make_edge(sycl_graph handle, sycl_graph_node predecessor,
					  sycl_graph_node successor)
{
	PIN(graph, graph, handle);
	struct connection *c = graph->object.connection;
	(void)pthread_mutex_lock(&c->graph_lock);
	sycl_result result = graph_check_node(graph, predecessor);
	if (!result)
		result = graph_check_node(graph, successor);
	if (!result)
		result = graph_connect_nodes(graph, predecessor - 1, successor - 1);
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

SYCL_API sycl_result sycl_graph_get_node_count(sycl_graph handle, uint32_t *count_out)
{
	PIN(graph, graph, handle);
	REQUIRE_OUTPUT(count_out);
	struct connection *c = graph->object.connection;
	(void)pthread_mutex_lock(&c->graph_lock);
	*count_out = graph->edges.count;
	(void)pthread_mutex_unlock(&c->graph_lock);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_graph_node_get_type(sycl_graph handle, sycl_graph_node node,
					      sycl_graph_node_type *type_out)
{
	PIN(graph, graph, handle);
	REQUIRE_OUTPUT(type_out);
	struct connection *c = graph->object.connection;
	(void)pthread_mutex_lock(&c->graph_lock);
	sycl_result result = graph_check_node(graph, node);
	if (!result)
		*type_out = graph->items[node - 1].type;
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

static sycl_result get_neighbours(sycl_graph handle, sycl_graph_node node, bool before,
				  uint32_t capacity, sycl_graph_node *nodes_out,
				  uint32_t *count_out)
{
	PIN(graph, graph, handle);
	REQUIRE_OUTPUT(count_out);
	if (capacity > 0)
		REQUIRE_OUTPUT(nodes_out);
	struct connection *c = graph->object.connection;
	(void)pthread_mutex_lock(&c->graph_lock);
	sycl_result result = graph_check_node(graph, node);
	if (!result) {
		const struct graph_edge_node *edges = &graph->edges.nodes[node - 1];
		const struct graph_edge_list *list = before ? &edges->before : &edges->after;
		for (uint32_t i = 0; i < list->count && i < capacity; i++)
			nodes_out[i] = list->nodes[i] + 1;
		*count_out = list->count;
	}
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

SYCL_API sycl_result sycl_graph_node_get_predecessors(sycl_graph graph, sycl_graph_node node,
						      uint32_t capacity, sycl_graph_node *nodes_out,
						      uint32_t *count_out)
{
	return get_neighbours(graph, node, true, capacity, nodes_out, count_out);
}

SYCL_API sycl_result sycl_graph_node_get_successors(sycl_graph graph, sycl_graph_node node,
						    uint32_t capacity, sycl_graph_node *nodes_out,
						    uint32_t *count_out)
{
	return get_neighbours(graph, node, false, capacity, nodes_out, count_out);
}

SYCL_API sycl_result sycl_graph_node_from_event(sycl_graph handle, sycl_event event_handle,
						sycl_graph_node *node_out)
{
	PIN(graph, graph, handle);
	PIN(event, event, event_handle);
	REQUIRE_OUTPUT(node_out);
	if (event->graph != graph->number || event->object.connection != graph->object.connection)
		return error_set(SYCL_ERROR_INVALID, "the event is of no node of this graph");
	*node_out = event->node + 1;
	return SYCL_SUCCESS;
}
