/* Executable graphs, for the code that launches and updates them. */
#ifndef SYCL_CLIENT_EXECUTABLE_GRAPH_H
#define SYCL_CLIENT_EXECUTABLE_GRAPH_H

#include "graph/command_graph.h"
#include "handler/messages.h"

/*
 * With the graph lock. Nodes and edges of what the graph is now, into a zeroed executable graph, to
 * be ended in any case.
 */
sycl_result graph_flatten(const struct graph *graph, struct executable_graph *to);
/* temporaries.c: no node needs contents of a temporary that none before it has written. With
 * the graph lock. */
sycl_result graph_check_flattened(const struct executable_graph *graph);
/* condition.c: one with conditions is for its device alone, and never changes. With the graph
 * lock. */
sycl_result graph_check_conditions(const struct executable_graph *graph);
/* Without the lock. */
void graph_flattened_fini(struct executable_graph *graph);
/*
 * A node as a message: without queue, number, slots and events. It points into the handler. `block`
 * must be `small` and `lent` NULL before; group_messages_fini in any case.
 */
sycl_result graph_node_message(struct group_messages *messages, const struct handler *handler);

/* Is it of the same connection, context and device as the handler's queue? */
sycl_result graph_check_launchable(const struct handler *handler, struct executable_graph *graph);

/* graph_launch.c: the host tasks of a launch that is being submitted, one for each node that is
 * one. */
struct graph_tasks {
	struct host_task **tasks; /* NULL: none */
	uint32_t count;
	Sycl__V1__HostTask *messages, **list;
	Sycl__V1__GraphLaunch launch;
};
sycl_result graph_tasks_make(const struct handler *handler, struct graph_tasks *tasks_out);
/* Into the connection's list, and the message. With the submit lock. */
void graph_tasks_put(struct connection *connection, struct graph_tasks *tasks, uint64_t group);
/* The sender is through with them. */
void graph_tasks_settle(struct connection *connection, struct graph_tasks *tasks, bool sent);

#endif
