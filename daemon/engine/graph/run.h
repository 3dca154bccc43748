/*
 * A launch of an executable graph: one command group, and a task for each node. Tasks are submitted
 * at once, in the order of nodes, so buffers are brought, ordered and recorded for each node as
 * for any group. The graph's own edges come in addition.
 *
 *   what it waits for --> nodes without predecessors --edges--> ... --> its end --> what comes behind the launch
 *
 * Its end is a task that is behind all of them: the only node without followers, or else a barrier.
 * A node that fails, or is refused, fails its followers and the launch. The cause of the launch is
 * the first failure that does not follow from another one. Front thread.
 */
#ifndef SYCL_ENGINE_GRAPH_RUN_H
#define SYCL_ENGINE_GRAPH_RUN_H

#include "graph/graph.h"

struct backend_fault;
struct group_scratch;

struct graph_node_run {
	struct work work;
	struct graph_run *run;
	struct task *task;   /* NULL: the task is over, or was never made */
	struct arena *arena; /* the arena that the node copies from or to, or NULL */
	bool is_host_task, held;
	uint32_t host_slot, host_slot_value;
	struct list held_link; /* link in session.held_nodes */
};

struct graph_run {
	struct group *group; /* the launch */
	struct graph *graph; /* a reference */
	uint64_t gathered;   /* the latest collection of dependencies that includes this launch */
	uint32_t count;      /* nodes, and the end where it is a barrier */
	uint32_t submitted;  /* nodes that have or had a task */
	uint32_t left;       /* submitted nodes that are not over */
	uint32_t end; /* index of the node behind all others; `count`: none, a node was refused */
	struct task_outcome outcome;
	struct graph_node_run nodes[];
};

/*
 * Submit the nodes of a group that launches a graph; its queue and its slots are checked. 0: the
 * group is open, also where nodes were refused. 1 with a fault: nothing of it was submitted.
 * Negative: as 0, and the session will close.
 */
int graph_launch(struct session *session, struct queue *queue,
		 const Sycl__V1__CommandGroup *message, const struct group *slots,
		 struct backend_fault *fault);
/* Checks that the slots of the launch's host tasks are valid. Otherwise a violation. */
int graph_launch_check_slots(struct session *session, const Sycl__V1__GraphLaunch *message);
/* A launch was refused: its host tasks never run, and the contents that its nodes would have
 * written are lost. */
void graph_launch_refuse(struct session *session, const Sycl__V1__GraphLaunch *message,
			 const struct backend_fault *fault);
/* poison.c: the contents that the nodes from `first` on would have written are lost. */
void graph_poison_nodes(struct session *session, const struct graph *graph, uint32_t first,
			const struct backend_fault *fault);
/* True if a node of the launch has begun. */
bool graph_run_running(const struct graph_run *run);
/* A node's task is over, or held. Returns the session. */
struct session *graph_node_task_changed(struct graph_node_run *node, struct task *task,
					const struct task_outcome *outcome);
/* A host task of a launch that the client runs now, or NULL. `node`: from 1, as in HostTaskDone. */
struct graph_node_run *graph_run_held(const struct graph_run *run, uint32_t node);
/* The client has run the host task; `fault` NULL: with success. */
void graph_node_end(struct graph_node_run *node, const struct backend_fault *fault);
/* The client has disconnected: its open nodes fail. */
void graph_nodes_abandon(struct session *session);

#endif
