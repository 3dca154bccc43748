/* Disabled nodes of executable graphs (R3). */
#include "graph/executable_graph.h"

/* With the graph lock. Finds the node's place in the executable graph. */
static sycl_result switch_find_place(const struct executable_graph *executable,
				     const struct graph *graph, sycl_graph_node node,
				     struct executable_node **node_out, uint32_t *place_out)
{
	sycl_result result = graph_check_node(graph, node);
	if (result)
		return result;
	sycl_graph_node_type type = graph->items[node - 1].type;
	if (executable->origin != graph->number)
		return error_set(SYCL_ERROR_INVALID,
				 "the executable graph was made from another graph");
	if (type != SYCL_GRAPH_NODE_KERNEL && type != SYCL_GRAPH_NODE_MEMCPY &&
	    type != SYCL_GRAPH_NODE_MEMSET)
		return error_set(SYCL_ERROR_INVALID,
				 "node %u launches no kernel, copies nothing and fills nothing",
				 node);
	if (node > executable->place_count)
		return error_set(SYCL_ERROR_INVALID,
				 "node %u was added after the executable graph was made", node);
	*place_out = executable->place[node - 1];
	*node_out = &executable->nodes[*place_out];
	return SYCL_SUCCESS;
}

static sycl_result send_switch(const struct executable_graph *executable, uint32_t place,
			       bool is_disabled)
{
	Sycl__V1__GraphSwitch message = SYCL__V1__GRAPH_SWITCH__INIT;
	message.graph = executable->remote.id;
	message.node = place;
	message.disabled = is_disabled;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_SWITCH;
	command.graph_switch = &message;
	return connection_send(executable->object.connection, &command);
}

static sycl_result switch_check(const struct executable_graph *executable,
				const struct graph *graph)
{
	if (executable->object.connection != graph->object.connection)
		return error_set(SYCL_ERROR_INVALID, "the graphs belong to different connections");
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_executable_graph_set_node_enabled(sycl_executable_graph executable_handle,
							    sycl_graph handle, sycl_graph_node node,
							    int enabled)
{
	PIN(executable_graph, executable, executable_handle);
	PIN(graph, graph, handle);
	struct connection *c = graph->object.connection;
	struct executable_node *found = NULL;
	uint32_t place = 0;
	sycl_result result = switch_check(executable, graph);
	if (!result && !(executable->flags & SYCL_GRAPH_UPDATABLE))
		result = error_set_object(SYCL_ERROR_INVALID, executable->remote.id,
					  "the graph was finalized without SYCL_GRAPH_UPDATABLE");
	if (!result && !c->has_graph_switch)
		result = error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				   "the service is too old: it cannot disable nodes");
	if (!result)
		result = remote_check(&executable->remote);
	if (result)
		return result;
	(void)pthread_mutex_lock(&c->graph_lock);
	result = switch_find_place(executable, graph, node, &found, &place);
	if (!result && found->is_disabled != !enabled) {
		result = send_switch(executable, place, !enabled);
		if (!result)
			found->is_disabled = !enabled;
	}
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

SYCL_API sycl_result sycl_executable_graph_is_node_enabled(sycl_executable_graph executable_handle,
							   sycl_graph handle, sycl_graph_node node,
							   uint32_t *enabled_out)
{
	PIN(executable_graph, executable, executable_handle);
	PIN(graph, graph, handle);
	REQUIRE_OUTPUT(enabled_out);
	struct connection *c = graph->object.connection;
	struct executable_node *found = NULL;
	uint32_t place = 0;
	sycl_result result = switch_check(executable, graph);
	if (result)
		return result;
	(void)pthread_mutex_lock(&c->graph_lock);
	result = switch_find_place(executable, graph, node, &found, &place);
	if (!result)
		*enabled_out = !found->is_disabled;
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}
