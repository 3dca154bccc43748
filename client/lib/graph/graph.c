/* Graphs that can be changed: creation, end, and the queues that they record (L2, L3, L16). */
#include "graph/command_graph.h"

#include <stdlib.h>

static void graph_end_recording(struct graph *graph, uint32_t index, struct queue **queue_out)
{
	struct queue *queue = graph->recordings[index].queue;
	atomic_store_explicit(&queue->recording, NULL, memory_order_release);
	graph->recordings[index] = graph->recordings[--graph->recording_count];
	*queue_out = queue;
}

/* Called for the last reference: the graph's queues execute again. Its references are released
 * without the lock. */
static void graph_end_recordings(struct graph *graph)
{
	struct connection *c = graph->object.connection;
	for (;;) {
		struct queue *queue = NULL;
		(void)pthread_mutex_lock(&c->graph_lock);
		if (graph->recording_count > 0)
			graph_end_recording(graph, 0, &queue);
		(void)pthread_mutex_unlock(&c->graph_lock);
		if (!queue)
			return;
		object_unref(&queue->object);
	}
}

static void graph_destroy(struct object *object)
{
	struct graph *graph = (struct graph *)object;
	struct connection *c = object->connection;
	graph_end_recordings(graph);
	(void)pthread_mutex_lock(&c->graph_lock);
	if (graph->previous)
		graph->previous->next = graph->next;
	else
		c->graphs = graph->next;
	if (graph->next)
		graph->next->previous = graph->previous;
	(void)pthread_mutex_unlock(&c->graph_lock);
	for (uint32_t i = 0; i < graph->edges.count; i++) {
		if (graph->items[i].handler)
			object_unref(&graph->items[i].handler->object);
	}
	free(graph->items);
	graph_edges_fini(&graph->edges);
	graph_accesses_fini(graph);
	free(graph->recordings);
	object_unref(&graph->device->object);
	object_unref(&graph->context->object);
	object_delete(object);
}

static sycl_result graph_make(struct context *context, struct device *device, uint32_t flags,
			      struct graph **graph_out)
{
	struct connection *c = context->object.connection;
	struct graph *graph = object_new(sizeof(*graph), c);
	if (!graph)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	if (handle_create(&graph->object, HANDLE_GRAPH, graph_destroy) < 0) {
		object_delete(&graph->object);
		return error_no_memory();
	}
	graph->context = context;
	graph->device = device;
	object_ref(&context->object);
	object_ref(&device->object);
	graph->flags = flags;
	(void)pthread_mutex_lock(&c->graph_lock);
	graph->number = ++c->graph_number;
	graph->next = c->graphs;
	if (graph->next)
		graph->next->previous = graph;
	c->graphs = graph;
	(void)pthread_mutex_unlock(&c->graph_lock);
	*graph_out = graph;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_graph_create(sycl_context context_handle, sycl_device device_handle,
				       const struct sycl_graph_properties *properties,
				       sycl_graph *graph_out)
{
	PIN(context, context, context_handle);
	PIN(device, device, device_handle);
	REQUIRE_OUTPUT(graph_out);
	if (properties && (properties->struct_bytes != sizeof(*properties) ||
			   properties->flags & ~(uint32_t)SYCL_GRAPH_ASSUME_BUFFER_OUTLIVES_GRAPH))
		return error_set(
			SYCL_ERROR_INVALID,
			"properties: struct_bytes or flags are wrong; start from SYCL_GRAPH_PROPERTIES_INIT");
	if (!context_has(context, device))
		return error_set(SYCL_ERROR_INVALID, "the device is not one of the context's");
	if (!context->object.connection->has_graphs)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "the service is too old: it has no graphs");
	sycl_result result = remote_check(&context->remote);
	struct graph *graph = NULL;
	if (!result)
		result = graph_make(context, device, properties ? properties->flags : 0, &graph);
	if (!result)
		*graph_out = handle_of(&graph->object);
	return result;
}

SYCL_API sycl_result sycl_graph_retain(sycl_graph graph)
{
	return handle_retain(graph, HANDLE_GRAPH);
}

