/* Memory in which a command group is put together; group/check.h describes its use. */
#ifndef SYCL_ENGINE_GROUP_SCRATCH_H
#define SYCL_ENGINE_GROUP_SCRATCH_H

#include "scheduler/public/scheduler.h"

struct arena;
struct buffer;
struct graph;

/* Where a request is put together: one per engine, used by one command group at a time. */
struct group_scratch {
	struct task_requirement *requirements; /* REQUIREMENTS_MAX */
	struct buffer **buffers;               /* buffers of the requirements */
	struct task_argument *arguments;       /* KERNEL_ARGUMENTS_MAX */
	struct task **after;                   /* grows */
	uint32_t *after_launches; /* for each task of `after`: task_request.after_launches */
	uint32_t after_count, after_capacity;
	struct task **before; /* tasks that a graph's launch waits for; grows */
	uint32_t *before_launches;
	uint32_t before_count, before_capacity;
	/* The number of tasks at its beginning whose failure is the launch's failure. */
	uint32_t before_data;
	struct backend_fault dependency; /* fault of an event that had failed */
	struct backend_launch_properties properties;
	struct backend_rect rect; /* rectangle of a copy */
	struct arena *arena;      /* that a copy reads or writes, or NULL */
	uint64_t gathering;       /* counts collections of dependencies */
	struct graph *graph; /* whose node is checked: it has memory for temporaries; NULL: none
				may be used */
	/* The memory of `graph` for that temporary, made if need be. 0, or 1 with a fault. */
	int (*find_temporary)(struct graph *graph, const struct buffer *buffer,
			      struct sched_buffer **sched_out, struct backend_fault *fault);
	struct scheduler_device *graph_device; /* device of that graph */
	bool waits_for_all; /* a barrier: it stands for every group of its queue before it */
};

#endif
