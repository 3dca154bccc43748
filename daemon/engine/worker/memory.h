/* The memory that a command needs (device thread). */
#ifndef SYCL_ENGINE_WORKER_MEMORY_H
#define SYCL_ENGINE_WORKER_MEMORY_H

struct backend_fault;
struct backend_memory;
struct sched_memory;
struct scheduler_device;

/* Is it there for the next command? 0, or why not; WORKER_SPILL_WAIT: not yet. NULL is there. */
int worker_memory(struct scheduler_device *device, struct sched_memory *memory,
		  struct backend_fault *fault);
int worker_make_memory(struct scheduler_device *device, struct sched_memory *memory,
		       struct backend_memory **made_out, struct backend_fault *fault);

#endif
