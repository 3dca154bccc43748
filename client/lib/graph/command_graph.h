/*
 * Graphs of command groups (include/syclclient/graph.h): nodes are handlers that cannot be changed
 * any more. An executable graph is a list of them that the service has, too.
 *
 * All of a graph, and the recording state of queues, is under the connection's graph_lock, which
 * comes before all other locks. While it is held, no object is destroyed that may call the program.
 * A graph holds the queues that it records, and they have a weak reference to it. So there is no
 * cycle (N8). Recorded events name their graph by a number that is never used again.
 */
#ifndef SYCL_CLIENT_COMMAND_GRAPH_H
#define SYCL_CLIENT_COMMAND_GRAPH_H

#include "graph/edges.h"
#include "handler/handler.h"

/* A node of a graph that can be changed. Its edges are in graph.edges. */
struct graph_item {
	sycl_graph_node_type type;
	struct handler *handler; /* a reference; NULL: an empty node */
	uint64_t recorded_from;  /* the queue's id; 0: added by hand */
};

/* A node's access to bytes of a buffer, by which nodes are ordered. */
struct graph_access {
	uint64_t begin, end;
	uint32_t node;
	bool writes;
};

/* The accesses to one buffer that later ones may have to come behind. */
struct graph_tracker {
	struct buffer *root; /* a reference */
	struct graph_access *accesses;
	uint32_t count, capacity;
	uint32_t coming; /* of the node that is being added */
};

struct graph_recording {
	struct queue *queue; /* a reference */
	uint32_t last;       /* of an in-order queue: its latest node, counted from 1; 0: none */
};

struct graph {
	struct object object;
	struct graph *next, *previous; /* links in connection.graphs */
	uint64_t number;               /* recorded events name it by this */
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
	struct handler *handler; /* a reference; NULL: it only orders. Under the graph lock, but of
				    a host task, which stays */
	struct bridge_graph
		*native_graph; /* a reference; of a native command through a service, else NULL */
	uint32_t first_edge, edge_count;
	/* Of a condition: number of nodes behind it that are its body, nested bodies included. */
	uint32_t body_count;
	uint32_t depth; /* in so many bodies it lies */
	bool has_successor, is_host_task, is_native;
	bool is_disabled; /* under the graph lock */
};

struct executable_graph {
	struct object object; /* first: a handler holds the graph by it */
	struct remote remote;
	struct context *context; /* references */
	struct device *device;
	uint32_t flags;  /* flags of finalize */
	uint64_t origin; /* the graph that it was made of */
	struct executable_node *nodes;
	uint32_t count, capacity;
	uint32_t *edges;
	uint32_t edge_count, edge_capacity;
	uint32_t *place; /* for each node of the origin, its first node here */
	uint32_t place_count;
	uint32_t host_count; /* host tasks */
	uint32_t condition_count;
	uint32_t native_count; /* native commands: the service calls them before it is finalized */
};

DEFINE_PIN(graph, sycl_graph, HANDLE_GRAPH)
DEFINE_PIN(executable_graph, sycl_executable_graph, HANDLE_EXECUTABLE_GRAPH)

/* accesses.c. With the graph lock. May these be used in a graph at all? (L11) */
sycl_result graph_check_buffers(const struct handler *handler);
/* temporaries.c: of a group that becomes no node. */
sycl_result graph_check_no_temporaries(const struct handler *handler);
/* A check for a handler that uses a temporary: no host task, no update and no copy from the program
 * may use one. */
sycl_result graph_check_temporary(const struct handler *handler, struct buffer *buffer);
/* The edges that a new node's accesses request; on failure some are there. graph_accesses_enter
 * then cannot fail. */
sycl_result graph_accesses_connect(struct graph *graph, uint32_t node,
				   const struct handler *handler);
void graph_accesses_enter(struct graph *graph, uint32_t node, const struct handler *handler);
void graph_accesses_fini(struct graph *graph);

/* nodes.c. With the graph lock. */
struct graph_addition {
	struct handler *handler; /* NULL: empty. On success the graph has this reference */
	sycl_graph_node_type type;
	uint64_t recorded_from;
	const uint32_t *before; /* from 0 */
	uint32_t before_count;
};
sycl_result graph_add_node(struct graph *graph, const struct graph_addition *addition,
			   uint32_t *node_out);
sycl_result graph_connect(struct graph *graph, uint32_t before, uint32_t after);
sycl_graph_node_type graph_type_of(const struct handler *handler);
/* The handler's events are nodes of this graph, or the handler is refused (L6). `nodes`: room for
 * all. */
sycl_result graph_event_nodes(const struct graph *graph, const struct handler *handler,
			      uint32_t *nodes);
/* A node's number as the program has it. */
sycl_result graph_check_node(const struct graph *graph, sycl_graph_node node);

/* graph.c. With the graph lock. */
struct graph_recording *graph_recording_of(struct graph *graph, const struct queue *queue);
sycl_result graph_record_queue(struct graph *graph, struct queue *queue);
sycl_result graph_check_place(const struct graph *graph, const struct queue *queue);

/*
 * record.c. Is the handler to be recorded, as its queue is, or an event that it depends on?
 * Without locks; cheap. Then graph_record makes a node of it instead of sending it.
 */
bool graph_records(const struct handler *handler);
sycl_result graph_record(struct handler *handler, struct handler *origin, sycl_event *event_out);
/* The handler that a node keeps, as a reference. It is the origin, or a copy if that is no object
 * or if another one is to be sent. */
sycl_result graph_keep(struct handler *handler, struct handler *origin, struct handler **kept_out);

#endif
