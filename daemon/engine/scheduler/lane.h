/* Which lane of its device a task goes to, and the way there and back. */
#ifndef SYCL_ENGINE_SCHED_LANE_H
#define SYCL_ENGINE_SCHED_LANE_H

#include <stdbool.h>

struct sched_flow;
struct scheduler_device;
struct task;

void sched_lane_dispatch(struct task *task);
/* The flow has another class: what waits for room in lanes waits for those of that class, or goes
 * there. */
void sched_flow_reassign_lanes(struct sched_flow *flow);
/*
 * Does it go only when nothing is left to wait for? What goes to a copy lane does: all sessions'
 * moves share those, and one that had to wait there, for a kernel that runs long or an event that
 * does not happen, would hold up everybody's (F8). So does a launch that changes its graph.
 */
bool sched_lane_waits(const struct task *task);
/* The device thread is done with it. */
void sched_lane_return(struct task *task);
/* After some came back: as many of those that waited for room as there is room, one of each flow in
 * turn. */
void sched_lane_unpark(struct scheduler_device *device);
/* Some wait for room, and nothing will come back that would give it. */
bool sched_lane_stalled(const struct scheduler_device *device);

#endif
