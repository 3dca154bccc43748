/* What each session has on a device, and how much it may have there. */
#ifndef SYCL_ENGINE_SCHED_FLOW_H
#define SYCL_ENGINE_SCHED_FLOW_H

#include "base/intrusive_list.h"
#include "base/contention.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission.h"
#include "scheduler/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state.h"
#include "scheduler/task.h"

#include <stdbool.h>
#include <stdint.h>

#define SCHED_FLOW_WINDOW                                                                          \
	16u /* of a session that is not alone: sent and not come back, on all lanes together ...   \
	     */
#define SCHED_FLOW_AHEAD_NS                                                                        \
	1000000u /* device time that a session may have sent without admission, where others may   \
		    come back */
#define SCHED_FLOW_LANE_LEAST 2u /* ... but so many on each lane in any case */

/*
 * Is nobody else about on its device? A session of the class latency is, whatever it does: what may
 * not wait comes without a warning. In the way of each command of who is alone: what else there is
 * to say of the fair queue is in admission.c.
 */
static inline bool sched_flow_is_alone(const struct sched_flow *flow)
{
	const struct scheduler_device *device = flow->device;
	if (device->divided || (device->admission && device->admission->queue.waiting > 0))
		return false;
	return device->class_flows[FAIR_QUEUE_LATENCY] <= (flow->class == FAIR_QUEUE_LATENCY) &&
	       !contention_has_others(&device->contention, flow, device->scheduler->now_ns);
}

/*
 * Has it so much on its device that another one that comes back would have to wait for that? The
 * gate's windows hold for it, too, then. Who never had company there has no use for them.
 */
static inline bool sched_flow_is_ahead(const struct sched_flow *flow)
{
	const struct list *flows = &flow->device->flows;
	return flows->next != flows->previous && flow->sent * flow->each_ns > SCHED_FLOW_AHEAD_NS;
}

void sched_flow_init(struct scheduler_device *device);
/* What an account has on a device, made if need be; the device's `nobody` for none, and without
 * memory. */
struct sched_flow *sched_flow_of(struct scheduler_device *device, struct sched_account *account);
/* No task is left. */
void sched_flow_fini(struct scheduler_device *device);
/* Of an account that nothing is open of. Returns NULL. */
struct sched_flow *sched_flow_free_all(struct sched_flow *flow);
/* The task is about to be sent, or parked. */
void sched_flow_enter(struct task *task);
/* May this task, one of its flow's, be sent to the lane? What was admitted has had its turn:
 * only a full lane holds it up. */
bool sched_flow_allows(const struct task *task, uint32_t lane);
void sched_flow_sent(struct task *task);
void sched_flow_back(struct task *task);
/* It waits for this lane, or for any: SCHED_FLOW_ANY_LANE, SCHED_FLOW_ANY_LATENCY. */
void sched_flow_park(struct task *task, uint32_t lane);
/* The first that waits for it; there is one. The flow leaves the line with its last. */
struct task *sched_flow_unpark(struct sched_flow *flow, uint32_t lane);

#endif
