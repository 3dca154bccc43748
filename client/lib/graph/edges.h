/* The order of a graph's nodes: no cycle, and no edge twice. Pure; nodes count from 0. One thread
 * at a time. */
#ifndef SYCL_CLIENT_GRAPH_EDGES_H
#define SYCL_CLIENT_GRAPH_EDGES_H

#include <stdbool.h>
#include <stdint.h>

/* Nodes, ascending until the program adds edges itself. */
struct graph_edge_list {
	uint32_t *nodes;
	uint32_t count, capacity;
};

struct graph_edge_node {
	struct graph_edge_list before, after;
	uint32_t seen; /* the latest search that reached this node */
};

/* Zeroed: empty. */
struct graph_edges {
	struct graph_edge_node *nodes;
	uint32_t count, capacity;
	uint32_t edges;
	uint32_t search;
};

void graph_edges_fini(struct graph_edges *edges);
/* Adds a node, which is the last one. -ENOMEM. */
int graph_edges_add(struct graph_edges *edges);
/* Removes the last node with its edges. */
void graph_edges_drop_last(struct graph_edges *edges);
/* 0: the edge exists now. -ELOOP: the edge would close a cycle. -EDQUOT: there would be more than
 * `most`. -ENOMEM. On failure nothing has changed. */
int graph_edges_connect(struct graph_edges *edges, uint32_t before, uint32_t after, uint32_t most);
/* Writes all nodes in an order that the edges allow. Nodes without an edge are in the order of
 * their numbers. `order_out`: room for all nodes. -ENOMEM. */
int graph_edges_order(const struct graph_edges *edges, uint32_t *order_out);

#endif
