/* The order that accesses to buffers require inside a graph (L7), and the buffers that a graph
 * accepts (L11). */
#include "graph/command_graph.h"

#include "access_mode.h"
#include "protocol_limits.h"

#include <stdlib.h>
#include <string.h>

/* True if the last release of the buffer will write to memory of the program. */
static bool is_written_back(const struct buffer *buffer)
{
	if (buffer->size_bytes == 0 || buffer->is_temporary ||
	    !atomic_load_explicit(&buffer->write_back, memory_order_relaxed))
		return false;
	if (atomic_load_explicit(&buffer->final_data_set, memory_order_acquire))
		return atomic_load_explicit(&buffer->final_data, memory_order_relaxed) != NULL;
	return buffer->kind == SYCL_HOST_BORROWED || buffer->kind == SYCL_HOST_SHARED;
}

sycl_result graph_check_buffers(const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		struct buffer *buffer = handler_requirement_at(handler, i)->buffer;
		sycl_result result = graph_check_temporary(handler, buffer);
		if (result)
			return result;
		if (is_written_back(buffer_root(buffer)))
			return error_set_object(
				SYCL_ERROR_INVALID, buffer->remote.id,
				"a buffer that is written back to host memory cannot be used in a graph");
	}
	return SYCL_SUCCESS;
}

/* The number of handlers whose requirements are the node's: its own, or those of the graph that it
 * launches, or both for a condition. */
static uint32_t handler_count(const struct handler *handler)
{
	if (handler->action == HANDLER_ACTION_CONDITION)
		return handler->graph->count + 1;
	return handler->action == HANDLER_ACTION_GRAPH ? handler->graph->count : 1;
}

static const struct handler *node_handler(const struct handler *handler, uint32_t i)
{
	if (handler->action == HANDLER_ACTION_CONDITION && i < handler->graph->count)
		return handler->graph->nodes[i].handler;
	return handler->action == HANDLER_ACTION_GRAPH ? handler->graph->nodes[i].handler : handler;
}

static struct graph_access requirement_access(const struct handler_requirement *requirement,
					      uint32_t node)
{
	const struct buffer *buffer = requirement->buffer;
	bool part = buffer->is_part && buffer->root;
	return (struct graph_access){
		.begin = part ? buffer->origin_bytes : 0,
		.end = part ? buffer->origin_bytes + buffer->size_bytes
			    : buffer_root(requirement->buffer)->size_bytes,
		.node = node,
		.writes = access_mode_writes(requirement->mode),
	};
}

static struct graph_tracker *tracker_find(struct graph *graph, const struct buffer *root)
{
	/* The latest trackers are the most likely ones. */
	for (uint32_t i = graph->tracker_count; i > 0; i--) {
		if (graph->trackers[i - 1].root == root)
			return &graph->trackers[i - 1];
	}
	return NULL;
}

static sycl_result tracker_find_or_make(struct graph *graph, struct buffer *root,
					struct graph_tracker **tracker_out)
{
	struct graph_tracker *tracker = tracker_find(graph, root);
	if (!tracker) {
		if (graph->tracker_count == graph->tracker_capacity) {
			uint32_t capacity =
				graph->tracker_capacity ? graph->tracker_capacity * 2 : 8;
			struct graph_tracker *trackers =
				realloc(graph->trackers, capacity * sizeof(*trackers));
			if (!trackers)
				return error_no_memory();
			graph->trackers = trackers;
			graph->tracker_capacity = capacity;
		}
		tracker = &graph->trackers[graph->tracker_count++];
		*tracker = (struct graph_tracker){.root = root};
		object_ref(&root->object);
		atomic_fetch_add_explicit(&root->graphs, 1, memory_order_relaxed);
	}
	*tracker_out = tracker;
	return SYCL_SUCCESS;
}

static sycl_result tracker_reserve(struct graph_tracker *tracker, uint32_t more)
{
	if (tracker->count + more <= tracker->capacity)
		return SYCL_SUCCESS;
	uint32_t capacity = tracker->capacity ? tracker->capacity : 4;
	while (capacity < tracker->count + more)
		capacity *= 2;
	struct graph_access *accesses = realloc(tracker->accesses, capacity * sizeof(*accesses));
	if (!accesses)
		return error_no_memory();
	tracker->accesses = accesses;
	tracker->capacity = capacity;
	return SYCL_SUCCESS;
}

static sycl_result graph_access_connect(struct graph *graph, const struct graph_tracker *tracker,
					const struct graph_access *access)
{
	for (uint32_t i = 0; i < tracker->count; i++) {
		const struct graph_access *other = &tracker->accesses[i];
		bool apart = other->end <= access->begin || access->end <= other->begin;
		if (apart || !(other->writes || access->writes) || other->node == access->node)
			continue;
		sycl_result result = graph_connect_nodes(graph, other->node, access->node);
		if (result)
			return result;
	}
	return SYCL_SUCCESS;
}

sycl_result graph_accesses_connect(struct graph *graph, uint32_t node,
				   const struct handler *handler)
{
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t h = 0; h < handler_count(handler) && !result; h++) {
		const struct handler *part = node_handler(handler, h);
		for (uint32_t i = 0; part && i < part->requirements.count && !result; i++) {
			const struct handler_requirement *requirement =
				handler_requirement_at(part, i);
			struct graph_access access = requirement_access(requirement, node);
			struct graph_tracker *tracker = NULL;
			result = tracker_find_or_make(graph, buffer_root(requirement->buffer),
						      &tracker);
			if (!result)
				result = tracker_reserve(tracker, ++tracker->coming);
			if (!result)
				result = graph_access_connect(graph, tracker, &access);
		}
	}
	for (uint32_t i = 0; i < graph->tracker_count; i++)
		graph->trackers[i].coming = 0; /* the room for them is reserved now */
	return result;
}

/* A write waits for the earlier accesses, so later accesses need not wait for these. */
static void tracker_enter_access(struct graph_tracker *tracker, const struct graph_access *access)
{
	uint32_t kept = 0;
	if (access->begin == access->end)
		return;
	for (uint32_t i = 0; i < tracker->count; i++) {
		const struct graph_access *other = &tracker->accesses[i];
		bool covered = access->begin <= other->begin && other->end <= access->end;
		bool same = other->node == access->node && (access->writes || !other->writes);
		if (!covered || !(same || (access->writes && other->node != access->node)))
			tracker->accesses[kept++] = *other;
	}
	tracker->count = kept;
	tracker->accesses[tracker->count++] = *access;
}

void graph_accesses_enter(struct graph *graph, uint32_t node, const struct handler *handler)
{
	for (uint32_t h = 0; h < handler_count(handler); h++) {
		const struct handler *part = node_handler(handler, h);
		for (uint32_t i = 0; part && i < part->requirements.count; i++) {
			const struct handler_requirement *requirement =
				handler_requirement_at(part, i);
			struct graph_access access = requirement_access(requirement, node);
			tracker_enter_access(tracker_find(graph, buffer_root(requirement->buffer)),
					     &access);
		}
	}
}

void graph_accesses_fini(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->tracker_count; i++) {
		struct graph_tracker *tracker = &graph->trackers[i];
		atomic_fetch_sub_explicit(&tracker->root->graphs, 1, memory_order_relaxed);
		object_unref(&tracker->root->object);
		free(tracker->accesses);
	}
	free(graph->trackers);
}