SYCL_API sycl_result sycl_graph_release(sycl_graph handle)
{
	PIN(graph, graph, handle);
	sycl_result result = object_take(&graph->object);
	if (result)
		return result;
	if (object_users(&graph->object) == 0)
		graph_end_recordings(graph);
	connection_handle_released(graph->object.connection);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_graph_get_reference_count(sycl_graph graph, uint32_t *count_out)
{
	return handle_get_reference_count(graph, HANDLE_GRAPH, count_out);
}

SYCL_API sycl_result sycl_graph_get_context(sycl_graph handle, sycl_context *context_out)
{
	PIN(graph, graph, handle);
	REQUIRE_OUTPUT(context_out);
	sycl_result result = object_give(&graph->context->object);
	if (!result)
		*context_out = handle_of(&graph->context->object);
	return result;
}

SYCL_API sycl_result sycl_graph_get_device(sycl_graph handle, sycl_device *device_out)
{
	PIN(graph, graph, handle);
	REQUIRE_OUTPUT(device_out);
	sycl_result result = object_give(&graph->device->object);
	if (!result)
		*device_out = handle_of(&graph->device->object);
	return result;
}

struct graph_recording *graph_recording_of(struct graph *graph, const struct queue *queue)
{
	for (uint32_t i = 0; i < graph->recording_count; i++) {
		if (graph->recordings[i].queue == queue)
			return &graph->recordings[i];
	}
	return NULL;
}

sycl_result graph_check_place(const struct graph *graph, const struct queue *queue)
{
	if (queue->object.connection != graph->object.connection)
		return error_set(SYCL_ERROR_INVALID,
				 "the queue and the graph belong to different connections");
	if (queue->context != graph->context || queue->device != graph->device)
		return error_set(SYCL_ERROR_INVALID,
				 "the queue has another context or device than the graph");
	return SYCL_SUCCESS;
}

sycl_result graph_record_queue(struct graph *graph, struct queue *queue)
{
	if (atomic_load_explicit(&queue->recording, memory_order_relaxed) == graph)
		return SYCL_SUCCESS;
	if (graph->recording_count == graph->recording_capacity) {
		uint32_t capacity = graph->recording_capacity ? graph->recording_capacity * 2 : 4;
		struct graph_recording *recordings =
			realloc(graph->recordings, capacity * sizeof(*recordings));
		if (!recordings)
			return error_no_memory();
		graph->recordings = recordings;
		graph->recording_capacity = capacity;
	}
	graph->recordings[graph->recording_count++] = (struct graph_recording){.queue = queue};
	object_ref(&queue->object);
	atomic_store_explicit(&queue->recording, graph, memory_order_release);
	return SYCL_SUCCESS;
}

/* Queues pinned for the length of a call, so that none is released while the lock is held. */
struct pinned {
	struct queue **queues;
	uint32_t count;
};

static void queues_unpin_all(struct pinned *pinned)
{
	for (uint32_t i = 0; i < pinned->count; i++)
		object_unref(&pinned->queues[i]->object);
	free((void *)pinned->queues);
}

static sycl_result queues_pin_all(uint32_t count, const sycl_queue *queues, struct pinned *pinned)
{
	if (!queues)
		return error_set(SYCL_ERROR_INVALID, "a list of %u queues is NULL", count);
	pinned->queues = calloc(count, sizeof(struct queue *));
	if (!pinned->queues)
		return error_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		sycl_result result = queue_pin(queues[i], &pinned->queues[i]);
		if (result)
			return result;
		pinned->count++;
	}
	return SYCL_SUCCESS;
}

/* Checks that no other graph records one of the queues. */
static sycl_result graph_check_free(const struct graph *graph, const struct pinned *pinned)
{
	for (uint32_t i = 0; i < pinned->count; i++) {
		const struct graph *other =
			atomic_load_explicit(&pinned->queues[i]->recording, memory_order_relaxed);
		if (other && other != graph)
			return error_set(SYCL_ERROR_INVALID,
					 "another graph records queue %u of the list", i);
	}
	return SYCL_SUCCESS;
}

/* With the lock. Begins all recordings or none. */
static sycl_result recording_begin(struct graph *graph, const struct pinned *pinned)
{
	uint32_t before = graph->recording_count;
	sycl_result result = graph_check_free(graph, pinned);
	for (uint32_t i = 0; i < pinned->count && !result; i++)
		result = graph_check_place(graph, pinned->queues[i]);
	for (uint32_t i = 0; i < pinned->count && !result; i++)
		result = graph_record_queue(graph, pinned->queues[i]);
	while (result && graph->recording_count > before) {
		struct queue *queue = NULL; /* pinned: this reference is not the last */
		graph_end_recording(graph, graph->recording_count - 1, &queue);
		object_unref(&queue->object);
	}
	return result;
}

SYCL_API sycl_result sycl_graph_begin_recording(sycl_graph handle, uint32_t count,
						const sycl_queue *queues)
{
	PIN(graph, graph, handle);
	if (count == 0)
		return error_set(SYCL_ERROR_INVALID, "no queues are given");
	CLEANUP(queues_unpin_all) struct pinned pinned = {.count = 0};
	sycl_result result = queues_pin_all(count, queues, &pinned);
	if (result)
		return result;
	struct connection *c = graph->object.connection;
	(void)pthread_mutex_lock(&c->graph_lock);
	result = recording_begin(graph, &pinned);
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

SYCL_API sycl_result sycl_graph_end_recording(sycl_graph handle, uint32_t count,
					      const sycl_queue *queues)
{
	PIN(graph, graph, handle);
	if (count == 0) {
		graph_end_recordings(graph);
		return SYCL_SUCCESS;
	}
	CLEANUP(queues_unpin_all) struct pinned pinned = {.count = 0};
	sycl_result result = queues_pin_all(count, queues, &pinned);
	if (result)
		return result;
	struct connection *c = graph->object.connection;
	(void)pthread_mutex_lock(&c->graph_lock);
	result = graph_check_free(graph, &pinned);
	for (uint32_t i = 0; i < pinned.count && !result; i++) {
		const struct graph_recording *recording =
			graph_recording_of(graph, pinned.queues[i]);
		struct queue *ended = NULL;
		if (!recording)
			continue;
		graph_end_recording(graph, (uint32_t)(recording - graph->recordings), &ended);
		object_unref(&ended->object); /* pinned: not the last reference */
	}
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

SYCL_API sycl_result sycl_queue_get_state(sycl_queue handle, sycl_queue_state *state_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(state_out);
	*state_out = atomic_load_explicit(&queue->recording, memory_order_acquire)
			     ? SYCL_QUEUE_RECORDING
			     : SYCL_QUEUE_EXECUTING;
	return SYCL_SUCCESS;
}
