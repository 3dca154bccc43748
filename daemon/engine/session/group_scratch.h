/* Memory for building a command group; group/check.h describes its use. */
#ifndef SYCL_ENGINE_GROUP_SCRATCH_H
#define SYCL_ENGINE_GROUP_SCRATCH_H

#include "protocol_limits.h"
#include "scheduler/public/scheduler.h"

struct arena;
struct buffer;
struct graph;

/*
 * A request is built here. There is one for each engine, and one command group uses it at a time.
 */
struct group_scratch {
	struct task_requirement *requirements; /* REQUIREMENTS_MAX */
	struct buffer **buffers;               /* buffers of the requirements */
	struct task_argument *arguments;       /* KERNEL_ARGUMENTS_MAX */
	struct task **after;                   /* grows on demand */
	uint32_t *after_launches; /* for each task of `after`: task_request.after_launches */
	uint32_t after_count, after_capacity;
	struct task **before; /* tasks for which a graph's launch waits; grows on demand */
	uint32_t *before_launches;
	uint32_t before_count, before_capacity;
	/* Number of tasks at its beginning whose failure is also the launch's failure. */
	uint32_t before_data;
	struct backend_fault dependency; /* fault of an event that had failed */
	struct backend_launch_properties properties;
	struct backend_rect rect;                         /* rectangle of a copy or a fill */
	struct backend_image_view views[IMAGE_VIEWS_MAX]; /* of a launch's arguments */
	uint32_t view_count;
	struct arena *arena; /* that a copy reads or writes, or NULL */
	uint64_t gathering;  /* number of the current collection of dependencies */
	/* The graph whose node is checked, with memory for temporaries. NULL: temporaries are not
	 * allowed. */
	struct graph *graph;
	/* Returns the memory of `graph` for that temporary, and makes it if necessary. 0, or 1 with
	 * a fault. */
	int (*find_temporary)(struct graph *graph, const struct buffer *buffer,
			      struct sched_buffer **sched_out, struct backend_fault *fault);
	struct scheduler_device *graph_device; /* device of that graph */
	bool waits_for_all; /* a barrier: it waits for every earlier group of its queue */
};

#endif
