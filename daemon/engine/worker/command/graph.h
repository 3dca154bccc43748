/* Graphs of a backend: the device thread's half. */
#ifndef SYCL_ENGINE_WORKER_GRAPH_WORKER_H
#define SYCL_ENGINE_WORKER_GRAPH_WORKER_H

#include <stdbool.h>

struct backend_fault;
struct scheduler_device;
struct task_command;

/* `object`: a struct sched_graph. False: it was set aside, or waits for a quiet moment. */
bool worker_graph_handle(struct scheduler_device *device, void *object);
/* Once in each turn while graphs wait for a quiet moment: finishes them in one, and refuses those
 * that have waited for too long. */
void worker_graph_step(struct scheduler_device *device);
/* As worker_command_resolve, for the launch of a graph: its memories, and the graph in the state
 * that this launch needs. */
int worker_graph_resolve(struct scheduler_device *device, struct task_command *command,
			 struct backend_fault *fault);

#endif
