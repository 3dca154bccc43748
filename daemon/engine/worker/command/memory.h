/* The memory that a command needs (device thread). */
#ifndef SYCL_ENGINE_WORKER_MEMORY_H
#define SYCL_ENGINE_WORKER_MEMORY_H

struct backend_fault;
struct sched_graph_launch;
struct sched_memory;
struct scheduler_device;

/* Checks that a memory is there for the next command. 0; WORKER_SPILL_WAIT: not yet; or the reason
 * why it cannot be. NULL counts as there. */
int worker_memory(struct scheduler_device *device, struct sched_memory *memory,
		  struct backend_fault *fault);
/* Brings all memories that a graph's nodes name, if the graph may be made now. The results are
 * those of worker_memory. */
int worker_memory_need_graph(const struct sched_graph_launch *launch, struct backend_fault *fault);

#endif
