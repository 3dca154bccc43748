/* A task's way to a lane of its device and back. */
#ifndef SYCL_ENGINE_SCHED_LANE_H
#define SYCL_ENGINE_SCHED_LANE_H

#include <stdbool.h>

struct sched_flow;
struct scheduler_device;
struct task;

void sched_lane_dispatch(struct task *task);
/* The flow has another class: its parked tasks wait for lanes of that class, or are sent there. */
void sched_flow_reassign_lanes(struct sched_flow *flow);
/* The task is back from its device. */
void sched_lane_return(void *object);
/* After tasks came back: sends parked tasks while there is room, one of each flow in turn. */
void sched_lane_unpark(struct scheduler_device *device);
/* Tasks are parked, and nothing is in flight that would let them go. */
bool sched_lane_stalled(const struct scheduler_device *device);

#endif
