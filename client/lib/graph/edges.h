/*
 * Which nodes of a graph come behind which: no cycle, no edge twice. Pure; nodes count from 0. One
 * thread at a time.
 */
#ifndef SYCL_CLIENT_GRAPH_EDGES_H
#define SYCL_CLIENT_GRAPH_EDGES_H

#include <stdbool.h>
#include <stdint.h>

/* Nodes, ascending until the program makes edges by hand. */
struct graph_edge_list {
	uint32_t *nodes;
	uint32_t count, capacity;
};

struct graph_edge_node {
	struct graph_edge_list before, after;
	uint32_t seen; /* in the latest search that came here */
};

/* Zeroed: empty. */
struct graph_edges {
	struct graph_edge_node *nodes;
	uint32_t count, capacity;
	uint32_t edges;
	uint32_t search;
};

void graph_edges_fini(struct graph_edges *edges);
/* The new one is the last. -ENOMEM. */
int graph_edges_add(struct graph_edges *edges);
/* Undo the last one, with its edges. */
void graph_edges_drop_last(struct graph_edges *edges);
/*
 * 0: it is there now. -ELOOP: it would close a cycle. -EDQUOT: more than `most`. -ENOMEM. On
 * failure nothing has changed.
 */
int graph_edges_connect(struct graph_edges *edges, uint32_t before, uint32_t after, uint32_t most);
/*
 * Write all nodes in an order that the edges allow; nodes without an edge are in the order of their
 * numbers. `order_out`: room for all nodes. -ENOMEM.
 */
int graph_edges_order(const struct graph_edges *edges, uint32_t *order_out);

#endif
