/*
 * Temporaries of graphs: buffers that only nodes of graphs use, and whose contents no launch leaves
 * to the next. The buffer itself has a size and nothing else. Each executable graph that uses one
 * has a buffer of the scheduler for it, made when a node is checked. It has memory on the graph's
 * device from the first launch on, charged to the session. It is released with the graph; running
 * launches keep it. So two graphs with the same temporary do not wait for each other. Front thread;
 * never blocks.
 */
#ifndef SYCL_ENGINE_GRAPH_TEMPORARY_H
#define SYCL_ENGINE_GRAPH_TEMPORARY_H

#include "graph/graph.h"
#include "group/check.h"

struct graph_temporary {
	uint64_t number; /* buffer.temporary */
	struct sched_buffer *sched;
};

/*
 * group_check_requirements of a node, of which `request` has the device: it may name temporaries,
 * unless it is the host's. 0; 1 with a fault; negative: the session will close.
 */
int graph_check_requirements(struct graph *graph, const Sycl__V1__CommandGroup *group,
			     struct task_request *request, struct backend_fault *fault);
/* The graph ends. Open launches keep the temporaries that they use. */
void graph_temporaries_end(struct graph *graph);

#endif
