/*
 * A launch, a stretch of launches, or the launch of a graph that a session submits again and again:
 * its task is kept and submitted again, with other values. Neither memory nor the command has to be
 * made anew, and the order is known, because nothing else uses the buffers.
 */
#ifndef SYCL_ENGINE_PUBLIC_KEPT_H
#define SYCL_ENGINE_PUBLIC_KEPT_H

#include "scheduler/public/task.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_account;
struct sched_kept;

/* The parts of a task_request that differ each time. */
struct task_kept_request {
	void *owner;
	struct sched_account *account;
	uint64_t flight_group;
	uint32_t home_lane;
	bool is_awaited; /* as in a task_request */
	/* For each launch the values of its arguments, without gaps; copied. Unused for a graph. */
	const uint8_t *const *values;
};

/* NULL: there is no memory. */
struct sched_kept *sched_kept_create(void);
/* The owner needs it no longer; NULL is accepted and returned. A task in flight runs on. */
struct sched_kept *sched_kept_drop(struct sched_kept *kept);
/*
 * The task, which was just submitted, is kept once it has ended well. It must be a plain launch, a
 * stretch, or the launch of a graph without native commands and changes, and its kernels must not
 * print: false, if it is not, or if another task is kept or open. The caller drops it before the
 * graph ends or requires something else.
 */
bool sched_kept_watch(struct sched_kept *kept, struct task *task);
/* True if a task is kept and not open. */
bool sched_kept_is_ready(const struct sched_kept *kept);
/*
 * Submits the kept task again, as task_submit would submit an equal request without `after`. The
 * caller makes sure that the buffers and kernels, or the graph, are there. -EAGAIN: another task
 * uses one of the buffers, contents are not on the device, a limit is reached, or anything else has
 * changed; nothing has happened then.
 */
int task_submit_kept(struct sched_kept *kept, const struct task_kept_request *request,
		     struct task **task_out);

#endif
