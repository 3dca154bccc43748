/* The parts of an instance, for each other alone: nodes, memory, changes, making, launches. */
#ifndef SYCL_ENGINE_GRAPH_INSTANCE_INTERNAL_H
#define SYCL_ENGINE_GRAPH_INSTANCE_INTERNAL_H

#include "graph/instance.h"

/* Results of a check of nodes. Negative instead: a violation. */
enum node_check {
	NODES_PASS = 0,
	NODES_REFUSED,     /* with a fault */
	NODES_TOO_LARGE,   /* the nodes together exceed a limit of the backend's graph */
	NODES_REORDERED,   /* some nodes come behind others than in the backend's graph */
	NODES_SAME_MEMORY, /* two required buffers have the same memory */
};

struct task;
struct task_request;

/* instance_nodes.c */
bool graph_launch_is_empty(const Sycl__V1__Launch *launch);
struct graph_node_form graph_node_form_of(const struct graph_node *node);
/* `features`: of the device. */
bool graph_node_has_form(const struct graph *graph, uint32_t index, uint32_t features);
/* Checks the node as for a launch of its own. Returns PASS or REFUSED. */
int graph_node_check(struct session *session, const struct queue *queue, struct graph *graph,
		     uint32_t index, struct task_request *request_out, struct backend_fault *fault);
/* The requirements are for the graph's order. The node's command itself uses none. */
void graph_node_forget_requirements(const struct graph_node *node, struct task_request *request);
/* As graph_node_check, and adds the node to `order`, which may be NULL. */
int graph_node_check_in_order(struct session *session, const struct queue *queue,
			      struct graph *graph, uint32_t index, struct graph_order *order,
			      struct task_request *request_out, struct backend_fault *fault);
/* Checks that all objects that the nodes name still exist, or were replaced. */
int graph_nodes_check(struct session *session, const struct queue *queue, struct graph *graph,
		      struct graph_order *order, struct backend_fault *fault);

/* instance_memory.c */
void graph_arenas_drop(struct graph_arenas *arenas);
/* Holds the arena until the backend's graph is freed, which may have objects over the arena. */
int graph_instance_hold_arena(struct graph *graph, struct arena *arena);
/* False: the session would exceed its limit. */
bool graph_instance_charge(struct graph *graph);
/* Ends the backend's graph, and frees all that was kept for it. */
void graph_instance_clear(struct graph *graph);

/* instance_changes.c */
/* True if nodes have changes that this device cannot make in an instance. */
bool graph_instance_has_unsupported(const struct queue *queue, const struct graph *graph);
bool graph_instance_must_be_rebuilt(struct session *session, const struct queue *queue,
				    struct graph *graph);
/* Computes again the nodes' requirements, and the edges that follow from them. */
int graph_instance_recompute_order(struct session *session, const struct queue *queue,
				   struct graph *graph, struct backend_fault *fault);
/* Sends changes that the backend's graph may lack with the next launch. */
int graph_instance_send_changes(struct session *session, const struct queue *queue,
				struct graph *graph, struct sched_graph_node **changes,
				struct backend_fault *fault);

/* instance_kept.c */
/* True if the task of this launch may be kept, or be one that was kept. */
bool graph_instance_may_keep(const struct graph_instance_launch *launch);
/* The launch has a task of its own, which is kept for the next one. */
void graph_instance_keep(const struct graph_instance_launch *launch, struct task *task);
/* The graph requires something else, or ends. */
void graph_instance_forget_kept(struct graph *graph);

#endif
