/*
 * An executable graph of a session: its nodes as decoded command groups, and which nodes each comes
 * behind. It holds ids and no objects, as shapes do (shape.h). Each launch looks them up and checks
 * them again, so the id of a freed object is refused as always. The library keeps what its graphs
 * name.
 *
 *   GraphCreate --GraphNode, GraphEdges ...--> GraphFinish --GraphUpdate ...--> launches (graph/run.h)
 *
 * Each node comes behind those that it waits for, so there can be no cycle. Nodes that follow a
 * condition are its body, as many as it states. Their `place` is the condition, and only the
 * condition has edges to nodes outside. Front thread; never blocks.
 */
#ifndef SYCL_ENGINE_GRAPH_H
#define SYCL_ENGINE_GRAPH_H

#include "command.pb-c.h"
#include "session/objects.h"

struct graph_run;
struct graph_instance;

#define GRAPH_TOP UINT32_MAX /* the place of a node that is in no body */

struct graph_node {
	Sycl__V1__CommandGroup *group; /* a copy */
	uint64_t bytes;                /* size of the copy */
	uint32_t first_edge, edge_count;
	/* place: the condition whose body has the node, or TOP; body_end: for a condition the node
	 * behind its body, else 0. */
	uint32_t place, body_end;
	bool has_successor, is_host_task;
	bool is_disabled; /* the node does nothing, and only orders */
	/* is_native: a native command; is_taken: the scheduler calls its function. */
	bool is_native, is_taken;
	bool changed; /* the node is in graph_instance.changed */
	/* Number of the launch that carried the latest change; 0: none has carried it. */
	uint64_t carried;
};

struct graph {
	struct object object;
	struct context *context; /* NULL: the graph has failed */
	uint32_t device_index;
	bool updatable, profiling, finished;
	uint32_t node_count, node_limit; /* nodes that came; nodes that were announced */
	struct graph_node *nodes;
	uint32_t *edges; /* for each node the nodes before it */
	uint32_t edge_count, edge_capacity;
	uint32_t sink_count, sink;  /* nodes without a successor; the last of these nodes */
	uint32_t root_count;        /* nodes without a predecessor */
	uint32_t host_count;        /* host tasks */
	uint32_t native_count;      /* native commands */
	uint32_t condition_count;   /* IF and WHILE nodes */
	uint32_t place, depth;      /* place of the next node, and the number of bodies around it */
	uint32_t requirement_count; /* requirements of all nodes */
	uint64_t charged_bytes;     /* bytes that the session is charged */
	struct group *last;         /* the latest launch, while it is open */
	struct graph_run *spare;    /* memory of a completed launch, for the next one; or NULL */
	/* For launches as one task (graph/instance.h); NULL before the first launch. */
	struct graph_instance *instance;
	struct graph_temporary *temporaries; /* memory that nodes use: graph/temporary.h */
	uint32_t temporary_count, temporary_capacity;
};

/*
 * A copy of a message in memory of its own, of at most `most_bytes` together. What a later version
 * may have added comes along. -ENOMEM; -EDQUOT: more than most_bytes.
 */
int graph_group_copy(const Sycl__V1__CommandGroup *message, uint64_t most_bytes,
		     Sycl__V1__CommandGroup **copy_out, uint64_t *bytes_out);
/* Accepts NULL. */
void graph_group_free(Sycl__V1__CommandGroup *group);

/* Room for the announced nodes. -ENOMEM. */
int graph_reserve(struct graph *graph, uint32_t nodes);
/* Adds a node, without edges; takes the group. There is room. */
void graph_add(struct graph *graph, Sycl__V1__CommandGroup *group, uint64_t bytes);
/*
 * The latest node comes behind these, which came before it in the same place. -EPROTO: it does not,
 * or more edges than are allowed. -ENOMEM.
 */
int graph_connect(struct graph *graph, const uint32_t *after, size_t count);
/* Returns the place of the next node in so many bodies, and the node before which the innermost
 * body ends. */
uint32_t graph_next_place(const struct graph *graph, uint32_t *depth_out, uint32_t *end_out);
/* No more nodes come. */
void graph_seal(struct graph *graph);
/* Frees all memory of the graph but the structure itself. */
void graph_fini(struct graph *graph);

/* True if the graph is launched as one task or not at all, as its nodes cannot be launched one by
 * one. */
static inline bool graph_needs_instance(const struct graph *graph)
{
	return graph->native_count > 0 || graph->condition_count > 0;
}

static inline const uint32_t *graph_after(const struct graph *graph, uint32_t node)
{
	return graph->edges + graph->nodes[node].first_edge;
}

#endif
