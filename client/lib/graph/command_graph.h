/*
 * Graphs of command groups (include/syclclient/graph.h): nodes are handlers that cannot be changed
 * any more. An executable graph is a list of nodes that the service has, too.
 *
 * The connection's graph_lock guards all of a graph, and the recording state of queues. It is
 * locked before all other locks. While it is held, no object is destroyed that may call the
 * program. A graph holds the queues that it records, and they have a weak reference to it. So there
 * is no cycle (N8). Recorded events name their graph by a number that is never used again.
 */
#ifndef SYCL_CLIENT_COMMAND_GRAPH_H
#define SYCL_CLIENT_COMMAND_GRAPH_H

#include "graph/edges.h"
#include "handler/handler.h"

/* A node of a graph that can be changed. Its edges are in graph.edges. */
struct graph_item {
	sycl_graph_node_type type;
	struct handler *handler; /* a reference; NULL: an empty node */
	uint64_t recorded_from;  /* the queue's id; 0: the program added the node itself */
};

/* A node's access to bytes of a buffer, by which nodes are ordered. */
struct graph_access {
	uint64_t begin, end;
	uint32_t node;
	bool writes;
};

/* The accesses to one buffer for which later accesses may have to wait. */
struct graph_tracker {
	struct buffer *root; /* a reference */
	struct graph_access *accesses;
	uint32_t count, capacity;
	uint32_t coming; /* accesses of the node that is being added */
};

struct graph_recording {
	struct queue *queue; /* a reference */
	uint32_t last;       /* latest node of an in-order queue, counted from 1; 0: none */
};

struct graph {
	struct object object;
	struct graph *next, *previous; /* links in connection.graphs */
	uint64_t number;               /* recorded events name the graph by this number */
	struct context *context;       /* references */
	struct device *device;
	uint32_t flags;
	struct graph_item *items;
	uint32_t capacity; /* room of `items`, of which edges.count are used */
	struct graph_edges edges;
	struct graph_tracker *trackers;
	uint32_t tracker_count, tracker_capacity;
	struct graph_recording *recordings;
	uint32_t recording_count, recording_capacity;
};

struct executable_node {
	/* A reference; NULL: the node only orders. Under the graph lock, except for a host task,
	 * which is never replaced. */
	struct handler *handler;
	struct bridge_graph
		*native_graph; /* A reference, for a native command through a service, else NULL. */
	uint32_t first_edge, edge_count;
	/*
	 * For a condition: the number of nodes behind it that are its body, nested bodies included.
	 */
	uint32_t body_count;
	uint32_t depth; /* number of bodies in which the node lies */
	bool has_successor, is_host_task, is_native;
	bool is_disabled; /* under the graph lock */
};

struct executable_graph {
	struct object object; /* first, because a handler holds the graph by it */
	struct remote remote;
	struct context *context; /* references */
	struct device *device;
	uint32_t flags;  /* flags of finalize */
	uint64_t origin; /* the graph from which this one was made */
	struct executable_node *nodes;
	uint32_t count, capacity;
	uint32_t *edges;
	uint32_t edge_count, edge_capacity;
	uint32_t *place; /* for each node of the origin, its first node here */
	uint32_t place_count;
	uint32_t host_count; /* host tasks */
	uint32_t condition_count;
	/* Native commands, which the service calls before the graph is finalized. */
	uint32_t native_count;
};

DEFINE_PIN(graph, sycl_graph, HANDLE_GRAPH)
DEFINE_PIN(executable_graph, sycl_executable_graph, HANDLE_EXECUTABLE_GRAPH)

/* accesses.c. With the graph lock. Checks whether a graph may use the handler's buffers (L11). */
sycl_result graph_check_buffers(const struct handler *handler);
/* temporaries.c: checks a group that becomes no node. */
sycl_result graph_check_no_temporaries(const struct handler *handler);
/* Checks a handler that uses a temporary. A host task, an update and a copy from the program may
 * not use one. */
sycl_result graph_check_temporary(const struct handler *handler, struct buffer *buffer);
/* Adds the edges that a new node's accesses require. On failure some edges have been added. On
 * success graph_accesses_enter cannot fail. */
sycl_result graph_accesses_connect(struct graph *graph, uint32_t node,
				   const struct handler *handler);
void graph_accesses_enter(struct graph *graph, uint32_t node, const struct handler *handler);
void graph_accesses_fini(struct graph *graph);

/* nodes.c. With the graph lock. */
struct graph_addition {
	struct handler *handler; /* NULL: empty. On success the graph takes this reference. */
	sycl_graph_node_type type;
	uint64_t recorded_from;
	const uint32_t *before; /* counted from 0 */
	uint32_t before_count;
};
sycl_result graph_add_node(struct graph *graph, const struct graph_addition *addition,
			   uint32_t *node_out);
sycl_result graph_connect_nodes(struct graph *graph, uint32_t before, uint32_t after);
sycl_graph_node_type graph_type_of(const struct handler *handler);
/* Checks that the handler's events are nodes of this graph; otherwise the handler is refused (L6).
 * `nodes` gets them and has room for all. */
sycl_result graph_event_nodes(const struct graph *graph, const struct handler *handler,
			      uint32_t *nodes);
/* Checks a node's number, as the program has it. */
sycl_result graph_check_node(const struct graph *graph, sycl_graph_node node);

/* graph.c. With the graph lock. */
struct graph_recording *graph_recording_of(struct graph *graph, const struct queue *queue);
sycl_result graph_record_queue(struct graph *graph, struct queue *queue);
sycl_result graph_check_place(const struct graph *graph, const struct queue *queue);

/*
 * record.c. True if the handler must be recorded, because its queue is recorded, or an event on
 * which it depends. Without locks; cheap. If true, graph_record makes a node of the handler instead
 * of sending it.
 */
bool graph_records(const struct handler *handler);
sycl_result graph_record(struct handler *handler, struct handler *origin, sycl_event *event_out);
/* Makes the handler that a node keeps, as a reference. It is the origin, or a copy if the origin is
 * no object or if another handler is sent. */
sycl_result graph_keep(struct handler *handler, struct handler *origin, struct handler **kept_out);

#endif
