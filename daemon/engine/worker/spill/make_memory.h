/* Memory of the backend (device thread). */
#ifndef SYCL_ENGINE_WORKER_MAKE_MEMORY_H
#define SYCL_ENGINE_WORKER_MAKE_MEMORY_H

struct backend_fault;
struct backend_memory;
struct sched_memory;
struct scheduler_device;

/* 0, or a negative errno with a fault. */
int worker_make_memory(struct scheduler_device *device, struct sched_memory *memory,
		       struct backend_memory **made_out, struct backend_fault *fault);

#endif
