/* Chooses the lane of a task on its device. */
#ifndef SYCL_ENGINE_SCHED_CHOOSE_H
#define SYCL_ENGINE_SCHED_CHOOSE_H

#include "scheduler/state/device.h"

#include <stdbool.h>

struct sched_lane;
struct task;

/* The lane for a task whose flow is known. `fixed_out`: no other will do. */
struct sched_lane *sched_lane_choose(struct task *task, bool *fixed_out);
/* The compute lane of the group with the least in front. */
struct sched_lane *sched_lane_most_idle(struct scheduler_device *device, enum sched_lanes lanes);
/*
 * True if the task is sent only when all its predecessors are done. That holds for a copy lane,
 * which all sessions share: a task that waited there would hold up all moves (F8). A launch that
 * changes its graph waits, too.
 */
bool sched_lane_waits(const struct task *task);

#endif
