/*
 * The requirements of all nodes of a graph together, and which node waits for which. They are
 * computed once instead of at every launch. The rules are those between command groups
 * (scheduler.h), and the graph's own edges.
 *
 * A requirement needs nothing from outside if the graph itself has overwritten all its contents
 * before. A buffer may be used in more parts than GRAPH_ORDER_USES at a time. Then a node counts as
 * a writer of all of it, but only inside of the graph. A node in the body of a condition is ordered
 * with nodes of the same body. For other nodes the condition stands for its body, with the
 * requirements of the body. Front thread; never blocks.
 */
#ifndef SYCL_ENGINE_GRAPH_ORDER_H
#define SYCL_ENGINE_GRAPH_ORDER_H

#include "session/objects.h"

#define GRAPH_ORDER_USES  64u        /* uses of one buffer that later nodes may have to wait for */
#define GRAPH_ORDER_PARTS 256u       /* parts of one buffer that a graph may require */
#define GRAPH_ORDER_STEPS (2u << 20) /* comparisons in all: some 10 ms */

/* A requirement of the whole graph. */
struct graph_need {
	uint64_t buffer; /* the buffer's id */
	struct task_requirement requirement;
	uint32_t node; /* the first node with this requirement */
	uint32_t next; /* the next need of the same buffer, + 1; 0: none */
};

struct graph_order {
	struct graph_need *needs;
	uint32_t need_count, need_capacity;
	uint32_t *first_edge; /* the first edge of each node, and the end */
	uint32_t *edges;      /* nodes before */
	uint32_t edge_count, edge_capacity;
	uint32_t node_count;
	/* while the order is made */
	/* places: for each node the condition whose body has the node, + 1; 0: none. */
	uint32_t *marks, *places;
	struct graph_tracker *trackers;
	uint32_t tracker_count, tracker_capacity;
	uint64_t stamp, steps;
};

/* The requirements of a node that was checked. */
struct graph_order_node {
	const struct task_requirement *requirements;
	struct buffer *const *buffers;
	uint32_t count;
	/* The node only orders or lies in a body, so it may leave the contents that it would write
	 * as they were. */
	bool may_do_nothing;
	uint32_t place;        /* the condition whose body has the node, + 1; 0: none */
	const uint32_t *after; /* the graph's own edges */
	uint32_t after_count;
};

/* `stamp`: never used before in this engine. -ENOMEM: the caller has nothing to end. */
int graph_order_init(struct graph_order *order, uint32_t node_count, uint64_t stamp);
/* The next node, to be added later, is a condition, and this one will lie in its body. As
 * graph_order_add; `node->place` is the condition's. */
int graph_order_foresee(struct graph_order *order, const struct graph_order_node *node);
/* The next node. -ENOMEM; -E2BIG: too many requirements, edges or steps. */
int graph_order_add(struct graph_order *order, const struct graph_order_node *node);
/* No more nodes come. */
void graph_order_seal(struct graph_order *order);
/* Accepts an order that is all zeros. */
void graph_order_fini(struct graph_order *order);

static inline const uint32_t *graph_order_after(const struct graph_order *order, uint32_t node,
						uint32_t *count_out)
{
	*count_out = order->first_edge[node + 1] - order->first_edge[node];
	return order->edges + order->first_edge[node];
}

/* True if a node waits for the same nodes in both orders. */
bool graph_order_alike(const struct graph_order *a, const struct graph_order *b, uint32_t node);

#endif
