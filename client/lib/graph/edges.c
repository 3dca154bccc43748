#include "graph/edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void graph_edges_fini(struct graph_edges *edges)
{
	for (uint32_t i = 0; i < edges->count; i++) {
		free(edges->nodes[i].before.nodes);
		free(edges->nodes[i].after.nodes);
	}
	free(edges->nodes);
	*edges = (struct graph_edges){.count = 0};
}

int graph_edges_add(struct graph_edges *edges)
{
	if (edges->count == edges->capacity) {
		uint32_t capacity = edges->capacity ? edges->capacity * 2 : 16;
		struct graph_edge_node *nodes = realloc(edges->nodes, capacity * sizeof(*nodes));
		if (!nodes)
			return -ENOMEM;
		edges->nodes = nodes;
		edges->capacity = capacity;
	}
	edges->nodes[edges->count++] = (struct graph_edge_node){.seen = 0};
	return 0;
}

static void edge_list_remove(struct graph_edge_list *list, uint32_t node)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->nodes[i] != node)
			continue;
		memmove(&list->nodes[i], &list->nodes[i + 1],
			(list->count - i - 1) * sizeof(*list->nodes));
		list->count--;
		return;
	}
}

void graph_edges_drop_last(struct graph_edges *edges)
{
	uint32_t last = edges->count - 1;
	struct graph_edge_node *node = &edges->nodes[last];
	for (uint32_t i = 0; i < node->before.count; i++)
		edge_list_remove(&edges->nodes[node->before.nodes[i]].after, last);
	for (uint32_t i = 0; i < node->after.count; i++)
		edge_list_remove(&edges->nodes[node->after.nodes[i]].before, last);
	edges->edges -= node->before.count + node->after.count;
	free(node->before.nodes);
	free(node->after.nodes);
	edges->count--;
}

static bool edge_list_has(const struct graph_edge_list *list, uint32_t node)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->nodes[i] == node)
			return true;
	}
	return false;
}

static int edge_list_reserve(struct graph_edge_list *list)
{
	if (list->count < list->capacity)
		return 0;
	uint32_t capacity = list->capacity ? list->capacity * 2 : 4;
	uint32_t *nodes = realloc(list->nodes, capacity * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	list->nodes = nodes;
	list->capacity = capacity;
	return 0;
}

static void edges_visit_successors(struct graph_edges *edges, uint32_t node, uint32_t *stack,
				   uint32_t *depth)
{
	if (edges->nodes[node].seen == edges->search)
		return;
	edges->nodes[node].seen = edges->search;
	stack[(*depth)++] = node;
}

/* 1: `to` follows `from`, or is the same node. 0: it does not. -ENOMEM. */
static int edges_lead_to(struct graph_edges *edges, uint32_t from, uint32_t to)
{
	if (from == to)
		return 1;
	if (edges->nodes[from].after.count == 0 || edges->nodes[to].before.count == 0)
		return 0;
	/* Each node is put on the stack once. */
	uint32_t *stack = malloc(edges->count * sizeof(*stack));
	if (!stack)
		return -ENOMEM;
	if (++edges->search == 0) {
		for (uint32_t i = 0; i < edges->count; i++)
			edges->nodes[i].seen = 0;
		edges->search = 1;
	}
	uint32_t depth = 0;
	edges_visit_successors(edges, from, stack, &depth);
	while (depth > 0 && edges->nodes[to].seen != edges->search) {
		const struct graph_edge_list *after = &edges->nodes[stack[--depth]].after;
		for (uint32_t i = 0; i < after->count; i++)
			edges_visit_successors(edges, after->nodes[i], stack, &depth);
	}
	free(stack);
	return edges->nodes[to].seen == edges->search;
}

int graph_edges_connect(struct graph_edges *edges, uint32_t before, uint32_t after, uint32_t most)
{
	struct graph_edge_list *out = &edges->nodes[before].after,
			       *in = &edges->nodes[after].before;
	if (out->count < in->count ? edge_list_has(out, after) : edge_list_has(in, before))
		return 0;
	int loops = edges_lead_to(edges, after, before);
	if (loops != 0)
		return loops < 0 ? loops : -ELOOP;
	if (edges->edges >= most)
		return -EDQUOT;
	if (edge_list_reserve(out) < 0 || edge_list_reserve(in) < 0)
		return -ENOMEM;
	out->nodes[out->count++] = after;
	in->nodes[in->count++] = before;
	edges->edges++;
	return 0;
}

/* Adds a node to a heap with the lowest number first. */
static void heap_put(uint32_t *heap, uint32_t count, uint32_t node)
{
	uint32_t at = count;
	while (at > 0 && heap[(at - 1) / 2] > node) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = node;
}

static uint32_t heap_take(uint32_t *heap, uint32_t count)
{
	uint32_t first = heap[0], last = heap[count - 1], at = 0;
	for (;;) {
		uint32_t child = at * 2 + 1;
		if (child >= count - 1)
			break;
		if (child + 1 < count - 1 && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= last)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

int graph_edges_order(const struct graph_edges *edges, uint32_t *order_out)
{
	uint32_t *left = malloc((size_t)(edges->count ? edges->count : 1) * 2 * sizeof(*left));
	if (!left)
		return -ENOMEM;
	uint32_t *heap = left + edges->count, waiting = 0, done = 0;
	for (uint32_t i = 0; i < edges->count; i++) {
		left[i] = edges->nodes[i].before.count;
		if (left[i] == 0)
			heap_put(heap, waiting++, i);
	}
	while (waiting > 0) {
		uint32_t node = heap_take(heap, waiting--);
		const struct graph_edge_list *after = &edges->nodes[node].after;
		order_out[done++] = node;
		for (uint32_t i = 0; i < after->count; i++) {
			if (--left[after->nodes[i]] == 0)
				heap_put(heap, waiting++, after->nodes[i]);
		}
	}
	free(left);
	return 0;
}
