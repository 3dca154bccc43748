/* Temporaries in memory of the backend's graph that is being made (device thread). */
#ifndef SYCL_ENGINE_WORKER_GRAPH_MEMORY_H
#define SYCL_ENGINE_WORKER_GRAPH_MEMORY_H

#include <stdbool.h>

struct backend_fault;
struct backend_memory;
struct sched_graph;
struct sched_memory;
struct scheduler_device;

/* The memory inside the graph that stands for this memory; NULL: none. */
struct backend_memory *worker_graph_find_memory(const struct sched_graph *graph,
						const struct sched_memory *memory);
/*
 * Where a temporary lies in the graph that is being filled in; NULL: nowhere but in its handle.
 * `need` makes it if that can be: 0 when it has or cannot, or negative with a fault.
 */
struct backend_memory *worker_graph_memory(const struct sched_memory *memory);
int worker_graph_need(struct scheduler_device *device, struct sched_memory *memory,
		      struct backend_fault *fault);
/* True if a new graph would have memory inside it for this memory. */
bool worker_graph_has_memory(const struct sched_graph *graph, const struct sched_memory *memory);

#endif
