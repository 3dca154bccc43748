#include "graph/graph.h"

#include "protocol_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Counts the memory that unpacking takes. */
struct counted {
	uint64_t bytes, most;
	bool overflowed;
};

static void *counted_alloc(void *data, size_t bytes)
{
	struct counted *counted = data;
	if (bytes > counted->most - counted->bytes) {
		counted->overflowed = true;
		return NULL;
	}
	counted->bytes += bytes;
	return malloc(bytes);
}

static void counted_free(void *data, void *memory)
{
	(void)data;
	free(memory);
}

int graph_group_copy(const Sycl__V1__CommandGroup *message, uint64_t most_bytes,
		     Sycl__V1__CommandGroup **copy_out, uint64_t *bytes_out)
{
	size_t packed_bytes = sycl__v1__command_group__get_packed_size(message);
	uint8_t *packed = malloc(packed_bytes ? packed_bytes : 1);
	if (!packed)
		return -ENOMEM;
	(void)sycl__v1__command_group__pack(message, packed);
	struct counted counted = {.most = most_bytes};
	ProtobufCAllocator allocator = {
		.alloc = counted_alloc, .free = counted_free, .allocator_data = &counted};
	Sycl__V1__CommandGroup *copy =
		sycl__v1__command_group__unpack(&allocator, packed_bytes, packed);
	free(packed);
	if (!copy)
		return counted.overflowed ? -EDQUOT : -ENOMEM;
	*copy_out = copy;
	*bytes_out = counted.bytes;
	return 0;
}

void graph_group_free(Sycl__V1__CommandGroup *group)
{
	ProtobufCAllocator allocator = {.alloc = counted_alloc, .free = counted_free};
	if (group)
		sycl__v1__command_group__free_unpacked(group, &allocator);
}

int graph_reserve(struct graph *graph, uint32_t nodes)
{
	graph->nodes = calloc(nodes ? nodes : 1, sizeof(*graph->nodes));
	if (!graph->nodes)
		return -ENOMEM;
	graph->node_limit = nodes;
	graph->place = GRAPH_TOP;
	return 0;
}

uint32_t graph_next_place(const struct graph *graph, uint32_t *depth_out, uint32_t *end_out)
{
	uint32_t place = graph->place;
	*depth_out = graph->depth;
	while (place != GRAPH_TOP && graph->nodes[place].body_end == graph->node_count) {
		place = graph->nodes[place].place;
		(*depth_out)--;
	}
	*end_out = place == GRAPH_TOP ? graph->node_limit : graph->nodes[place].body_end;
	return place;
}

void graph_add(struct graph *graph, Sycl__V1__CommandGroup *group, uint64_t bytes)
{
	uint32_t end, place = graph_next_place(graph, &graph->depth, &end);
	bool is_condition = group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION;
	uint32_t index = graph->node_count++;
	graph->place = is_condition ? index : place;
	graph->depth += is_condition;
	graph->nodes[index] = (struct graph_node){
		.group = group,
		.place = place,
		.body_end = is_condition ? index + 1 + group->graph_condition->body_nodes : 0,
		.bytes = bytes,
		.first_edge = graph->edge_count,
		.is_host_task = group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK,
		.is_native = group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_NATIVE,
	};
}

static int graph_nodes_make_room(struct graph *graph, uint32_t count)
{
	uint32_t capacity = graph->edge_capacity ? graph->edge_capacity : 16;
	while (capacity < graph->edge_count + count)
		capacity *= 2;
	if (capacity == graph->edge_capacity)
		return 0;
	uint32_t *edges = realloc(graph->edges, capacity * sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	graph->edges = edges;
	graph->edge_capacity = capacity;
	return 0;
}

int graph_connect(struct graph *graph, const uint32_t *after, size_t count)
{
	if (count == 0)
		return 0;
	if (graph->node_count == 0 || count > GRAPH_EDGES_MAX - graph->edge_count)
		return -EPROTO;
	uint32_t node = graph->node_count - 1;
	for (size_t i = 0; i < count; i++) {
		if (after[i] >= node || graph->nodes[after[i]].place != graph->nodes[node].place)
			return -EPROTO;
	}
	int r = graph_nodes_make_room(graph, (uint32_t)count);
	if (r < 0)
		return r;
	memcpy(graph->edges + graph->edge_count, after, count * sizeof(*after));
	graph->edge_count += (uint32_t)count;
	graph->nodes[node].edge_count += (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		graph->nodes[after[i]].has_successor = true;
	return 0;
}

void graph_seal(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		graph->host_count += graph->nodes[i].is_host_task;
		graph->native_count += graph->nodes[i].is_native;
		graph->condition_count += graph->nodes[i].body_end > 0;
		graph->root_count += graph->nodes[i].edge_count == 0;
		if (graph->nodes[i].has_successor)
			continue;
		graph->sink_count++;
		graph->sink = i;
	}
	graph->finished = true;
}

void graph_fini(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->node_count; i++)
		graph_group_free(graph->nodes[i].group);
	free(graph->nodes);
	free(graph->edges);
	free(graph->spare);
}
