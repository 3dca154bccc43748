/* Graphs of a backend: the device thread's half. */
#ifndef SYCL_ENGINE_WORKER_GRAPH_WORKER_H
#define SYCL_ENGINE_WORKER_GRAPH_WORKER_H

#include <stdbool.h>

struct backend_fault;
struct backend_memory;
struct sched_graph;
struct sched_memory;
struct scheduler_device;
struct task_command;

/* `object`: a struct sched_graph. False: it was set aside. */
bool worker_graph_handle(struct scheduler_device *device, void *object);
/*
 * Where a temporary lies in the graph that is being filled in; NULL: nowhere but in its handle.
 * `need` makes it if that can be: 0 when it has or cannot, or negative with a fault.
 */
struct backend_memory *worker_graph_memory(const struct sched_memory *memory);
int worker_graph_need(struct scheduler_device *device, struct sched_memory *memory,
		      struct backend_fault *fault);
/* Would a new graph have memory of its own for it? */
bool worker_graph_has_memory(const struct sched_graph *graph, const struct sched_memory *memory);
/* Before a launch: brings the graph into the state that this launch needs. Fills in the command's
 * graph. */
int worker_graph_prepare(struct scheduler_device *device, struct task_command *command,
			 struct backend_fault *fault);

#endif
