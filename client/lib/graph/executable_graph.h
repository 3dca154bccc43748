/* Executable graphs, for the code that launches and updates them. */
#ifndef SYCL_CLIENT_EXECUTABLE_GRAPH_H
#define SYCL_CLIENT_EXECUTABLE_GRAPH_H

#include "graph/command_graph.h"
#include "handler/messages.h"

/* With the graph lock. Copies the graph's present nodes and edges into a zeroed executable graph.
 * graph_flattened_fini must end it, also after a failure. */
sycl_result graph_flatten(const struct graph *graph, struct executable_graph *to);
/* temporaries.c: checks that no node needs contents of a temporary that no earlier node has
 * written. With the graph lock. */
sycl_result graph_check_flattened(const struct executable_graph *graph);
/* condition.c: checks the conditions. A graph with conditions runs on its device alone, and never
 * changes. With the graph lock. */
sycl_result graph_check_conditions(const struct executable_graph *graph);
/* Without the lock. */
void graph_flattened_fini(struct executable_graph *graph);
/*
 * Makes a message of a node, without queue, number, slots and events. The message points into the
 * handler. Before the call, `block` must be `small` and `lent` NULL. Call group_messages_fini also
 * after a failure.
 */
sycl_result graph_node_message(struct group_messages *messages, const struct handler *handler);

/* Checks that the graph has the connection, context and device of the handler's queue. */
sycl_result graph_check_launchable(const struct handler *handler, struct executable_graph *graph);

/* graph_launch.c: the host tasks of a launch that is being submitted, one for each node that is a
 * host task. */
struct graph_tasks {
	struct host_task **tasks; /* NULL: none */
	uint32_t count;
	Sycl__V1__HostTask *messages, **list;
	Sycl__V1__GraphLaunch launch;
};
sycl_result graph_tasks_make(const struct handler *handler, struct graph_tasks *tasks_out);
/* Puts the tasks into the connection's list and into the message. With the submit lock. */
void graph_tasks_put(struct connection *connection, struct graph_tasks *tasks, uint64_t group);
/* Called when the sender does not need the tasks any more. */
void graph_tasks_settle(struct connection *connection, struct graph_tasks *tasks, bool sent);

#endif
