/* Groups that are submitted to a recorded queue become nodes (L2, L4 - L6, L8, L15). */
#include "graph/command_graph.h"
#include "interop/bridge.h"

#include <stdlib.h>
#include <string.h>

bool graph_records(const struct handler *handler)
{
	if (atomic_load_explicit(&handler->queue->recording, memory_order_acquire))
		return true;
	for (uint32_t i = 0; i < handler->depends_on.count; i++) {
		if (handler_dependency_at(handler, i)->event->graph)
			return true;
	}
	return false;
}

sycl_result graph_keep(struct handler *handler, struct handler *origin, struct handler **kept_out)
{
	sycl_result result = handler->bridge ? bridge_graph_check(handler) : SYCL_SUCCESS;
	if (result)
		return result;
	if (handler_is_staged(handler))
		return error_set(
			SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			"a graph does not copy between USM and memory of the program's own: use a host task");
	if (handler->host_source && !handler->host_is_usm && !handler->is_empty)
		return handler_copy_as_task(handler, kept_out);
	/* Only launches differ by their queue. A handler on a stack cannot be kept. */
	if (origin->object.entry &&
	    (handler == origin || handler->action != HANDLER_ACTION_LAUNCH)) {
		object_ref(&origin->object);
		*kept_out = origin;
		return SYCL_SUCCESS;
	}
	return handler_clone(handler, kept_out);
}

/* With the lock. The graph that records the queue, or that the queue joins because of an event
 * (L5). */
static sycl_result find_recording_graph(const struct handler *handler, struct graph **graph_out)
{
	const struct queue *queue = handler->queue;
	struct graph *graph = atomic_load_explicit(&queue->recording, memory_order_relaxed);
	for (uint32_t i = 0; i < handler->depends_on.count && !graph; i++) {
		uint64_t number = handler_dependency_at(handler, i)->event->graph;
		for (graph = number ? queue->object.connection->graphs : NULL;
		     graph && graph->number != number;)
			graph = graph->next;
	}
	if (!graph || graph->recording_count == 0)
		return error_set(
			SYCL_ERROR_INVALID,
			"an event of a recorded group cannot be used outside of its graph");
	*graph_out = graph;
	return graph_check_place(graph, queue);
}

static bool has_follower(const struct graph *graph, uint32_t node, uint64_t from)
{
	const struct graph_edge_list *after = &graph->edges.nodes[node].after;
	for (uint32_t i = 0; i < after->count; i++) {
		if (graph->items[after->nodes[i]].recorded_from == from)
			return true;
	}
	return false;
}

/* Lists the nodes that were recorded from the queue and have no follower from it yet. */
static uint32_t record_put_all_before(const struct graph *graph, uint64_t from, uint32_t *nodes)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < graph->edges.count; i++) {
		if (graph->items[i].recorded_from == from && !has_follower(graph, i, from))
			nodes[count++] = i;
	}
	return count;
}

/* True for a barrier. A group that requests nothing is a barrier of its queue, too. */
static bool waits_for_all(const struct handler *handler)
{
	return handler->after_all ||
	       (handler->action == HANDLER_ACTION_NONE && handler->depends_on.count == 0 &&
		handler->requirements.count == 0);
}

/* With the lock. */
static sycl_result record_node(struct graph *graph, const struct handler *handler,
			       struct handler *kept, uint32_t *node_out)
{
	uint64_t from = handler->queue->line->remote.id;
	bool barrier = waits_for_all(handler);
	uint32_t *nodes = malloc(
		((size_t)handler->depends_on.count + 1 + (barrier ? graph->edges.count : 0)) *
		sizeof(*nodes));
	if (!nodes)
		return error_no_memory();
	sycl_result result = graph_event_nodes(graph, handler, nodes);
	if (!result)
		result = graph_record_queue(graph, handler->queue);
	if (!result) {
		struct graph_recording *recording = graph_recording_of(graph, handler->queue);
		uint32_t count = handler->depends_on.count;
		if (handler->queue->line->in_order && recording->last)
			nodes[count++] = recording->last - 1;
		else if (barrier)
			count += record_put_all_before(graph, from, nodes + count);
		const struct graph_addition addition = {
			.handler = kept,
			.type = barrier && handler->action == HANDLER_ACTION_NONE
					? SYCL_GRAPH_NODE_BARRIER
					: graph_type_of(kept),
			.recorded_from = from,
			.before = nodes,
			.before_count = count,
		};
		result = graph_add_node(graph, &addition, node_out);
		if (!result)
			recording->last = *node_out + 1;
	}
	free(nodes);
	return result;
}

static sycl_result recorded_event_make(const struct handler *handler, struct event **event_out)
{
	struct event *event = event_new(handler->object.connection, handler->queue->line);
	if (!event)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	*event_out = event;
	return SYCL_SUCCESS;
}

sycl_result graph_record(struct handler *handler, struct handler *origin, sycl_event *event_out)
{
	struct connection *c = handler->object.connection;
	struct handler *kept = NULL;
	struct event *event = NULL;
	struct graph *graph = NULL;
	uint32_t node = 0;
	sycl_result result = graph_check_buffers(handler);
	if (!result)
		result = graph_keep(handler, origin, &kept);
	if (!result && event_out)
		result = recorded_event_make(handler, &event);
	if (!result) {
		(void)pthread_mutex_lock(&c->graph_lock);
		result = find_recording_graph(handler, &graph);
		if (!result)
			result = record_node(graph, handler, kept, &node);
		if (!result && event) {
			event->graph = graph->number;
			event->node = node;
		}
		(void)pthread_mutex_unlock(&c->graph_lock);
	}
	if (!result) {
		if (event)
			*event_out = handle_of(&event->object);
		return result;
	}
	struct failure why;
	error_get(&why);
	if (event)
		object_unref(&event->object);
	if (kept)
		object_unref(&kept->object);
	return error_set_failure(&why);
}
