/* The commands that each session has on a device, and how many it may have there. */
#ifndef SYCL_ENGINE_SCHED_FLOW_H
#define SYCL_ENGINE_SCHED_FLOW_H

#include "base/intrusive_list.h"
#include "base/contention.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/admission.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <stdbool.h>
#include <stdint.h>

/* Commands that a session beside others may have on all lanes together. */
#define SCHED_FLOW_WINDOW 16u
/* Device time that a session may have sent without admission, where others may come back. */
#define SCHED_FLOW_AHEAD_NS   1000000u
#define SCHED_FLOW_LANE_LEAST 2u /* but at least so many on each lane */

/*
 * Is the flow alone on its device? Sessions of the latency class count as present whatever they do,
 * because they come without a warning. Every command of a session that is alone passes here, so it
 * is short; the rest of the decision is in admission.c.
 */
static inline bool sched_flow_is_alone(const struct sched_flow *flow)
{
	const struct scheduler_device *device = flow->device;
	if (device->divided || (device->admission && device->admission->queue.waiting > 0))
		return false;
	return device->class_flows[FAIR_QUEUE_LATENCY] <= (flow->class == FAIR_QUEUE_LATENCY) &&
	       !contention_has_others(&device->contention, flow, device->scheduler->now_ns);
}

/* True if the flow has so much work on its device that a returning session would wait for it. Then
 * the fair queue limits the flow, too. A flow that was always alone is not limited. */
static inline bool sched_flow_is_ahead(const struct sched_flow *flow)
{
	const struct list *flows = &flow->device->flows;
	return flows->next != flows->previous && flow->sent * flow->each_ns > SCHED_FLOW_AHEAD_NS;
}

void sched_flow_init(struct scheduler_device *device);
/*
 * The flow of an account on a device, created if need be. Without an account or memory: the
 * device's `unowned_flow`.
 */
struct sched_flow *sched_flow_of(struct scheduler_device *device, struct sched_account *account);
/* No task is open. */
void sched_flow_fini(struct scheduler_device *device);
/* Frees the flows of an account without open tasks. Returns NULL. */
struct sched_flow *sched_flow_free_all(struct sched_flow *flow);
/* Gives the task its flow, before it is sent or parked. */
void sched_flow_enter(struct task *task);
/*
 * True if the task may be sent to the lane now. An admitted task waits only for room in its lane.
 */
bool sched_flow_allows(const struct task *task, uint32_t lane);
void sched_flow_sent(struct task *task);
void sched_flow_back(struct task *task);
/* The task waits for this lane, or for any: SCHED_FLOW_ANY_LANE and enum sched_lanes. */
void sched_flow_park(struct task *task, uint32_t lane);
/* Removes the first task that waits for the lane; there must be one. A flow without parked tasks
 * leaves the line. */
struct task *sched_flow_unpark(struct sched_flow *flow, uint32_t lane);

#endif
