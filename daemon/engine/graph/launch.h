/* A launch of a graph while it is submitted: between launch.c and run.c. */
#ifndef SYCL_ENGINE_GRAPH_LAUNCH_H
#define SYCL_ENGINE_GRAPH_LAUNCH_H

#include "graph/run.h"
#include "session/session.h"

/* The state of a launch that is being submitted. */
struct graph_launch {
	struct session *session;
	struct queue *queue;
	struct graph *graph;
	struct graph_run *run;
	const Sycl__V1__CommandGroup *message;
	struct backend_fault dependency;
	const struct backend_fault *failed_dependency; /* NULL, or `dependency` */
};

/*
 * The dependencies of the whole launch: events, the queue, and the launch before (L9), which passes
 * no failure on. Into scratch.before.
 */
int graph_launch_gather(struct graph_launch *launch, struct backend_fault *fault);
/* Launches the graph node by node; results as of graph_launch. */
int graph_replay(struct graph_launch *launch, const struct group *slots,
		 struct backend_fault *fault);

#endif
