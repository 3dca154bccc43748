/*
 * A lane is an in-order command queue. Each command keeps its event until progress() reports it:
 * for its times and for lanes that wait on it.
 *
 * Completion. A lane requests one callback at a time. It is for the last command up to which all
 * take OPENCL_WINDOW_NS at most. A callback per command would waste work, and one on the last
 * command of a batch would report the first commands too late. When the callback runs, progress()
 * reports all complete commands and requests the next callback. A kernel that was short lately and
 * is long now delays the reports of earlier commands. So the engine polls in between, too
 * (sched_pace_look).
 */
#ifndef SYCL_BACKENDS_OPENCL_LANE_H
#define SYCL_BACKENDS_OPENCL_LANE_H

#include "opencl/driver/objects.h"

#define OPENCL_WINDOW_NS       100000ull
#define OPENCL_WINDOW_COMMANDS 64u

int opencl_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		       struct backend_lane **lane_out, struct backend_fault *fault_out);
void opencl_lane_free(struct backend_lane *lane);

/* Makes room for one more pending command, so that no step fails once the command was sent. 0 or
 * -ENOMEM. */
int opencl_lane_reserve(struct backend_lane *lane);
/* Appends a command that was sent, after opencl_lane_reserve. The lane takes over the event, the
 * reference of the kernel and the staging memory of `pending`. */
void opencl_lane_push(struct backend_lane *lane, const struct opencl_pending *pending);
/*
 * Call before a command of another queue waits for this one: OpenCL demands that the awaited
 * command's queue is flushed first. Otherwise a driver may queue the later command before the one
 * that it waits for.
 */
void opencl_lane_flush_up_to(struct backend_lane *lane, uint64_t sequence);
/* backend_ops' flush and progress. */
void opencl_flush(struct backend_device *device);
uint32_t opencl_progress(struct backend_device *device, struct backend_completion *completions,
			 uint32_t capacity);

#endif
